/**
 * A standard queue of SQS that is an event source of a function (docs/internals/aws.md §5). A message whose
 * invocation fails does not come back: it becomes visible again after its retention has ended.
 */
import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AwsError, type AwsService, EVERYBODY, operationsFor } from '../base/aws-service.ts';

/** Of the world. Code that is woken by a wait runs at its end. */
type QueueClock = { now(): number; wait(ms: number): Promise<void> };

/** What happens to a message. 0 copies: it is lost. */
export type Fate = { readonly copies: number; readonly lateMs: number };

type Handler = (body: string) => Promise<unknown>;

/** Assumption: the usual time from the end of the delay to the invocation. */
const DELIVERY_MS = 200;
const RETENTION_MS = 60_000;
/** The event source's `MaximumConcurrency`. */
const MOST_AT_ONCE = 2;

export class QueueModel {
  readonly #clock: QueueClock;
  fate: () => Fate = () => ({ copies: 1, lateMs: 0 });
  isDown = false;
  /** The function. Its errors end with its invocation. */
  handler: Handler = async () => {};
  readonly #waiting: { readonly body: string; readonly endsAt: number }[] = [];
  #running = 0;

  constructor(clock: QueueClock) {
    this.#clock = clock;
  }

  /** Throws AwsError if SQS refuses the message. */
  send(body: string, delayS: number): void {
    if (this.isDown)
      throw new AwsError('AccessDeniedException', 'not authorized to perform: sqs:SendMessage');
    const endsAt = this.#clock.now() + RETENTION_MS;
    const { copies, lateMs } = this.fate();
    for (let copy = 0; copy < copies; copy++)
      void this.#clock.wait(delayS * 1000 + DELIVERY_MS + lateMs).then(() => {
        this.#waiting.push({ body, endsAt });
        this.#invokeNext();
      });
  }

  #invokeNext(): void {
    while (this.#running < MOST_AT_ONCE) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next.endsAt > this.#clock.now()) void this.#invoke(next.body);
    }
  }

  async #invoke(body: string): Promise<void> {
    this.#running++;
    await this.handler(body).catch(() => {});
    this.#running--;
    this.#invokeNext();
  }
}

const operation = operationsFor<QueueModel>('InvalidParameterValue');

/** The function calls only SendMessage. */
export const SQS: AwsService<QueueModel> = {
  service: 'sqs',
  operations: {
    SendMessage: operation(
      EVERYBODY,
      z.object({
        QueueUrl: z.string().min(1),
        MessageBody: z.string().min(1),
        DelaySeconds: z.int().min(0).max(900),
      }),
      (model, { MessageBody, DelaySeconds }) => {
        model.send(MessageBody, DelaySeconds);
        return {
          MessageId: randomUUID(),
          // only the client over HTTP reads it
          get MD5OfMessageBody() {
            return createHash('md5').update(MessageBody).digest('hex');
          },
        };
      },
    ),
  },
};

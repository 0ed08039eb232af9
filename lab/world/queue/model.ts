/**
 * A standard queue of SQS that is an event source of a function (docs/internals/aws.md §5). A message whose
 * invocation fails does not come back: it becomes visible again after its retention has ended.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
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
/** Lambda drops the next message of a chain whose messages have invoked the function this often. */
const MOST_IN_A_LOOP = 16;

type Message = {
  readonly body: string;
  readonly endsAt: number;
  /** How many messages led to it, with itself. The SDK sends this along. */
  readonly hop: number;
};

export class QueueModel {
  readonly #clock: QueueClock;
  fate: () => Fate = () => ({ copies: 1, lateMs: 0 });
  isDown = false;
  /** The function's setting. AWS's default is Terminate. */
  recursiveLoop: 'Allow' | 'Terminate' = 'Terminate';
  /** The function. Its errors end with its invocation. */
  handler: Handler = async () => {};
  readonly #waiting: Message[] = [];
  /** The message that invoked the code that runs. */
  readonly #cause = new AsyncLocalStorage<Message>();
  #running = 0;

  constructor(clock: QueueClock) {
    this.#clock = clock;
  }

  /** Throws AwsError if SQS refuses the message. */
  send(body: string, delayS: number): void {
    if (this.isDown)
      throw new AwsError('AccessDeniedException', 'not authorized to perform: sqs:SendMessage');
    const endsAt = this.#clock.now() + RETENTION_MS;
    const hop = (this.#cause.getStore()?.hop ?? 0) + 1;
    const { copies, lateMs } = this.fate();
    for (let copy = 0; copy < copies; copy++)
      void this.#clock.wait(delayS * 1000 + DELIVERY_MS + lateMs).then(() => {
        this.#waiting.push({ body, endsAt, hop });
        this.#invokeNext();
      });
  }

  #invokeNext(): void {
    while (this.#running < MOST_AT_ONCE) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next.endsAt > this.#clock.now() && !this.#isDropped(next)) void this.#invoke(next);
    }
  }

  #isDropped({ hop }: Message): boolean {
    return this.recursiveLoop === 'Terminate' && hop > MOST_IN_A_LOOP;
  }

  async #invoke(message: Message): Promise<void> {
    this.#running++;
    await this.#cause.run(message, () => this.handler(message.body)).catch(() => {});
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

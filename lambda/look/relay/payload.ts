import * as z from 'zod';
import type { EpochMs } from '../../decision/model/brands.ts';
import { parseQuietly } from '../../decision/model/parse-quietly.ts';
import type { LookMessage } from './relay.ts';

/** What an invocation can request. `message`: a message requests the look, not the schedule. */
export type Payload =
  | { readonly kind: 'look'; readonly message?: LookMessage }
  | { readonly kind: 'dry-run' };

const time = z.int().transform((ms) => ms as EpochMs);
const messageSchema = z.object({ sentAt: time, until: time });

/** A batch with the one message that lambda/adapters/sqs-queue.ts sent. */
const recordsSchema = z.object({
  Records: z.tuple([
    z.object({
      eventSource: z.literal('aws:sqs'),
      body: z
        .string()
        .transform((text) => parseQuietly(text))
        .pipe(messageSchema),
    }),
  ]),
});

const payloadSchema = z.union([
  z.strictObject({ tick: z.literal(true) }).transform((): Payload => ({ kind: 'look' })),
  z.strictObject({ dryRun: z.literal(true) }).transform((): Payload => ({ kind: 'dry-run' })),
  recordsSchema.transform(({ Records: [{ body }] }): Payload => ({ kind: 'look', message: body })),
]);

/** The payload is neither the schedule's, nor a message for the next look, nor a dry run. */
export class PayloadError extends Error {
  override readonly name = 'PayloadError';
}

/** Parses the payload of an invocation. Throws PayloadError. */
export function parsePayload(event: unknown): Payload {
  const payload = payloadSchema.safeParse(event);
  if (payload.success) return payload.data;
  const seen = (JSON.stringify(event) ?? 'nothing').slice(0, 200);
  throw new PayloadError(
    `reading the payload: saw ${seen}. Send {"tick":true} for a look, or {"dryRun":true} for a plan that changes nothing`,
  );
}

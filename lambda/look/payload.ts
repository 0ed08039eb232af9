import * as z from 'zod';

/** What an invocation can request. */
export type Payload = { readonly kind: 'look' } | { readonly kind: 'dry-run' };

const payloadSchema = z.union([
  z.strictObject({ tick: z.literal(true) }).transform((): Payload => ({ kind: 'look' })),
  z.strictObject({ dryRun: z.literal(true) }).transform((): Payload => ({ kind: 'dry-run' })),
]);

/** The payload is neither the schedule's nor a dry run. */
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

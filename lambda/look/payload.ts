import * as z from 'zod';

/** What an invocation may ask for. */
export type Payload = { readonly kind: 'look' } | { readonly kind: 'dry-run' };

const payloadSchema = z.union([
  z.strictObject({ tick: z.literal(true) }).transform((): Payload => ({ kind: 'look' })),
  z.strictObject({ dryRun: z.literal(true) }).transform((): Payload => ({ kind: 'dry-run' })),
]);

/** A payload that is neither the schedule's nor a dry run. */
export class PayloadError extends Error {
  override readonly name = 'PayloadError';
}

/** Reads the payload of an invocation. Throws PayloadError. */
export function parsePayload(event: unknown): Payload {
  const payload = payloadSchema.safeParse(event);
  if (payload.success) return payload.data;
  const seen = (JSON.stringify(event) ?? 'nothing').slice(0, 200);
  throw new PayloadError(
    `reading the payload: saw ${seen}; send {"tick":true} for a look as the schedule does, or {"dryRun":true} for a plan that changes nothing`,
  );
}

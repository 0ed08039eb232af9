/** What every operation of the ECS API does first, as AWS does: throttle, then the request's shape. */
import { z } from 'zod';
import type { EcsModel } from './model.ts';
import { AwsError, invalidParameter, throttled } from './requests/errors.ts';
import type { BucketName } from './requests/throttle.ts';

/** A request's body in, an answer's body out, or an AwsError. */
export type Operation = (model: EcsModel, body: unknown) => object;

export function operation<T>(
  bucket: BucketName,
  schema: z.ZodType<T>,
  run: (model: EcsModel, request: T) => object,
): Operation {
  return (model, body) => {
    if (!model.admits(bucket)) throw throttled();
    const request = schema.safeParse(body);
    if (!request.success) throw new AwsError('SerializationException', z.prettifyError(request.error));
    return run(model, request.data);
  };
}

/** Throws for a list of names that is empty or too long. */
export function checkCount(what: string, names: readonly unknown[], most: number): void {
  if (names.length === 0) throw invalidParameter(`${what} cannot be empty.`);
  if (names.length > most) throw invalidParameter(`${what} can have at most ${most} items.`);
}

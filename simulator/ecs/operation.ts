/**
 * The first steps of every ECS operation: throttle, then check the shape of the request, as AWS
 * does.
 */
import { z } from 'zod';
import type { EcsModel } from './model.ts';
import { AwsError, invalidParameter, throttled } from './requests/errors.ts';
import type { BucketName } from './requests/throttle.ts';

/** An operation: the request's body to the answer's body. Throws an AwsError. */
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

/**
 * Checks the length of a list of names.
 * @throws AwsError if the list is empty or too long
 */
export function checkCount(what: string, names: readonly unknown[], most: number): void {
  if (names.length === 0) throw invalidParameter(`${what} cannot be empty.`);
  if (names.length > most) throw invalidParameter(`${what} can have at most ${most} items.`);
}

/** The first steps of every ECS operation: throttle, then check the shape of the request, as AWS does. */
import type { z } from 'zod';
import {
  AwsError,
  type AwsOperation,
  type Caller,
  invalidParameter,
  operationsFor,
} from '../base/aws-service.ts';
import type { EcsModel } from './model.ts';
import type { BucketName } from './throttle.ts';

export type EcsOperation = AwsOperation<EcsModel>;

const checked = operationsFor<EcsModel>('SerializationException');

export function operation<T extends z.ZodType>(
  given: { readonly bucket: BucketName; readonly callers: readonly Caller[]; readonly schema: T },
  run: (model: EcsModel, request: z.output<T>) => object,
): EcsOperation {
  const { callers, run: checkAndRun } = checked(given.callers, given.schema, run);
  return {
    callers,
    run: (model, body) => {
      if (!model.admits(given.bucket)) throw throttled();
      return checkAndRun(model, body);
    },
  };
}

/** Checks the length of a list of names. @throws AwsError if the list is empty or too long */
export function checkCount(what: string, names: readonly unknown[], most: number): void {
  if (names.length === 0) throw invalidParameter(`${what} cannot be empty.`);
  if (names.length > most) throw invalidParameter(`${what} can have at most ${most} items.`);
}

export const throttled = (): AwsError => new AwsError('ThrottlingException', 'Rate exceeded');
export const clusterNotFound = (): AwsError => new AwsError('ClusterNotFoundException', 'Cluster not found.');

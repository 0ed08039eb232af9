/**
 * The key function. CloudFormation, Secrets Manager, a schedule and `autoscaler keys check` invoke
 * it. Errors escape, so that each of them sees the invocation as failed.
 */
import type { KeysAnswer, ResourceAnswer } from './events/answers.ts';
import { keyEventSchema } from './events/events.ts';

/** Rotation steps return nothing. */
export const handler = async (event: unknown): Promise<ResourceAnswer | KeysAnswer | undefined> => {
  keyEventSchema.parse(event);
  return undefined;
};

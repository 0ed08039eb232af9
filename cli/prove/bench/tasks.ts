/** What the task definition says of the pool's tasks. */
import type { ECSClient } from '@aws-sdk/client-ecs';
import { describeAwsError } from '../../../lambda/adapters/shared/aws-calls.ts';
import { describeTaskDefinition, provisionerOf } from '../../adapters/task-definitions.ts';
import { InputError } from '../../shared/cli-environment.ts';
import type { Place } from './preflight.ts';

export type PoolTasks = {
  /** The log group of the guard; undefined: its tasks log elsewhere. */
  readonly guardLog: string | undefined;
};

/** Throws InputError. */
export async function readPoolTasks(client: ECSClient, { pool, service }: Place): Promise<PoolTasks> {
  const { taskDefinition: arn = '' } = service;
  try {
    const definition = await describeTaskDefinition(client, arn);
    return { guardLog: provisionerOf(definition)?.logConfiguration?.options?.['awslogs-group'] };
  } catch (cause) {
    const { reason } = describeAwsError(cause);
    throw new InputError(
      `proving in pool "${pool.name}": reading its task definition: ${reason}. You need ecs:DescribeTaskDefinition`,
      { cause },
    );
  }
}

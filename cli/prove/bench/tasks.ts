/** What the task definition says of the pool's tasks. */
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import type { ECSClient } from '@aws-sdk/client-ecs';
import { describeAwsError } from '../../../lambda/adapters/shared/aws-calls.ts';
import { lastPart } from '../../../lambda/decision/model/brands.ts';
import { describeTaskDefinition, provisionerOf } from '../../adapters/task-definitions.ts';
import { PATIENT } from '../../shared/aws-advice.ts';
import { InputError } from '../../shared/cli-environment.ts';
import type { Place } from './preflight.ts';
import { stackRoles } from './stack-roles.ts';

export type PoolTasks = {
  /** The log group of the guard; undefined: its tasks log elsewhere. */
  readonly guardLog: string | undefined;
  /** Whether their role is bound to their pool (`aws.bindTaskRoles`), or may be. */
  readonly isBound: boolean;
};

/** Its id in the stack (infra/constructs/pool/pool-roles.ts): names of roles are cut. */
const BOUND_ROLE = /BoundTaskRole/;

/** Throws InputError. */
export async function readPoolTasks(client: ECSClient, { pool, service, stack }: Place): Promise<PoolTasks> {
  const { taskDefinition: arn = '' } = service;
  try {
    const definition = await describeTaskDefinition(client, arn);
    const guardLog = provisionerOf(definition)?.logConfiguration?.options?.['awslogs-group'];
    return { guardLog, isBound: await isBound(definition.taskRoleArn, stack) };
  } catch (cause) {
    const { reason } = describeAwsError(cause);
    throw new InputError(
      `proving in pool "${pool.name}": reading its task definition: ${reason}. You need ecs:DescribeTaskDefinition`,
      { cause },
    );
  }
}

/** In doubt true: then the row says what was not measured. */
async function isBound(role: string | undefined, stack: string): Promise<boolean> {
  if (role === undefined) return false;
  const cloudFormation = new CloudFormationClient({ requestHandler: PATIENT });
  try {
    const roles = await stackRoles(stack, cloudFormation);
    return roles.some(({ id, name }) => name === lastPart(role) && BOUND_ROLE.test(id));
  } catch {
    return true;
  } finally {
    cloudFormation.destroy();
  }
}

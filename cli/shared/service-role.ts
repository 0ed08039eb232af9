/** The service-linked role of ECS, which an account without any cluster lacks (docs/internals/aws.md §2). */
import {
  CreateServiceLinkedRoleCommand,
  GetRoleCommand,
  type IAMClient,
  waitUntilRoleExists,
} from '@aws-sdk/client-iam';
import { messageOf } from '../../lambda/decision/model/message-of.ts';

const ROLE = { RoleName: 'AWSServiceRoleForECS' };
const SERVICE = 'ecs.amazonaws.com';
/** Seconds. New roles can be read within a few. */
const PATIENCE = { maxWaitTime: 60 };

export const SERVICE_ROLE_COMMAND = `aws iam create-service-linked-role --aws-service-name ${SERVICE}`;

/** `unknown`: the caller may not look. */
export type ServiceRole = 'there' | 'missing' | 'unknown';

export async function readServiceRole(iam: IAMClient, abortSignal?: AbortSignal): Promise<ServiceRole> {
  try {
    await iam.send(new GetRoleCommand(ROLE), abortSignal && { abortSignal });
    return 'there';
  } catch (cause) {
    return cause instanceof Error && cause.name === 'NoSuchEntityException' ? 'missing' : 'unknown';
  }
}

/** Makes the role if there is none, and waits until those who may look can read it. */
export async function makeServiceRole(iam: IAMClient): Promise<void> {
  try {
    await iam.send(new CreateServiceLinkedRoleCommand({ AWSServiceName: SERVICE }));
  } catch (cause) {
    if (!messageOf(cause).includes('has been taken in this account')) throw cause;
  }
  if ((await readServiceRole(iam)) === 'missing')
    await waitUntilRoleExists({ client: iam, ...PATIENCE }, ROLE);
}

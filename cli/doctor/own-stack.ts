/** Finds this deployment in AWS: its stack by the services of its pools, its id by its secrets. */
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { KEY_ID_TAG, POOL_TAG, STACK_TAG, tagOf } from '../../lambda/decision/model/service-tags.ts';
import type { Reading, Service } from '../../lambda/decision/model/snapshot.ts';
import { deploymentOf, type OwnDeployment } from '../../lambda/keys/model/pool.ts';
import type { KeyFacts, SecretInfo } from '../../lambda/keys/model/ports.ts';
import { withAdvice } from '../shared/aws-advice.ts';

/** The stack's name is a tag of the services of its pools. */
export function findStack(
  pools: readonly PoolConfig[],
  { status, error, items }: Reading<Service>,
  unread: string[],
): string | undefined {
  const names = new Set<string>(pools.map(({ name }) => name));
  const own = items.filter((service) => names.has(tagOf(service, POOL_TAG) ?? ''));
  const stacks = [...new Set(own.flatMap((service) => tagOf(service, STACK_TAG) ?? []))];
  if (status !== 'ok') unread.push(withAdvice(error ?? `the list of services is ${status}`));
  else if (stacks.length === 0)
    unread.push(
      'finding the stack: no ECS service of these pools is in the cluster. Deploy the configuration, or name another cluster with --cluster',
    );
  else if (stacks.length > 1)
    unread.push(
      `finding the stack: the pools of this configuration have services of stacks ${stacks.join(', ')} in the cluster. Rename the pools of one of them`,
    );
  return stacks.length === 1 ? stacks[0] : undefined;
}

const STACK_ID_TAG = 'aws:cloudformation:stack-id';
const SUFFIX = /-[a-z0-9]{8}$/;

/**
 * The id of this deployment, with which the names of its keys begin: from the stack's ARN, which is a tag of
 * its secrets, else from the name of a key in use. Undefined: unknown, as without managed keys.
 */
export function findDeployment(
  {
    stack,
    secrets = [],
  }: { readonly stack: string | undefined; readonly secrets: readonly SecretInfo[] | undefined },
  keys: readonly Pick<KeyFacts, 'id' | 'name'>[],
): OwnDeployment | undefined {
  if (stack === undefined) return undefined;
  const arn = secrets.flatMap(({ tags }) => tags[STACK_ID_TAG] ?? [])[0];
  if (arn !== undefined) return deploymentOf(stack, arn);
  for (const { tags } of secrets) {
    const name = keys.find(({ id }) => id === tags[KEY_ID_TAG])?.name;
    const ending = `-${tags[POOL_TAG]}`;
    const beginning = name?.replace(SUFFIX, '');
    if (beginning?.endsWith(ending)) return { id: beginning.slice(0, -ending.length), stack };
  }
  return undefined;
}

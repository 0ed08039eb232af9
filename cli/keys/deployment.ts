/**
 * Finds the id of this deployment, with which the names of its keys begin. CloudFormation tags the
 * secrets with the stack's ARN, from which the id comes. Without that tag, the name of a key in use
 * has it.
 */
import { KEY_ID_TAG, POOL_TAG } from '../../lambda/decision/model/service-tags.ts';
import { deploymentOf, type OwnDeployment } from '../../lambda/keys/model/key-names.ts';
import type { KeyFacts } from '../../lambda/keys/model/ports.ts';
import type { Survey } from './survey.ts';

const STACK_ID_TAG = 'aws:cloudformation:stack-id';
const SUFFIX = /-[a-z0-9]{8}$/;

/** Undefined: unknown, as without managed keys. */
export function findDeployment(
  { stack, secrets = [] }: Pick<Survey, 'stack' | 'secrets'>,
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

/** The tags of a pool's ECS service: its identity and overrides (overrides.ts). */
import { poolOfPart } from './brands.ts';

const PREFIX = 'coder-autoscaler:';

/** The tag that identifies the service of a pool or part. Its value is the name. */
export const POOL_TAG = `${PREFIX}pool`;
/** The log group of the function, in which `autoscaler status` finds the last look. */
export const LOG_GROUP_TAG = `${PREFIX}log-group`;
/** The stack. It tells which looks in that log group are of this deployment. */
export const STACK_TAG = `${PREFIX}stack`;
/** The SSM parameter in which the function of a stack keeps its record of builds. */
export const recordNameOf = (stack: string): string => `/coder-provisioner-autoscaler/${stack}/record`;
/** Two settings, with which the pool drains after it was removed from the file. */
export const ORGANIZATION_TAG = `${PREFIX}organization`;
export const SCALE_IN_TAG = `${PREFIX}scale-in`;

/** The description of the function's role, by which `autoscaler prove` finds it in the stack. */
export const FUNCTION_ROLE = "Permissions of the autoscaler's function";

/** On the secret of a managed key, by the key function: the id of the present key. */
export const KEY_ID_TAG = `${PREFIX}key-id`;

export const PAUSE_TAG = `${PREFIX}pause`;
export const PIN_TAG = `${PREFIX}pin`;
export const FLOOR_TAG = `${PREFIX}floor`;
/** The keys of an override: its own, and `coder-autoscaler:pin-until` and so on. */
export function keysOfOverride(key: string): readonly string[] {
  return [key, `${key}-until`, `${key}-by`, `${key}-why`];
}

/** The keys of all overrides. */
export const OVERRIDE_TAGS: readonly string[] = [PAUSE_TAG, PIN_TAG, FLOOR_TAG].flatMap(keysOfOverride);

const KNOWN: ReadonlySet<string> = new Set([
  POOL_TAG,
  LOG_GROUP_TAG,
  STACK_TAG,
  ORGANIZATION_TAG,
  SCALE_IN_TAG,
  ...OVERRIDE_TAGS,
]);

type Tagged = { readonly tags: readonly { readonly key: string; readonly value: string }[] };

/** Finds the value of one tag of a service. */
export function tagOf({ tags }: Tagged, wanted: string): string | undefined {
  return tags.find(({ key }) => key === wanted)?.value;
}

/** The pool of a service; its parts have the same. */
export function poolOfService(service: Tagged): string | undefined {
  const name = tagOf(service, POOL_TAG);
  return name === undefined ? undefined : poolOfPart(name);
}

/** Whether a service surely belongs to this deployment. */
export function isOwn(service: Tagged, stack: string | undefined): boolean {
  return stack !== undefined && tagOf(service, STACK_TAG) === stack;
}

/** Whether a service belongs to another deployment. */
export function isForeign(service: Tagged, stack: string | undefined): boolean {
  const serviceStack = tagOf(service, STACK_TAG);
  return stack !== undefined && serviceStack !== undefined && serviceStack !== stack;
}

/** Whether a tag has the autoscaler's prefix but an unknown name: most likely a typing error. */
export function isStrayTag(key: string): boolean {
  return key.startsWith(PREFIX) && !KNOWN.has(key);
}

/** The tags of a pool's service that are ours: what finds it, and what a person overrides (overrides.ts). */

const PREFIX = 'coder-autoscaler:';

/** The service of a pool carries this tag with the pool's name as its value. */
export const POOL_TAG = `${PREFIX}pool`;
/** Beside it: the function's log group, where `autoscaler status` finds the last look. */
export const LOG_GROUP_TAG = `${PREFIX}log-group`;
/** The stack: which looks in that group are of this deployment. */
export const STACK_TAG = `${PREFIX}stack`;
/** What the pool's own settings say: by them its tasks drain when the pool is no longer in the file. */
export const ORGANIZATION_TAG = `${PREFIX}organization`;
export const SCALE_IN_TAG = `${PREFIX}scale-in`;

export const PAUSE_TAG = `${PREFIX}pause`;
export const PIN_TAG = `${PREFIX}pin`;
export const FLOOR_TAG = `${PREFIX}floor`;
/** What each override says beside its value, in a tag of its own: `coder-autoscaler:pin-until`. */
export const OVERRIDE_FIELDS = ['until', 'by', 'why'] as const;

const KNOWN: ReadonlySet<string> = new Set([
  POOL_TAG,
  LOG_GROUP_TAG,
  STACK_TAG,
  ORGANIZATION_TAG,
  SCALE_IN_TAG,
  ...[PAUSE_TAG, PIN_TAG, FLOOR_TAG].flatMap((key) => [
    key,
    ...OVERRIDE_FIELDS.map((field) => `${key}-${field}`),
  ]),
]);

type Tagged = { readonly tags: readonly { readonly key: string; readonly value: string }[] };

/** The value of a service's tag. */
export function tagOf({ tags }: Tagged, wanted: string): string | undefined {
  return tags.find(({ key }) => key === wanted)?.value;
}

/** Whether a service is this deployment's beyond doubt. */
export function isOwn(service: Tagged, stack: string | undefined): boolean {
  return stack !== undefined && tagOf(service, STACK_TAG) === stack;
}

/** Whether a service is another deployment's. */
export function isForeign(service: Tagged, stack: string | undefined): boolean {
  const its = tagOf(service, STACK_TAG);
  return stack !== undefined && its !== undefined && its !== stack;
}

/** Whether a tag looks like one of ours and is none: a slip, most likely. */
export function isStrayTag(key: string): boolean {
  return key.startsWith(PREFIX) && !KNOWN.has(key);
}

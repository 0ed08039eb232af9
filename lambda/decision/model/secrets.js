import { unique } from './collections.ts';
import { POOL_TAG, STACK_TAG } from './service-tags.ts';
/** A task created sooner may get the earlier value (docs/internals/aws.md §3). */
export const SPREADS_WITHIN_MS = 2 * 60000;
/** The secrets that a pool's tasks get, each once: first the one for coderd. */
export function secretsOf({ auth, secrets }) {
  const used = [
    { kind: auth.kind, secret: auth.kind === 'managed' ? undefined : auth.secret.secret },
    ...Object.values(secrets).map(({ secret }) => ({ kind: 'variable', secret })),
  ];
  return unique(used, ({ secret }) => secret ?? '');
}
/** Finds the entry of a secret of a pool; undefined if there is none, or more than one. */
export function findSecret(entries, { secret }, owner) {
  const found = entries.filter((entry) =>
    secret === undefined ? isMadeFor(entry, owner) : isNamed(entry, secret),
  );
  return found.length === 1 ? found[0] : undefined;
}
/** The length of a hyphen and the six characters that AWS appends (docs/internals/aws.md §4). */
const SUFFIX_LENGTH = 7;
/** Whether this is the secret with this name, ARN, or ARN without its suffix. */
function isNamed({ ARN, Name }, secret) {
  if (!secret.startsWith('arn:')) return Name === secret;
  return ARN === secret || (ARN.startsWith(`${secret}-`) && ARN.length === secret.length + SUFFIX_LENGTH);
}
/** Whether the stack made this secret for the pool. */
function isMadeFor(entry, { pool, stack }) {
  return (
    secretTag(entry, POOL_TAG) === pool && (stack === undefined || secretTag(entry, STACK_TAG) === stack)
  );
}
/** The value of a tag of a secret. */
export function secretTag({ Tags }, wanted) {
  return Tags.find(({ Key }) => Key === wanted)?.Value;
}

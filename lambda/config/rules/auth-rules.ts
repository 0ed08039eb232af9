/** Checks how the daemons of a pool authenticate to coderd, and the tags that this allows. */
import { tagKey } from '../../decision/model/tags.ts';
import { error, type Findings, warning } from '../problems/problems.ts';
import { shownText } from '../problems/shown.ts';
import { MANAGED } from '../schema/secret-ref.ts';
import { at, type ConfigDraft, type PoolDraft, toMapping } from './drafts.ts';

const WAYS = ['key', 'psk', 'token'] as const;
export type Way = (typeof WAYS)[number];

export function* checkAuth(pool: PoolDraft, config: ConfigDraft): Findings {
  if (!pool.isMapping) return;
  yield* checkOneWay(pool);
  if (pool.key === MANAGED && config.raw.managedKeys === undefined)
    yield error(
      at(pool, 'key'),
      '"managed" needs the section managedKeys; write managedKeys: { token: { secret: coder/key-manager-token } }',
    );
  yield* checkOwnKey(pool, config);
  yield* checkTags(pool);
  yield* checkOrganization(pool, config);
  yield* warnOfWay(pool);
}

/** The way that the pool names first; a pool without any is meant to have a key. */
export const wayOf = ({ raw }: PoolDraft): Way => WAYS.find((way) => raw[way] !== undefined) ?? 'key';

function* checkOneWay(pool: PoolDraft): Findings {
  const [first, second] = WAYS.filter((way) => pool.raw[way] !== undefined);
  if (first === undefined)
    yield error(
      at(pool, 'key'),
      'missing; write the secret that holds the provisioner key, such as { secret: coder/keys/default }, or "managed". To use a pre-shared key or the token of a user, write psk or token instead',
    );
  if (second !== undefined)
    yield error(at(pool, second), `the pool already has ${first}; keep one of ${WAYS.join(', ')}`);
}

/** docs/internals/coder.md §3: a key fixes the organization and the tags of its daemons. */
function* checkOwnKey(pool: PoolDraft, { pools }: ConfigDraft): Findings {
  const { index, key, organization, tags, name, retiring } = pool;
  if (typeof key !== 'object' || tags === undefined || retiring) return;
  for (const other of pools.slice(0, index)) {
    const isAlike =
      typeof other.key === 'object' && other.key.secret === key.secret && other.key.jsonKey === key.jsonKey;
    const isElsewhere = isOther(other.organization, organization);
    const hasOtherTags = other.tags !== undefined && tagKey(other.tags) !== tagKey(tags);
    if (!isAlike || other.retiring || !(isElsewhere || hasOtherTags)) continue;
    const message = `secret ${shownText(key.secret)} is also the key of pools[${other.index}] ${shownText(other.name ?? '')}, which has ${isElsewhere ? 'another organization' : 'other tags'}; a key has one organization and one set of tags: create a key for ${shownText(name ?? '')}, and name its secret here`;
    return yield error(at(pool, 'key'), message);
  }
}

function* checkTags(pool: PoolDraft): Findings {
  const way = wayOf(pool);
  yield* way === 'token' ? checkScope(pool) : refuseScope(pool, way);
  for (const [name, value] of Object.entries(toMapping(pool.raw.tags))) {
    const refused = name.includes('=') ? 'contains =' : unsendable(`${name}${value}`);
    // docs/internals/coder.md §5: the daemon gets these tags as `name=value`, split at the first `=`
    if (way !== 'key' && refused !== undefined)
      yield error(
        at(pool, 'tags', name),
        `${shownText(name)} ${refused}, so a daemon cannot send it with ${way}; change the tag, or use a provisioner key`,
      );
    if (value === '' && name !== 'scope' && name !== 'owner')
      yield warning(
        at(pool, 'tags', name),
        `${shownText(name)} has an empty value, and coderd drops such a tag: the pool's daemons do not have it; write a value, or remove the tag`,
      );
  }
}

/** Variables hold no NUL, and Go drops a carriage return before a line feed. */
function unsendable(text: string): string | undefined {
  return /[\0\r\n]/.test(text) ? 'contains a line break or NUL' : undefined;
}

/** docs/internals/coder.md §3: coderd itself sets both tags of such a daemon. */
function* refuseScope(pool: PoolDraft, way: 'key' | 'psk'): Findings {
  const credential = way === 'key' ? 'a provisioner key' : 'a pre-shared key';
  for (const name of ['scope', 'owner'])
    if (Object.hasOwn(toMapping(pool.raw.tags), name))
      yield error(
        at(pool, 'tags', name),
        `"${name}" cannot be set in a pool with ${way}: coderd sets this tag, because ${credential} is always organization-scoped; remove it`,
      );
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HOW_TO_FIND_IT = 'write the UUID of the user whose token it is (coder users show me --output json)';

/** With a user's token, coderd takes the scope from the daemon and the owner from the token. */
function* checkScope(pool: PoolDraft): Findings {
  const { scope, owner } = toMapping(pool.raw.tags);
  const [ofScope, ofOwner] = [at(pool, 'tags', 'scope'), at(pool, 'tags', 'owner')];
  if (typeof scope === 'string' && scope !== 'user')
    yield error(
      ofScope,
      `${shownText(scope)} is no scope to set: write user, or remove the tag to run jobs of the organization`,
    );
  if (scope === undefined && owner !== undefined)
    yield error(ofOwner, 'applies only with scope: user; write that too, or remove owner');
  if (scope !== 'user') return;
  if (owner === undefined) yield error(ofOwner, `missing, but scope is user; ${HOW_TO_FIND_IT}`, ofScope);
  if (typeof owner === 'string' && !UUID.test(owner))
    yield error(ofOwner, `${shownText(owner)} is not the UUID of a user in lower case; ${HOW_TO_FIND_IT}`);
}

/** docs/internals/coder.md §3: coderd accepts the pre-shared key for one organization. */
function* checkOrganization(pool: PoolDraft, { pools }: ConfigDraft): Findings {
  const { index, organization } = pool;
  const other = pools
    .slice(0, index)
    .find((earlier) => wayOf(earlier) === 'psk' && isOther(earlier.organization, organization));
  if (wayOf(pool) !== 'psk' || other === undefined) return;
  yield warning(
    at(pool, 'psk'),
    `pools[${other.index}] has psk in another organization, but psk works in the default one only; write a key here or there`,
  );
}

const isOther = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && a !== b;

const WARNINGS: Readonly<Record<Way, string | undefined>> = {
  key: undefined,
  psk: 'a pre-shared key is not recommended: templates can read it, whoever has it can run any job of the default organization, and a new one needs a restart of coderd; write key: managed, or { secret: … } with a provisioner key',
  token:
    'templates of all users run in this pool and can read the token, which is worth far more than a provisioner key; write key: managed, or give the pool to one user: tags: { scope: user, owner: … }',
};

function* warnOfWay(pool: PoolDraft): Findings {
  const way = wayOf(pool);
  const message = toMapping(pool.raw.tags).scope === 'user' ? undefined : WARNINGS[way];
  if (message !== undefined) yield warning(at(pool, way), message);
}

/** Reads what a secret holds, and what coderd says of it. */
import { KEY_ID_TAG } from '../../decision/model/service-tags.ts';
import { KeysError } from '../model/keys-error.ts';
import type { Wanted } from '../model/pool.ts';
import { parseStoredKey, type StoredKey } from '../model/pool.ts';
import type { KeyPorts, Organization, PoolSecret, SecretInfo, VersionInfo } from '../model/ports.ts';
import type { Held } from '../rules/choose-key.ts';
import type { PoolSecretFacts } from '../rules/retire-key.ts';

export const [CURRENT, PENDING, PREVIOUS] = ['AWSCURRENT', 'AWSPENDING', 'AWSPREVIOUS'] as const;

export function versionWith({ versions }: SecretInfo, stage: string): VersionInfo | undefined {
  return versions.find(({ stages }) => stages.includes(stage));
}

/** The version that a rotation has announced and not made current yet. */
export function pendingVersion(secret: SecretInfo): VersionInfo | undefined {
  const pending = versionWith(secret, PENDING);
  return pending?.stages.includes(CURRENT) ? undefined : pending;
}

/** What a version holds. Throws KeysError if coderd does not say. */
export async function readHeld(
  { ports: { secrets, keys }, secret }: PoolSecret,
  version: VersionInfo | undefined,
): Promise<Held> {
  const value = version && (await secrets.value(secret.id, version.id));
  if (value === undefined) return { kind: 'nothing' };
  const stored = parseStoredKey(value);
  if (stored === undefined) return { kind: 'garbage' };
  const facts = await keys.inspect(stored.key);
  return facts === undefined ? { kind: 'refused' } : { kind: 'known', facts };
}

/** The pool's organization. Throws KeysError if the token's user sees none of this name or id. */
export async function findOrganization({
  ports,
  pool: { name, organization },
}: Pick<PoolSecret, 'ports' | 'pool'>): Promise<Organization> {
  const wanted = organization.toLowerCase();
  const all = await ports.keys.organizations();
  const found = all.find((each) => each.id === wanted || each.name.toLowerCase() === wanted);
  if (found !== undefined) return found;
  throw new KeysError(
    'unknown-organization',
    `finding organization "${organization}" of pool "${name}": the token's user sees ${all.map((each) => each.name).join(', ') || 'none'}; correct the organization, or make the user a member of it`,
  );
}

/** The key that the pool's daemons need. Throws KeysError as `findOrganization` does. */
export async function wantedBy(on: PoolSecret): Promise<Wanted> {
  return { organization: (await findOrganization(on)).id, tags: on.pool.tags };
}

/** Whether coderd refuses a list of an organization that is not the pool's: it has no keys of ours. */
export function isOfNoConcern(
  cause: unknown,
  { id, name }: Organization,
  ...concerned: readonly string[]
): boolean {
  if (!(cause instanceof KeysError) || cause.code !== 'forbidden') return false;
  return !concerned.some((each) => each.toLowerCase() === id || each.toLowerCase() === name.toLowerCase());
}

export async function readSecretFacts(
  ports: { readonly secrets: Pick<KeyPorts['secrets'], 'value'> },
  secret: SecretInfo,
): Promise<PoolSecretFacts> {
  const stored = new Map<string, StoredKey | undefined>();
  for (const { id } of secret.versions) {
    const value = await ports.secrets.value(secret.id, id);
    stored.set(id, value && parseStoredKey(value));
  }
  const idsOf = (version: VersionInfo | undefined): readonly string[] => {
    const id = version && stored.get(version.id)?.id;
    return id === undefined ? [] : [id];
  };
  const [current, pending] = [versionWith(secret, CURRENT), pendingVersion(secret)];
  const published = secret.tags[KEY_ID_TAG];
  const inUse = [...idsOf(current), ...(published === undefined ? [] : [published])];
  const isPendingUnclear = pending !== undefined && idsOf(pending).length === 0;
  return {
    secretId: secret.id,
    changedAt: secret.changedAt,
    current: new Set(inUse),
    pending: new Set(idsOf(pending)),
    previous: new Set(idsOf(versionWith(secret, PREVIOUS))),
    inDoubt: current === undefined || inUse.length === 0 || isPendingUnclear,
  };
}

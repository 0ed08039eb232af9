/** Computes which pool uses which key, from a survey. `--json` prints it unchanged. No value is in it. */
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { KEY_ID_TAG, POOL_TAG } from '../../lambda/decision/model/service-tags.ts';
import { displayTags } from '../../lambda/decision/model/tags.ts';
import { STALE_AFTER_MS } from '../../lambda/decision/supply/daemons.ts';
import { type OwnDeployment, poolOfKey } from '../../lambda/keys/model/pool.ts';
import type { KeyFacts, SecretInfo } from '../../lambda/keys/model/ports.ts';
import { pendingVersion } from '../../lambda/keys/steps/read-keys.ts';
import { findDeployment } from '../doctor/own-stack.ts';
import type { OrganizationKeys, Survey } from './survey.ts';

export function reportOf(pools: readonly PoolConfig[], survey: Survey) {
  const keys = survey.organizations.flatMap((organization) =>
    (organization.keys?.items ?? []).map((key) => ({ ...key, in: organization })),
  );
  const known: Known = { survey, keys, deployment: findDeployment(survey, keys) };
  const reports = pools.map((pool) => poolKeys(pool, known));
  const used = new Set(reports.flatMap((report) => report.keys.map(({ id }) => id)));
  return {
    version: 1,
    stack: survey.stack ?? null,
    pools: reports,
    /** Keys in coderd that no pool uses now. */
    otherKeys: keys.filter(({ id }) => !used.has(id)).map((key) => otherKey(key, known)),
    unread: survey.unread,
    notes: survey.notes,
  };
}

export type KeysReport = ReturnType<typeof reportOf>;

/** `ours`: this deployment made it. `pool`: for which pool. */
function otherKey(key: Known['keys'][number], { deployment }: Known) {
  const pool = deployment === undefined ? undefined : poolOfKey(deployment, key.name);
  const owner = pool === undefined ? ('foreign' as const) : ('ours' as const);
  return { ...listed(key), owner, pool: pool ?? null };
}

export type OtherKey = ReturnType<typeof otherKey>;

function listed({ id, name, createdAt, tags, in: organization }: Known['keys'][number]) {
  const { daemons } = organization;
  const own = daemons?.items.filter(({ keyId }) => keyId === id);
  return {
    id,
    name,
    organization: organization.name,
    tags: displayTags(tags),
    createdAt: new Date(createdAt).toISOString(),
    /** Daemons with this key that coderd lists. Null: not read. */
    daemons:
      own?.map((daemon) => ({
        name: daemon.name,
        online: daemon.lastSeenAt >= (daemons?.now ?? 0) - STALE_AFTER_MS,
      })) ?? null,
  };
}

export type ListedKey = ReturnType<typeof listed>;

/** `unknown`: it is in use, and the pool's current key is not known. `tasks` null: not read. */
export type UsedKey = ListedKey & {
  readonly is: 'current' | 'earlier' | 'unknown';
  readonly tasks: number | null;
};

function poolKeys(pool: PoolConfig, known: Known) {
  const { name, organization, auth } = pool;
  const secret = secretOfPool(pool, known);
  const current = currentKey(pool, secret, known);
  const use = useOf(pool, known);
  const others = known.keys.filter((key) => key.id !== current.id && (use?.byKey.get(key.id) ?? 0) > 0);
  const own = known.keys.filter((key) => key.id === current.id);
  const used = (key: Known['keys'][number], is: UsedKey['is']): UsedKey => ({
    ...listed(key),
    is,
    tasks: use === undefined ? null : (use.byKey.get(key.id) ?? 0),
  });
  return {
    pool: name,
    organization,
    auth: auth.kind,
    /** The name of the secret, or its ARN. Null: unknown. */
    secret: auth.kind === 'managed' ? (secret?.name ?? null) : auth.secret.secret,
    jsonKey: auth.kind === 'managed' ? null : (auth.secret.jsonKey ?? null),
    rotating: secret !== undefined && pendingVersion(secret) !== undefined,
    /** The current key first, then those that tasks of the pool still use. */
    keys: [
      ...own.map((key) => used(key, 'current')),
      ...others.map((key) => used(key, current.isKnown ? 'earlier' : 'unknown')),
    ],
    tasks: use?.tasks ?? null,
    /** Tasks of which coderd lists no daemon by their name. Null: not read. */
    tasksWithoutDaemon: use?.withoutDaemon ?? null,
    problems: current.problems,
  };
}

export type PoolKeys = ReturnType<typeof poolKeys>;

type Use = {
  readonly byKey: ReadonlyMap<string, number>;
  readonly tasks: number;
  readonly withoutDaemon: number;
};

/** Which keys the daemons of the pool's tasks have. */
function useOf(
  { name, organization }: PoolConfig,
  { survey: { tasks, organizations } }: Known,
): Use | undefined {
  const own = organizations.find((it) => it.id === organization || it.name === organization);
  if (tasks === undefined || own?.daemons === undefined) return undefined;
  const keyOf = new Map(own.daemons.items.map((daemon) => [daemon.name, daemon.keyId]));
  const running = tasks.get(name) ?? [];
  const used = running.flatMap(({ id }) => keyOf.get(`${name}-${id}`) ?? []);
  const byKey = new Map([...Map.groupBy(used, (id) => id)].map(([id, all]) => [id, all.length]));
  return { byKey, tasks: running.length, withoutDaemon: running.length - used.length };
}

/** A survey, with all keys of all organizations. */
type Known = {
  readonly survey: Survey;
  readonly keys: readonly (KeyFacts & { readonly in: OrganizationKeys })[];
  readonly deployment: OwnDeployment | undefined;
};

function secretOfPool({ name, auth }: PoolConfig, { survey }: Known): SecretInfo | undefined {
  if (auth.kind !== 'managed') return undefined;
  return survey.secrets?.find(({ tags }) => tags[POOL_TAG] === name);
}

type Current = {
  readonly id?: string | undefined;
  /** Whether every other key of the pool's tasks is an earlier one. */
  readonly isKnown: boolean;
  readonly problems: readonly string[];
};

function currentKey(pool: PoolConfig, secret: SecretInfo | undefined, known: Known): Current {
  if (pool.auth.kind === 'managed') return managedKey(pool, secret, known);
  if (pool.auth.kind !== 'key') return { isKnown: true, problems: [] };
  const reading = known.survey.tried.get(pool.name);
  if (reading === undefined || 'needs' in reading) return { isKnown: false, problems: [] };
  if (!('key' in reading)) return { isKnown: false, problems: [reading.says] };
  const { name, organization } = reading.key;
  const id = reading.key.id ?? known.keys.find((key) => isNamed(key, { name, organization }))?.id;
  return { id, isKnown: true, problems: missing(pool, id, known) };
}

function isNamed(key: KeyFacts, { name, organization }: Pick<KeyFacts, 'name' | 'organization'>): boolean {
  return key.organization === organization && key.name === name;
}

function managedKey(pool: PoolConfig, secret: SecretInfo | undefined, known: Known): Current {
  if (secret === undefined) {
    const isRead = known.survey.secrets !== undefined;
    const problem = `no secret of stack "${known.survey.stack}" is for this pool. Deploy the configuration`;
    return { isKnown: false, problems: isRead ? [problem] : [] };
  }
  const id = secret.tags[KEY_ID_TAG];
  if (id !== undefined) return { id, isKnown: true, problems: missing(pool, id, known) };
  const problem =
    'the key function has not made its key yet. If no deployment is running, run autoscaler doctor';
  return { isKnown: false, problems: [problem] };
}

/** Only lists that were read in full tell that a key is gone. */
function missing({ auth }: PoolConfig, id: string | undefined, { survey, keys }: Known): readonly string[] {
  const { organizations } = survey;
  if (keys.some((key) => key.id === id)) return [];
  const shown = id ?? '(unknown)';
  const isWhole = organizations.length > 0 && organizations.every((each) => each.keys !== undefined);
  if (!isWhole) return [`its current key has the id ${shown}, and not all lists of keys could be read`];
  const next =
    auth.kind === 'managed'
      ? 'The key function makes another one within 15 minutes'
      : 'Run autoscaler doctor to see what to do';
  return [
    `coderd lists no key with the id ${shown}: somebody has deleted it. New tasks cannot connect. ${next}`,
  ];
}

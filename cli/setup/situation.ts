/** What `autoscaler setup` has seen: on this machine, in coderd and in AWS. The steps follow from it. */
import { type DeployedPool, type Deployment, partsOn } from '../../lambda/config/rules/deployment.ts';
import { unique } from '../../lambda/decision/model/collections.ts';
import { some } from '../../lambda/explain/format.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { DEFAULT_TOKEN_SECRET, KEY_TOKEN_SECRET } from '../draft/inputs.ts';
import { mostVcpus } from '../shared/cost-text.ts';
import { AUTOSCALER_USER, KEYS_USER } from '../shared/credential-commands.ts';
import type { ServiceRole } from '../shared/service-role.ts';

export type Side = 'coder' | 'aws';

/** `problem`: why the side cannot be used from here, and what to do. */
export type Seen<T> = { readonly value: T } | { readonly problem: string };

export type CoderSeen = {
  readonly url: string;
  readonly version: string;
  readonly user: string;
  /** Only an owner makes users, and tokens of others (docs/internals/coder.md §9). */
  readonly isOwner: boolean;
  readonly organizations: readonly Organization[];
  /** Of the users of the autoscaler, those that exist. */
  readonly users: ReadonlySet<string>;
  /** The roles of these users, by the organizations (their ids) that they are members of. */
  readonly roles: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
  /** Builds on a working day. Undefined: the history is too short. */
  readonly buildsPerDay: number | undefined;
};

/** `empty`: without a value. `unknown`: the caller may not look. */
export type SecretState = 'stored' | 'empty' | 'missing' | 'deleted' | 'unknown';

export type Quota = { readonly vcpus: number; readonly requested?: number };

export type AwsSeen = {
  readonly region: string;
  readonly account: string;
  readonly caller: string;
  readonly secrets: ReadonlyMap<string, SecretState>;
  /** By quota code; missing: unknown. */
  readonly quotas: ReadonlyMap<string, Quota>;
  readonly serviceRole: ServiceRole;
  /** The version of CDK's bootstrap stack. `unknown`: the caller may not look. */
  readonly bootstrap: string | 'none' | 'unknown';
  readonly stack: string | 'none' | 'unknown';
};

/** `missing`: no file. */
type ConfigSeen = Seen<Deployment> | 'missing';

export type Situation = {
  readonly file: string;
  readonly config: ConfigSeen;
  /** Whether the CDK app of the clone is in this folder. */
  readonly hasApp: boolean;
  /** Whether this is the clone without its CDK CLI, as `npm ci --omit=dev` leaves it. @default false */
  readonly lacksCdk?: boolean;
  /** As asked for; empty: all that coderd lists. */
  readonly named: readonly string[];
  /** The stack that a new configuration names. @default none */
  readonly stack?: string | undefined;
  readonly url: string | undefined;
  readonly coder: Seen<CoderSeen>;
  readonly aws: Seen<AwsSeen>;
  /** As stated, or as coderd's history shows. */
  readonly buildsPerDay: number | undefined;
};

export function valueIn<T>(seen: Seen<T> | 'missing'): T | undefined {
  return typeof seen === 'object' && 'value' in seen ? seen.value : undefined;
}

export const ROLE = 'organization-template-admin';

/** A user of the autoscaler in Coder, and the secret with its token. */
type Account = { readonly user: string } & Place;

/** `jsonKey`: the secret is JSON, and the value is under this key. */
export type Place = { readonly secret: string; readonly jsonKey?: string | undefined };

/** With keys that a person makes, the key function and its user are not needed. */
export function accountsOf({ config }: Situation): readonly Account[] {
  const deployment = valueIn(config);
  const keyToken = deployment === undefined ? { secret: KEY_TOKEN_SECRET } : deployment.managedKeys?.token;
  return [
    { user: AUTOSCALER_USER, ...(deployment?.coder.token ?? { secret: DEFAULT_TOKEN_SECRET }) },
    ...(keyToken === undefined ? [] : [{ user: KEYS_USER, ...keyToken }]),
  ];
}

export type Change = {
  readonly kind: 'user' | 'member' | 'role';
  readonly user: string;
  readonly organization: string;
};

/** A user whose token is stored is another one if it does not exist: then nothing is missing. */
export function missingAccess(situation: Situation): readonly Change[] {
  const coder = valueIn(situation.coder);
  const states = valueIn(situation.aws)?.secrets;
  return accountsOf(situation).flatMap(({ user, secret }) => {
    const exists = coder?.users.has(user) ?? false;
    if (!exists && states?.get(secret) === 'stored') return [];
    return organizationsOf(situation).flatMap((organization, index): readonly Change[] => {
      const id = findOrganization(situation, organization)?.id ?? '';
      const roles = coder?.roles.get(id)?.get(user);
      if (roles !== undefined && roles.length > 0) return [];
      const isNew = !exists && index === 0;
      const kind = isNew ? 'user' : 'member';
      return [
        ...(roles === undefined ? [{ kind, user, organization } as const] : []),
        { kind: 'role', user, organization },
      ];
    });
  });
}

/** The organizations of the pools; without a configuration those that it will have. */
export function organizationsOf({ config, coder, named }: Situation): readonly string[] {
  const pools = valueIn(config)?.pools.map(({ organization }) => organization);
  if (pools !== undefined) return unique(pools, (name) => name);
  if (named.length > 0) return named;
  return valueIn(coder)?.organizations.map(({ name }) => name) ?? ['default'];
}

/** The configuration may name an organization by its id. */
export function findOrganization({ coder }: Situation, named: string): Organization | undefined {
  return valueIn(coder)?.organizations.find(({ id, name }) => id === named || name === named);
}

/** The accounts whose secret has no token. */
export function missingTokens(situation: Situation): readonly Account[] {
  return accountsOf(situation).filter(({ secret }) => stateOf(situation, secret) !== 'stored');
}

export function stateOf({ aws }: Situation, secret: string): SecretState | undefined {
  return valueIn(aws)?.secrets.get(secret);
}

type StoredKey = { readonly pool: DeployedPool } & Place;

/** The pools whose key a person makes, and whose secret has none yet. */
export function missingKeys({ config, aws }: Situation): readonly StoredKey[] {
  const states = valueIn(aws)?.secrets;
  return storedKeys(valueIn(config)).filter(({ secret }) => states?.get(secret) !== 'stored');
}

export function storedKeys(deployment: Deployment | undefined): readonly StoredKey[] {
  return (deployment?.pools ?? []).flatMap((pool) =>
    pool.auth.kind === 'key' ? [{ pool, ...pool.auth.secret }] : [],
  );
}

export const QUOTAS = [
  { code: 'L-3032A538', name: 'on-demand', isSpot: false },
  { code: 'L-36FBB829', name: 'Spot', isSpot: true },
] as const;

type QuotaNeed = (typeof QUOTAS)[number] & {
  readonly vcpus: number;
  /** The pools that need them, as text. */
  readonly pools: readonly string[];
  /** As AWS tells it; undefined: unknown. */
  readonly quota: number | undefined;
  /** Of an open request. */
  readonly requested: number | undefined;
  /** The larger of both. */
  readonly has: number | undefined;
};

/** The quotas that AWS tells and that are lower than the need. */
export function shortQuotas(needs: readonly QuotaNeed[]): readonly QuotaNeed[] {
  return needs.filter(({ has, vcpus }) => has !== undefined && has < vcpus);
}

/** The vCPUs of all pools at their max, within limits.maxTasks, and those of the account. */
export function quotaNeeds({ config, aws }: Situation): readonly QuotaNeed[] {
  const { pools = [], limits } = valueIn(config) ?? {};
  return QUOTAS.flatMap((quota) => {
    const own = partsOn(quota.isSpot ? 'spot' : 'on-demand', pools);
    if (own.length === 0) return [];
    const vcpus = mostVcpus(own, limits?.maxTasks ?? 0);
    const found = valueIn(aws)?.quotas.get(quota.code);
    const has = found && Math.max(found.vcpus, found.requested ?? 0);
    const needing = own.map(({ name, max, cpu }) => `${name} (max ${max} of ${some(cpu / 1024, 'vCPU')})`);
    return [{ ...quota, vcpus, pools: needing, quota: found?.vcpus, requested: found?.requested, has }];
  });
}

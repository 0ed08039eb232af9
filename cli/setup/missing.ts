/** What a deployment lacks in coderd and AWS, computed from what was seen. */
import { type DeployedPool, type Deployment, partsOn } from '../../lambda/config/rules/deployment.ts';
import { sum, unique } from '../../lambda/decision/model/collections.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { DEFAULT_TOKEN_SECRET, KEY_TOKEN_SECRET } from '../init/inputs.ts';
import { AUTOSCALER_USER, KEYS_USER } from '../shared/credential-commands.ts';
import { type SecretState, type Situation, valueIn } from './situation.ts';

export const ROLE = 'organization-template-admin';

/** A user of the autoscaler in Coder, and the secret with its token. */
export type Account = { readonly user: string } & Place;

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

/**
 * What the users lack: to exist, to be a member of each organization, and a role there. A user whose
 * token is stored is another one if it does not exist: then nothing is missing.
 */
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
  { code: 'L-3032A538', name: 'on demand', isSpot: false },
  { code: 'L-36FBB829', name: 'Spot', isSpot: true },
] as const;

export type QuotaNeed = (typeof QUOTAS)[number] & {
  readonly vcpus: number;
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
    const largest = Math.max(...own.map(({ cpu }) => cpu)) * (limits?.maxTasks ?? 0);
    const vcpus = Math.ceil(
      Math.min(
        largest,
        sum(own, ({ cpu, max }) => cpu * max),
      ) / 1024,
    );
    const found = valueIn(aws)?.quotas.get(quota.code);
    const has = found && Math.max(found.vcpus, found.requested ?? 0);
    return [{ ...quota, vcpus, has }];
  });
}

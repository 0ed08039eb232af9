/** Checks rules between several settings of a deployment. rules.ts checks those of the decision. */

import { error, type Mistake, warning } from '../problems/problems.ts';
import { looksLikeSecret, type Path } from '../problems/shown.ts';
import { MANAGED } from '../schema/secret-ref.ts';
import { at, type ConfigDraft, type Mapping, type PoolDraft, toMapping } from './drafts.ts';

/**
 * The errors and warnings about the settings of a deployment. The rules see the written values,
 * without defaults.
 */
export function checkDeploymentRules({ raw, defaults, pools }: ConfigDraft): Mistake[] {
  return [
    ...checkAws(toMapping(raw.aws)),
    ...checkForSecrets(raw.aws, ['aws']),
    ...pools.flatMap((pool) => [
      ...checkSpotBase(pool, defaults.spot),
      ...checkTaskRole(pool),
      ...checkRetiring(pool),
      ...checkSecretNames(pool),
      ...checkMetricsVariables(pool),
      ...checkForSecrets(pool.raw.environment, at(pool, 'environment')),
    ]),
  ];
}

function checkAws(aws: Mapping): Mistake[] {
  const [network, logs, alarms] = [toMapping(aws.network), toMapping(aws.logs), toMapping(aws.alarms)];
  return [
    ...checkVpc(network),
    ...unused(network, ['natGateways', 'endpoints'], {
      in: ['aws', 'network'],
      if: network.vpc !== undefined,
      why: 'applies only to a VPC that the stack creates, but vpc names an existing one; remove it, or remove vpc',
    }),
    ...unused(logs, ['retentionDays'], {
      in: ['aws', 'logs'],
      if: logs.group !== undefined,
      why: 'applies only to log groups that the stack creates, but group names an existing one; remove it, or remove group',
    }),
    ...unused(alarms, ['emails'], {
      in: ['aws', 'alarms'],
      if: alarms.topic !== undefined,
      why: 'applies only to a topic that the stack creates, but topic names an existing one; subscribe the addresses there, or remove topic',
    }),
    ...unused(alarms, ['topic', 'emails'], {
      in: ['aws', 'alarms'],
      if: alarms.enabled === false,
      why: 'has no effect because alarms are disabled; remove it, or write enabled: true',
    }),
  ];
}

function checkVpc({ vpc, subnets, securityGroups }: Mapping): Mistake[] {
  const at: Path = ['aws', 'network'];
  if (vpc !== undefined && isUnset(subnets))
    return [
      error(
        [...at, 'subnets'],
        'missing, but vpc is set; write the ids of its private subnets: [subnet-…, subnet-…]',
        [...at, 'vpc'],
      ),
    ];
  if (vpc !== undefined) return [];
  return Object.entries({ subnets, securityGroups })
    .filter(([, ids]) => !isUnset(ids))
    .map(([name]) => error([...at, name], 'applies only to an existing VPC; write its id too: vpc: vpc-…'));
}

type Unused = { readonly in: Path; readonly if: boolean; readonly why: string };

function unused(
  section: Mapping,
  names: readonly string[],
  { in: at, if: isUnused, why }: Unused,
): Mistake[] {
  const written = names.filter((name) => !isUnset(section[name]));
  return isUnused ? written.map((name) => error([...at, name], why)) : [];
}

function checkSpotBase(pool: PoolDraft, spotOfAll: boolean | undefined): Mistake[] {
  const isSpot = pool.raw.spot === undefined ? spotOfAll : pool.spot;
  if (!pool.spotBase || isSpot !== false) return [];
  return [
    error(at(pool, 'spotBase'), 'has no effect because the pool does not use Spot; write spot: true too'),
  ];
}

function checkTaskRole(pool: PoolDraft): Mistake[] {
  const role = toMapping(pool.raw.taskRole);
  const beside = unused(role, ['policies', 'statements'], {
    in: at(pool, 'taskRole'),
    if: role.arn !== undefined,
    why: 'applies only to a role that the stack creates, but arn names an existing one; add it to that role, or remove arn',
  });
  return [...beside, ...checkStatements(pool)];
}

function checkStatements(pool: PoolDraft): Mistake[] {
  const statements = pool.taskRole?.kind === 'own' ? pool.taskRole.statements : [];
  return statements.flatMap(({ actions }, index) =>
    actions.includes('*')
      ? [
          warning(
            at(pool, 'taskRole', 'statements', index, 'actions'),
            'allows every template to do everything in this account; name the services, such as ec2:*',
          ),
        ]
      : [],
  );
}

function checkRetiring(pool: PoolDraft): Mistake[] {
  if (pool.retiring !== true || pool.scaleIn !== 'never') return [];
  return [
    error(
      at(pool, 'retiring'),
      'drains all tasks, but scaleIn: never forbids it; write scaleIn: confirm too',
    ),
  ];
}

/**
 * ECS reads secrets by ARN, and Secrets Manager takes an ARN with this ending for a complete one
 * (its API Reference, SecretId).
 */
const LIKE_A_SUFFIX = /-[A-Za-z0-9]{6}$/;

function checkSecretNames(pool: PoolDraft): Mistake[] {
  const refs = [
    ...(['key', 'psk', 'token'] as const).map((way) => [way, pool.raw[way]] as const),
    ...Object.entries(toMapping(pool.raw.secrets)).map(([name, ref]) => [`secrets.${name}`, ref] as const),
  ];
  return refs.flatMap(([where, ref]) => {
    const { secret } = toMapping(ref);
    const isTaken = typeof secret === 'string' && !secret.startsWith('arn:') && LIKE_A_SUFFIX.test(secret);
    if (!isTaken || looksLikeSecret(secret)) return [];
    const message =
      'ends like the random suffix of a secret ARN, so ECS would not find the secret by name; write its full ARN (aws secretsmanager describe-secret)';
    return [error(at(pool, ...where.split('.'), 'secret'), message)];
  });
}

function checkMetricsVariables(pool: PoolDraft): Mistake[] {
  if (pool.prometheusPort === undefined) return [];
  return ['CODER_PROMETHEUS_ENABLE', 'CODER_PROMETHEUS_ADDRESS']
    .filter((name) => Object.hasOwn(toMapping(pool.raw.environment), name))
    .map((name) =>
      error(at(pool, 'environment', name), 'is already set by prometheusPort; remove one of the two'),
    );
}

/** Warns about secrets in values that the template and the AWS console show. */
function checkForSecrets(value: unknown, path: Path): Mistake[] {
  if (typeof value === 'string')
    return looksLikeSecret(value)
      ? [
          warning(
            path,
            'looks like a secret, and the template and the AWS console would show it; store it in AWS Secrets Manager and refer to it in secrets',
          ),
        ]
      : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    checkForSecrets(item, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

/** The most pools of one deployment. */
export const MOST_POOLS = 50;
/** A template has at most 500 resources (docs/internals/aws.md §7), and such a pool has ten. */
export const MOST_MANAGED = 42;

/**
 * Refuses a parsed configuration with more pools than one stack supports. The decision supports
 * more.
 */
export function checkPoolCount(value: unknown): Mistake[] {
  const { pools } = toMapping(value);
  if (!Array.isArray(pools)) return [];
  const managed = pools.filter((pool) => toMapping(pool).key === MANAGED).length;
  if (managed > MOST_MANAGED)
    return [
      error(
        ['pools'],
        `${managed} pools with key: managed, but one deployment supports at most ${MOST_MANAGED}; split the file by organization, or give some pools a key of their own`,
      ),
    ];
  if (pools.length <= MOST_POOLS) return [];
  return [
    error(
      ['pools'],
      `${pools.length} pools, but one deployment supports at most ${MOST_POOLS}; split the file by organization. Give each file its own stack (aws.stack) and its own cluster. Jobs stay in their organization, so the split loses nothing`,
    ),
  ];
}

/** Whether a setting is unset. An empty list and `false` count as unset. */
function isUnset(value: unknown): boolean {
  return value === undefined || value === false || (Array.isArray(value) && value.length === 0);
}

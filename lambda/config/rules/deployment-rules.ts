/** Checks rules between several settings of a deployment. rules.ts checks those of the decision. */
import { error, type Findings, warning } from '../problems/problems.ts';
import { looksLikeSecret, type Path } from '../problems/shown.ts';
import { MANAGED } from '../schema/secret-ref.ts';
import { at, type ConfigDraft, isMapping, type Mapping, type PoolDraft, toMapping } from './drafts.ts';

/**
 * The errors and warnings about the settings of a deployment. The rules see the written values,
 * without defaults.
 */
export function* checkDeploymentRules({ raw, pools }: ConfigDraft): Findings {
  yield* checkAws(toMapping(raw.aws));
  yield* checkForSecrets(raw.aws, ['aws']);
  for (const pool of pools) {
    if (pool.capacity !== undefined && pool.raw.spot !== undefined)
      yield error(at(pool, 'spot'), 'has no effect because capacity says it; remove one of the two');
    yield* checkInstances(pool);
    yield* checkTaskRole(pool, toMapping(raw.aws));
    yield* checkSecretNames(pool);
    yield* checkForSecrets(pool.raw.environment, at(pool, 'environment'));
  }
}

/** docs/internals/aws.md §2 */
function* checkInstances(pool: PoolDraft): Findings {
  if (!isMapping(pool.capacity)) return;
  yield warning(
    at(pool, 'capacity', 'provider'),
    'ECS stops builds on an instance that it drains, protected or not. Managed Instances drain 14 days after their launch (docs/adr/0049); for an Auto Scaling group turn managed termination protection on',
  );
  if (pool.raw.ephemeralStorage !== undefined)
    yield error(
      at(pool, 'ephemeralStorage'),
      'is a setting of Fargate, but the tasks run on instances of capacity.provider; remove it, and give the instances the disk',
    );
}

function* checkAws(aws: Mapping): Findings {
  const [network, logs, alarms] = [toMapping(aws.network), toMapping(aws.logs), toMapping(aws.alarms)];
  yield* checkVpc(network);
  if (network.vpc !== undefined)
    yield* refuse(
      [network, ['aws', 'network']],
      ['natGateways', 'endpoints'],
      'applies only to a VPC that the stack creates, but vpc names an existing one; remove it, or remove vpc',
    );
  if (logs.group !== undefined)
    yield* refuse(
      [logs, ['aws', 'logs']],
      ['retentionDays'],
      'applies only to log groups that the stack creates, but group names an existing one; remove it, or remove group',
    );
  if (alarms.topic !== undefined)
    yield* refuse(
      [alarms, ['aws', 'alarms']],
      ['emails'],
      'applies only to a topic that the stack creates, but topic names an existing one; subscribe the addresses there, or remove topic',
    );
  if (alarms.enabled === false)
    yield* refuse(
      [alarms, ['aws', 'alarms']],
      ['topic', 'emails'],
      'has no effect because alarms are disabled; remove it, or write enabled: true',
    );
}

function* checkVpc(network: Mapping): Findings {
  const at: Path = ['aws', 'network'];
  if (network.vpc === undefined)
    yield* refuse(
      [network, at],
      ['subnets', 'securityGroups'],
      'applies only to an existing VPC; write its id too: vpc: vpc-…',
    );
  else if (isUnset(network.subnets))
    yield error(
      [...at, 'subnets'],
      'missing, but vpc is set; write the ids of its private subnets: [subnet-…, subnet-…]',
      [...at, 'vpc'],
    );
}

/** An error for each of these settings that a section has. */
function* refuse([section, at]: readonly [Mapping, Path], names: readonly string[], why: string): Findings {
  for (const name of names) if (!isUnset(section[name])) yield error([...at, name], why);
}

function* checkTaskRole(pool: PoolDraft, aws: Mapping): Findings {
  const role = toMapping(pool.raw.taskRole);
  if (role.arn === undefined) return;
  yield* refuse(
    [role, at(pool, 'taskRole')],
    ['policies'],
    'applies only to a role that the stack creates, but arn names an existing one; add it to that role, or remove arn',
  );
  const { bindTaskRole } = pool.raw;
  if (bindTaskRole === true)
    yield error(
      at(pool, 'bindTaskRole'),
      'applies only to a role that the stack creates, but taskRole.arn names an existing one; bind that role yourself (docs/deploy.md, "Shared clusters"), or remove taskRole.arn',
    );
  else if (bindTaskRole === undefined && aws.bindTaskRoles === true)
    yield warning(
      at(pool, 'taskRole', 'arn'),
      'aws.bindTaskRoles does not bind this role, which is yours: unless you bind it yourself, builds of this pool can end builds of all pools in its cluster (docs/deploy.md, "Shared clusters"). Write bindTaskRole: false here once you have decided',
    );
}

/**
 * ECS reads secrets by ARN, and Secrets Manager takes an ARN with this ending for a complete one
 * (its API Reference, SecretId).
 */
const LIKE_A_SUFFIX = /-[A-Za-z0-9]{6}$/;

function* checkSecretNames(pool: PoolDraft): Findings {
  const refs = [
    ...(['key', 'psk', 'token'] as const).map((way) => [way, pool.raw[way]] as const),
    ...Object.entries(toMapping(pool.raw.secrets)).map(([name, ref]) => [`secrets.${name}`, ref] as const),
  ];
  for (const [where, ref] of refs) {
    const { secret } = toMapping(ref);
    const isTaken = typeof secret === 'string' && !secret.startsWith('arn:') && LIKE_A_SUFFIX.test(secret);
    if (isTaken && !looksLikeSecret(secret))
      yield error(
        at(pool, ...where.split('.'), 'secret'),
        'ends like the random suffix of a secret ARN, so ECS would not find the secret by name; write its full ARN (aws secretsmanager describe-secret)',
      );
  }
}

/** Warns about secrets in values that the template and the AWS console show. */
function* checkForSecrets(value: unknown, path: Path): Findings {
  if (typeof value === 'string' && looksLikeSecret(value))
    yield warning(
      path,
      'looks like a secret, and the template and the AWS console would show it; store it in AWS Secrets Manager and refer to it in secrets',
    );
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value))
    yield* checkForSecrets(item, [...path, Array.isArray(value) ? Number(name) : name]);
}

/** How many ECS services a pool has. */
export function servicesOf({ capacity }: { readonly capacity?: unknown }): number {
  return Array.isArray(capacity) ? 2 : 1;
}

/** The most pools of one deployment. */
export const MOST_POOLS = 50;
/** A template has at most 500 resources (docs/internals/aws.md §7), and such a pool has ten: size-rules.ts counts all. */
export const MOST_MANAGED = 42;

/** Refuses a parsed configuration with more pools than one stack supports. The decision supports more. */
export function* checkPoolCount(value: unknown): Findings {
  const { pools } = toMapping(value);
  if (!Array.isArray(pools)) return;
  const services = pools.flatMap((pool) => Array(servicesOf(toMapping(pool))).fill(toMapping(pool)));
  const managed = services.filter(({ key }) => key === MANAGED).length;
  const withParts = services.length > pools.length ? ' (one with capacity counts twice)' : '';
  const refuse = (message: string) => ({ ...error(['pools'], message), isFinal: true as const });
  if (managed > MOST_MANAGED)
    yield refuse(
      `${managed} pools with key: managed${withParts}, but one deployment supports at most ${MOST_MANAGED}; split the file by organization, or give some pools a key of their own`,
    );
  else if (services.length > MOST_POOLS)
    yield refuse(
      `${services.length} pools${withParts}, but one deployment supports at most ${MOST_POOLS}; split the file by organization. Give each file its own stack (aws.stack) and its own cluster. Jobs stay in their organization, so the split loses nothing`,
    );
}

/** Whether a setting is unset. An empty list and `false` count as unset. */
function isUnset(value: unknown): boolean {
  return value === undefined || value === false || (Array.isArray(value) && value.length === 0);
}

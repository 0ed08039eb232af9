/**
 * Checks the sizes that ECS and CloudFormation limit, estimated from the written settings. The
 * estimates are a little too high rather than too low.
 */
import { sum } from '../../decision/model/collections.ts';
import { error, type Findings, type Mistake } from '../problems/problems.ts';
import { MANAGED } from '../schema/secret-ref.ts';
import { servicesOf } from './deployment-rules.ts';
import { at, type ConfigDraft, draftConfig, type Mapping, type PoolDraft, toMapping } from './drafts.ts';
import { PART_LENGTH, storedText } from './stored-text.ts';

/** Findings about the sizes of a deployment. `caBundle` is the text of `coder.caBundle`. */
export function* checkSizes(value: unknown, caBundle: string | undefined): Findings {
  const config = draftConfig(value);
  const bundle = bundleProblem(caBundle);
  if (bundle !== undefined) yield bundle;
  else for (const pool of config.pools) yield* checkTask(pool, caBundle);
  const bytes = templateBytes(config, caBundle);
  if (bytes > MOST_OF_TEMPLATE)
    yield error(
      ['pools'],
      `the template of ${config.pools.length} pools would have about ${kib(bytes)}, but CloudFormation accepts at most 1 MB. Shorten environment, secrets or aws.tags, or split the pools over several files, each with its own stack (aws.stack)`,
    );
}

/** Of a stack that has nothing but these settings: existing resources that code hands over would count less. */
export function* checkResources(value: unknown, caBundle: string | undefined): Findings {
  const config = draftConfig(value);
  const resources = resourcesOf(config, caBundle);
  if (resources > MOST_RESOURCES)
    yield error(
      ['pools'],
      `the template of ${config.pools.length} pools would have ${resources} resources, but CloudFormation accepts at most ${MOST_RESOURCES}. Split the pools over several files, each with its own stack (aws.stack), or ${savings(config)}`,
    );
}

/** CloudFormation accepts no more (docs/internals/aws.md §7). */
const MOST_RESOURCES = 500;

/**
 * The resources of the template: of `cdk deploy` or of `synth`, whichever has more. The constants are counted
 * (test/infra/pool/sizes.test.ts).
 */
export function resourcesOf({ pools, raw }: ConfigDraft, caBundle: string | undefined): number {
  const aws = toMapping(raw.aws);
  const [network, alarms] = [toMapping(aws.network), toMapping(aws.alarms)];
  const hasLogs = toMapping(aws.logs).group === undefined;
  // the parameters of synth, or the metadata of cdk deploy
  const parameters = Math.ceil(storedText(raw, caBundle).length / PART_LENGTH);
  return (
    (network.vpc === undefined ? ownNetwork(network) : Number(!hasEntries(network.securityGroups))) +
    (aws.cluster === undefined ? 2 : 0) +
    (alarms.enabled === false ? 0 : alarmsOf(alarms, pools, toMapping(raw.defaults).spot)) +
    (hasLogs ? 2 : 1) +
    (pools.some(isManaged) ? MANAGED_KEYS : 0) +
    FIXED +
    parameters +
    sum(pools, (pool) => resourcesOfPool(pool, { hasLogs, isBound: isBound(pool, aws) }))
  );
}

/** The settings that save the most, of those that are not in force. */
function savings({ pools, raw }: ConfigDraft): string {
  const aws = toMapping(raw.aws);
  const network = toMapping(aws.network);
  return [
    ...(pools.some(isManaged) ? ['give pools a key of their own (3 each)'] : []),
    ...(network.vpc === undefined ? ['name an existing VPC (about 22)'] : []),
    ...(toMapping(aws.alarms).enabled === false ? [] : ['write alarms.enabled: false (about 15)']),
    ...(pools.some((pool) => isBound(pool, aws)) ? ['remove bindTaskRoles (1 for each pool)'] : []),
    'use one log group (logs.group, 1 for each pool)',
  ].join(', or ');
}

const FIXED = 26;
const MANAGED_KEYS = 9;

const ownNetwork = ({ natGateways, endpoints }: Mapping): number =>
  23 + (natGateways === 2 ? 2 : 0) + (endpoints === true ? 8 : 0);

function alarmsOf({ topic, emails }: Mapping, pools: readonly PoolDraft[], spot: unknown): number {
  const ownTopic = topic === undefined ? 2 + (Array.isArray(emails) ? emails.length : 0) : 0;
  // one for the use of each kind of Fargate
  const isOn = (kind: 'spot' | 'on-demand') => pools.some((pool) => kindsOf(pool, spot).includes(kind));
  return 12 + Number(isOn('spot')) + Number(isOn('on-demand')) + Number(pools.some(isManaged)) + ownTopic;
}

/** `byDefault`: `defaults.spot`. */
function kindsOf({ raw }: PoolDraft, byDefault: unknown): readonly string[] {
  if (Array.isArray(raw.capacity)) return ['spot', 'on-demand'];
  if (raw.capacity !== undefined) return [];
  return [(raw.spot ?? byDefault) === true ? 'spot' : 'on-demand'];
}

/** With a role of the user's that says nothing. */
const isBound = ({ raw }: PoolDraft, aws: Mapping): boolean =>
  (raw.bindTaskRole ?? aws.bindTaskRoles) === true;

const isManaged = ({ raw }: PoolDraft): boolean => raw.key === MANAGED;
const hasEntries = (list: unknown): boolean => Array.isArray(list) && list.length > 0;

function resourcesOfPool(
  pool: PoolDraft,
  { hasLogs, isBound }: { readonly hasLogs: boolean; readonly isBound: boolean },
): number {
  const ownRole = toMapping(pool.raw.taskRole).arn === undefined;
  return (
    (servicesOf(pool) === 2 ? 8 : 4) +
    (hasLogs ? servicesOf(pool) : 0) +
    (ownRole ? (isBound ? 3 : 2) : 0) +
    (isManaged(pool) ? 3 : 0)
  );
}

const KIB = 1024;
/** ECS accepts no larger task definition. */
const MOST_OF_TASK = 64 * KIB;
/** The guard's script, and what every container has. Tests limit the script to 16 KiB. */
const GUARDED_TASK = 18 * KIB;
/** A variable's field names. */
const PER_VARIABLE = 20;
/** A secret's field names, and an ARN around its name. */
const PER_SECRET = 100;

function bundleProblem(caBundle: string | undefined): Mistake | undefined {
  const bytes = GUARDED_TASK + textBytes(caBundle);
  if (bytes <= MOST_OF_TASK) return undefined;
  const message = `the CA bundle has ${kib(textBytes(caBundle))}, but a task definition (at most 64 KiB) leaves ${kib(MOST_OF_TASK - GUARDED_TASK)} for it; keep only the authorities that coderd's certificate needs`;
  return error(['coder', 'caBundle'], message);
}

function* checkTask(pool: PoolDraft, caBundle: string | undefined): Findings {
  const fixed = GUARDED_TASK + textBytes(caBundle);
  const bytes = fixed + variablesBytes(pool);
  if (bytes <= MOST_OF_TASK) return;
  const message = `the pool's task definition would have about ${kib(bytes)}, but ECS accepts at most 64 KiB. environment and secrets may have ${kib(MOST_OF_TASK - fixed)}; shorten them, or put them into the image`;
  yield error(at(pool, 'environment'), message, at(pool));
}

function variablesBytes({ environment = {}, secrets = {} }: PoolDraft): number {
  const [variables, references] = [Object.keys(environment).length, Object.keys(secrets).length];
  return jsonBytes(environment) + jsonBytes(secrets) + variables * PER_VARIABLE + references * PER_SECRET;
}

/** CloudFormation accepts templates of up to 1 MB. */
const MOST_OF_TEMPLATE = 1_000_000;

/**
 * An estimate of the template's bytes, never too low. The constants are measured
 * (test/infra/pool/sizes.test.ts).
 */
export function templateBytes({ pools, raw }: ConfigDraft, caBundle: string | undefined): number {
  const tags =
    jsonBytes(toMapping(raw.aws).tags ?? {}) + 20 * Object.keys(toMapping(toMapping(raw.aws).tags)).length;
  const ofPools = sum(
    pools,
    (pool) =>
      servicesOf(pool) * (7_500 + jsonBytes(pool.raw) + 600 * (Object.keys(pool.secrets ?? {}).length + 1)),
  );
  return 80_000 + textBytes(caBundle) + (40 + 7 * sum(pools, servicesOf)) * tags + ofPools;
}

function textBytes(text: string | undefined): number {
  return text === undefined ? 0 : jsonBytes(text);
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const kib = (bytes: number): string => `${Math.ceil(bytes / KIB)} KiB`;

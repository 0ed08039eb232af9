/**
 * Checks the sizes that ECS and CloudFormation limit, estimated from the written settings. The
 * estimates are a little too high rather than too low.
 */
import { sum } from '../../decision/model/collections.ts';
import { error, type Findings, type Mistake } from '../problems/problems.ts';
import { servicesOf } from './deployment-rules.ts';
import { at, type ConfigDraft, draftConfig, type PoolDraft, toMapping } from './drafts.ts';

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

/**
 * Checks rules between several settings of the decision. A rule sees only settings that are valid
 * by themselves, which schema.ts checks.
 */
import { tagKey } from '../../decision/model/tags.ts';
import { error, type Findings, warning } from '../problems/problems.ts';
import type { Path } from '../problems/shown.ts';
import { cpusFor, describeMemories, FARGATE_CPUS, memoriesFor } from '../schema/fargate-sizes.ts';
import { checkAuth } from './auth-rules.ts';
import { checkDeploymentRules } from './deployment-rules.ts';
import { at, type ConfigDraft, isMapping, type PoolDraft } from './drafts.ts';
import { countsUpToMax } from './max.ts';
import { checkCredentialVariables } from './variable-rules.ts';

/** The errors and warnings of all rules between settings. */
export function* checkRules(config: ConfigDraft): Findings {
  for (const pool of config.pools) {
    yield* checkAuth(pool, config);
    yield* checkBounds(pool);
    yield* checkSchedules(pool);
    // A retiring pool has no floors and does not wake.
    if (!pool.retiring) yield* checkFloors(pool, config);
    yield* checkSize(pool, config);
    yield* checkVariables(pool);
    yield* checkCredentialVariables(pool);
    yield* checkIsUnique(pool, config);
  }
  yield* checkSums(config);
  yield* checkDeploymentRules(config);
}

function* checkFloors(pool: PoolDraft, config: ConfigDraft): Findings {
  yield* checkWake(pool);
  yield* checkScheduleFits(pool, config);
}

function* checkBounds(pool: PoolDraft): Findings {
  const { max = Number.POSITIVE_INFINITY } = pool;
  for (const { path, count } of countsUpToMax(pool)) {
    const name = path.at(-1);
    if (count > max)
      yield error(
        at(pool, ...path),
        `${name} ${count} is above ${maxText(pool)}; lower ${name} or raise max`,
      );
  }
}

const maxText = ({ max, raw }: PoolDraft): string =>
  `max ${max}${raw.max === undefined ? ' (the default)' : ''}`;

// docs/internals/coder.md §10
function* checkWake(pool: PoolDraft): Findings {
  if (pool.min === 0 && pool.wake === false)
    yield warning(
      at(pool, 'wake'),
      'with min 0 and this off, coderd does not start, stop or delete workspaces of these tags by itself while no daemon is online; write true here, or min: 1',
    );
}

function* checkSchedules(pool: PoolDraft): Findings {
  for (const [index, { min, warm }] of (pool.schedules ?? []).entries())
    if (min === 0 && warm === 0)
      yield error(
        at(pool, 'schedules', index),
        'min and warm are both 0, so the schedule has no effect; write one of them, such as warm: 2',
      );
}

function* checkSize(pool: PoolDraft, { defaults }: ConfigDraft): Findings {
  const cpu = pool.raw.cpu === undefined ? defaults.cpu : pool.cpu;
  const memory = pool.raw.memory === undefined ? defaults.memory : pool.memory;
  if (isMapping(pool.capacity) || cpu === undefined || memory === undefined) return;
  if (!memoriesFor(cpu).includes(memory)) yield error(sizePath(pool, defaults.raw), sizeProblem(cpu, memory));
}

/** The pool's own setting if it has one, else that of `defaults`. */
function sizePath(pool: PoolDraft, defaults: Readonly<Record<string, unknown>>): Path {
  for (const name of ['memory', 'cpu']) if (pool.raw[name] !== undefined) return at(pool, name);
  return ['defaults', defaults.memory === undefined ? 'cpu' : 'memory'];
}

function sizeProblem(cpu: number, memory: number): string {
  const cpus = cpusFor(memory);
  const other =
    cpus.length > 0 ? `; memory ${memory} goes with cpu ${cpus.join(', ')}` : gigabyteHint(memory);
  return `Fargate has no task with cpu ${cpu} and memory ${memory}; cpu ${cpu} goes with memory ${describeMemories(cpu)}${other}`;
}

/** A hint for memory that was written in GB. */
function gigabyteHint(memory: number): string {
  const mib = memory * 1024;
  return FARGATE_CPUS.some((cpu) => memoriesFor(cpu).includes(mib)) ? `; ${memory} GB is ${mib}` : '';
}

function* checkVariables(pool: PoolDraft): Findings {
  for (const name of Object.keys(pool.environment ?? {}))
    if (Object.hasOwn(pool.secrets ?? {}, name))
      yield error(at(pool, 'secrets', name), `"${name}" is also in environment; keep one of them`);
}

/**
 * Checks that no other pool has its name, or its organization and tags. A retiring pool may have the
 * tags of another pool: after a rename its successor has the same tags.
 */
function* checkIsUnique(pool: PoolDraft, { pools }: ConfigDraft): Findings {
  const earlier = pools.slice(0, pool.index);
  const namesake = earlier.find(({ name }) => name !== undefined && name === pool.name);
  if (namesake !== undefined)
    yield error(
      at(pool, 'name'),
      `"${pool.name}" is already the name of pools[${namesake.index}]; give each pool its own name`,
    );
  const group = tagGroup(pool);
  const other = earlier.find((candidate) => group !== undefined && tagGroup(candidate) === group);
  if (other !== undefined)
    yield error(
      at(pool),
      `has the same organization and tags as pools[${other.index}]${other.name === undefined ? '' : ` "${other.name}"`}; merge them into one pool with a higher max, or give one of them another tag`,
      at(pool, pool.raw.tags === undefined ? 'organization' : 'tags'),
    );
}

function tagGroup({ organization, tags, retiring }: PoolDraft): string | undefined {
  const isUnknown = organization === undefined || tags === undefined || retiring;
  return isUnknown ? undefined : `${organization} ${tagKey(tags)}`;
}

function* checkSums({ pools, limits, raw }: ConfigDraft): Findings {
  const min = sumOfMin(pools);
  if (limits !== undefined && min > limits.maxTasks)
    yield error(
      ['limits', 'maxTasks'],
      `the pools' min add up to ${min}${byDefaultText(pools)}, above maxTasks ${limits.maxTasks}; raise maxTasks or lower min`,
      raw.limits === undefined ? ['pools'] : undefined,
    );
}

/** Explains counts that the file does not show. */
function byDefaultText(pools: readonly PoolDraft[]): string {
  const isByDefault = pools.some((pool) => pool.raw.min === undefined && leastOf(pool) > 0);
  return isByDefault ? ' (a pool whose wake is off counts as 1 if its min is not set)' : '';
}

/** Checks each schedule alone, because other schedules may be active at other times. */
function* checkScheduleFits(pool: PoolDraft, { pools, limits }: ConfigDraft): Findings {
  const others = sumOfMin(pools.filter((other) => other !== pool));
  for (const [index, { min }] of (pool.schedules ?? []).entries())
    if (limits !== undefined && min > leastOf(pool) && min + others > limits.maxTasks)
      yield warning(
        at(pool, 'schedules', index, 'min'),
        `min ${min} and the other pools' min add up to ${min + others}, above maxTasks ${limits.maxTasks}; raise maxTasks or lower min`,
      );
}

const sumOfMin = (pools: readonly PoolDraft[]) =>
  pools.reduce((total, pool) => total + (pool.retiring ? 0 : leastOf(pool)), 0);

/** The lowest possible `min`. An unset `min` is 1 if wake is off. */
function leastOf(pool: PoolDraft): number {
  if (pool.raw.min === undefined) return pool.wake === false ? 1 : 0;
  return pool.min ?? 0;
}

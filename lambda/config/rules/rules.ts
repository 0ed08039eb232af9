/**
 * Checks rules between several settings of the decision. A rule sees only settings that are valid
 * by themselves, which schema.ts checks.
 */
import { tagKey } from '../../decision/model/tags.ts';
import { error, type Mistake, warning } from '../problems/problems.ts';
import type { Path } from '../problems/shown.ts';
import { cpusFor, describeMemories, FARGATE_CPUS, memoriesFor } from '../schema/fargate-sizes.ts';
import { checkAuth } from './auth-rules.ts';
import { checkDeploymentRules } from './deployment-rules.ts';
import { at, type ConfigDraft, type PoolDraft, toMapping } from './drafts.ts';
import { countsUpToMax } from './max.ts';
import { checkCredentialVariables } from './variable-rules.ts';

/** The errors and warnings of all rules between settings. */
export function checkRules(config: ConfigDraft): Mistake[] {
  const perPool = config.pools.flatMap((pool) => [
    ...checkAuth(pool, config),
    ...checkBounds(pool),
    ...checkSchedules(pool),
    // A retiring pool has no floors, wake or prewarm.
    ...(pool.retiring ? [] : checkFloors(pool, config)),
    ...checkSize(pool, config),
    ...checkVariables(pool),
    ...checkCredentialVariables(pool),
    ...checkTrust(pool, config),
    ...checkNameIsFree(pool, config),
    ...checkTagsAreFree(pool, config),
  ]);
  return [...perPool, ...checkSumOfMin(config), ...checkSumOfFloors(config), ...checkDeploymentRules(config)];
}

function checkFloors(pool: PoolDraft, config: ConfigDraft): Mistake[] {
  return [...checkWake(pool), ...checkPrewarm(pool), ...checkScheduleFits(pool, config)];
}

function checkBounds(pool: PoolDraft): Mistake[] {
  const { max = Number.POSITIVE_INFINITY } = pool;
  const above = countsUpToMax(pool).filter(({ count }) => count > max);
  return above.map(({ path, count }) => {
    const name = path.at(-1);
    return error(at(pool, ...path), `${name} ${count} is above ${maxText(pool)}; lower ${name} or raise max`);
  });
}

const maxText = ({ max, raw }: PoolDraft): string =>
  `max ${max}${raw.max === undefined ? ' (the default)' : ''}`;

// docs/internals/coder.md §10
const SWITCHED_OFF = {
  autostart: 'does not start workspaces of these tags by their schedules',
  autostop: 'does not stop workspaces of these tags at their deadline, make them dormant or delete them',
} as const;

function checkWake(pool: PoolDraft): Mistake[] {
  const off = pool.min === 0 ? switchedOff(pool) : [];
  return off.map((feature) =>
    warning(
      at(pool, 'wake', feature),
      `with min 0 and this off, coderd ${SWITCHED_OFF[feature]} while no daemon is online; write true here, or min: 1`,
    ),
  );
}

function checkPrewarm(pool: PoolDraft): Mistake[] {
  if (pool.raw.prewarm === undefined) return [];
  if (switchedOff(pool).length === 2) {
    const message =
      'has no effect because wake is off; remove it, or set wake.autostart or wake.autostop to true';
    return [warning(at(pool, 'prewarm'), message)];
  }
  const most = pool.prewarm?.max ?? 0;
  if (pool.max === undefined || most <= pool.max) return [];
  const message = `max ${most} is above the pool's ${maxText(pool)}, which limits it; lower prewarm.max or raise max`;
  return [warning(at(pool, 'prewarm', 'max'), message)];
}

function switchedOff({ wake }: PoolDraft) {
  return (['autostart', 'autostop'] as const).filter((feature) => wake?.[feature] === false);
}

function checkSchedules(pool: PoolDraft): Mistake[] {
  const message =
    'min and warm are both 0, so the schedule has no effect; write one of them, such as warm: 2';
  return (pool.schedules ?? []).flatMap(({ min, warm }, index) =>
    min > 0 || warm > 0 ? [] : [error(at(pool, 'schedules', index), message)],
  );
}

function checkSize(pool: PoolDraft, { defaults }: ConfigDraft): Mistake[] {
  const cpu = pool.raw.cpu === undefined ? defaults.cpu : pool.cpu;
  const memory = pool.raw.memory === undefined ? defaults.memory : pool.memory;
  if (cpu === undefined || memory === undefined || memoriesFor(cpu).includes(memory)) return [];
  return [error(sizePath(pool, defaults.raw), sizeProblem(cpu, memory))];
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

function checkVariables(pool: PoolDraft): Mistake[] {
  const inBoth = Object.keys(pool.environment ?? {}).filter((name) =>
    Object.hasOwn(pool.secrets ?? {}, name),
  );
  return inBoth.map((name) =>
    error(at(pool, 'secrets', name), `"${name}" is also in environment; keep one of them`),
  );
}

/** Only tasks with a guard get the certificates: a script installs them before the guard starts. */
function checkTrust(pool: PoolDraft, { raw }: ConfigDraft): Mistake[] {
  const { caBundle } = toMapping(raw.coder);
  if (caBundle === undefined || pool.scaleIn === undefined || pool.scaleIn === 'lease') return [];
  const message = `with "${pool.scaleIn}" no guard installs the certificates of coder.caBundle in the tasks; use an image that trusts them already`;
  return [warning(at(pool, 'scaleIn'), message)];
}

function checkNameIsFree(pool: PoolDraft, { pools }: ConfigDraft): Mistake[] {
  const other = earlier(pool, pools).find(({ name }) => name !== undefined && name === pool.name);
  if (!other) return [];
  return [
    error(
      at(pool, 'name'),
      `"${pool.name}" is already the name of pools[${other.index}]; give each pool its own name`,
    ),
  ];
}

/**
 * A retiring pool may have the tags of another pool: after a rename its successor has the same
 * tags.
 */
function checkTagsAreFree(pool: PoolDraft, { pools }: ConfigDraft): Mistake[] {
  const group = tagGroup(pool);
  const other = earlier(pool, pools).find(
    (candidate) => group !== undefined && tagGroup(candidate) === group,
  );
  if (!other) return [];
  return [
    error(
      at(pool),
      `has the same organization and tags as pools[${other.index}]${other.name === undefined ? '' : ` "${other.name}"`}; merge them into one pool with a higher max, or give one of them another tag`,
      pool.raw.tags === undefined ? at(pool, 'organization') : at(pool, 'tags'),
    ),
  ];
}

function tagGroup({ organization, tags, retiring }: PoolDraft): string | undefined {
  const isUnknown = organization === undefined || tags === undefined || retiring;
  return isUnknown ? undefined : `${organization} ${tagKey(tags)}`;
}

function checkSumOfMin({ pools, limits, raw }: ConfigDraft): Mistake[] {
  const sum = sumOfMin(pools);
  if (limits === undefined || sum <= limits.maxTasks) return [];
  const message = `the pools' min add up to ${sum}${byDefaultText(pools)}, above maxTasks ${limits.maxTasks}; raise maxTasks or lower min`;
  return [error(['limits', 'maxTasks'], message, raw.limits === undefined ? ['pools'] : undefined)];
}

/** Explains counts that the file does not show. */
function byDefaultText(pools: readonly PoolDraft[]): string {
  const isByDefault = pools.some((pool) => pool.raw.min === undefined && leastOf(pool) > 0);
  return isByDefault ? ' (a pool whose wake is off counts as 1 if its min is not set)' : '';
}

/** Checks each schedule alone, because other schedules may be active at other times. */
function checkScheduleFits(pool: PoolDraft, { pools, limits }: ConfigDraft): Mistake[] {
  const others = sumOfMin(pools.filter((other) => other !== pool));
  return (pool.schedules ?? []).flatMap(({ min }, index) => {
    const sum = min + others;
    if (limits === undefined || min <= leastOf(pool) || sum <= limits.maxTasks) return [];
    return [
      warning(
        at(pool, 'schedules', index, 'min'),
        `min ${min} and the other pools' min add up to ${sum}, above maxTasks ${limits.maxTasks}; raise maxTasks or lower min`,
      ),
    ];
  });
}

/** While coderd cannot be read, each pool keeps the higher of `min` and `whenBlind.floor`. */
function checkSumOfFloors({ pools, limits }: ConfigDraft): Mistake[] {
  const sum = sumOf(pools, (pool) => Math.max(leastOf(pool), pool.whenBlind?.floor ?? 0));
  if (limits === undefined || sum <= limits.maxTasks || sumOfMin(pools) > limits.maxTasks) return [];
  const message = `the pools' whenBlind.floor and min add up to ${sum}, above maxTasks ${limits.maxTasks}, which limits them; raise maxTasks or lower floor`;
  const first = pools.find(({ whenBlind }) => (whenBlind?.floor ?? 0) > 0);
  return first === undefined ? [] : [warning(at(first, 'whenBlind', 'floor'), message)];
}

const sumOfMin = (pools: readonly PoolDraft[]) => sumOf(pools, leastOf);

const sumOf = (pools: readonly PoolDraft[], of: (pool: PoolDraft) => number) =>
  pools.reduce((total, pool) => total + (pool.retiring ? 0 : of(pool)), 0);

/** The lowest possible `min`. An unset `min` is 1 if wake is off. */
function leastOf(pool: PoolDraft): number {
  if (pool.raw.min === undefined) return switchedOff(pool).length > 0 ? 1 : 0;
  return pool.min ?? 0;
}

const earlier = (pool: PoolDraft, pools: readonly PoolDraft[]) => pools.slice(0, pool.index);

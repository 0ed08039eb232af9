/** What must hold between settings. Each rule looks at valid settings only; schema.ts judges each for itself. */
import { tagKey } from '../../core/tags.ts';
import { checkDeploymentRules } from './deployment-rules.ts';
import { type ConfigDraft, type PoolDraft, toMapping } from './drafts.ts';
import { cpusFor, describeMemories, FARGATE_CPUS, memoriesFor } from './fargate-sizes.ts';
import { error, type Finding, warning } from './problems.ts';
import type { Path } from './shown.ts';

/** Every rule that a configuration breaks, and what it should be warned of. */
export function checkRules(config: ConfigDraft): Finding[] {
  const perPool = config.pools.flatMap((pool) => [
    ...checkBounds(pool),
    ...checkSchedules(pool),
    // floors, wake and prewarm of a pool on its way out are off
    ...(pool.retiring ? [] : checkFloors(pool, config)),
    ...checkSize(pool, config),
    ...checkVariables(pool),
    ...checkTrust(pool, config),
    ...checkNameIsFree(pool, config),
    ...checkTagsAreFree(pool, config),
  ]);
  return [...perPool, ...checkSumOfMin(config), ...checkDeploymentRules(config)];
}

function checkFloors(pool: PoolDraft, config: ConfigDraft): Finding[] {
  return [...checkWake(pool), ...checkPrewarm(pool), ...checkScheduleFits(pool, config)];
}

function checkBounds(pool: PoolDraft): Finding[] {
  const { max, schedules = [] } = pool;
  if (max === undefined) return [];
  const maxText = `max ${max}${pool.raw.max === undefined ? ' (the default)' : ''}`;
  const places = [
    { at: at(pool), floors: pool },
    ...schedules.map((floors, index) => ({ at: at(pool, 'schedules', index), floors })),
  ];
  return places.flatMap(({ at: place, floors: { min = 0, warm = 0 } }) =>
    Object.entries({ min, warm })
      .filter(([, count]) => count > max)
      .map(([name, count]) =>
        error([...place, name], `${name} ${count} is above ${maxText}; lower ${name} or raise max`),
      ),
  );
}

// contract §10
const SWITCHED_OFF = {
  autostart: 'starts no workspace of these tags by its schedule',
  autostop: 'stops no workspace of these tags at its deadline, and makes none dormant and deletes none,',
} as const;

function checkWake(pool: PoolDraft): Finding[] {
  const off = pool.min === 0 ? switchedOff(pool) : [];
  return off.map((feature) =>
    warning(
      at(pool, 'wake', feature),
      `with min 0 and this off, coderd ${SWITCHED_OFF[feature]} while no daemon is up; write true here, or min: 1`,
    ),
  );
}

function checkPrewarm(pool: PoolDraft): Finding[] {
  if (switchedOff(pool).length < 2 || pool.raw.prewarm === undefined) return [];
  const message =
    'has no effect, since wake is off; remove it, or set wake.autostart or wake.autostop to true';
  return [warning(at(pool, 'prewarm'), message)];
}

function switchedOff({ wake }: PoolDraft) {
  return (['autostart', 'autostop'] as const).filter((feature) => wake?.[feature] === false);
}

function checkSchedules(pool: PoolDraft): Finding[] {
  const message = 'neither min nor warm is above 0; write what is kept at these times, such as warm: 2';
  return (pool.schedules ?? []).flatMap(({ min, warm }, index) =>
    min > 0 || warm > 0 ? [] : [error(at(pool, 'schedules', index), message)],
  );
}

function checkSize(pool: PoolDraft, { defaults }: ConfigDraft): Finding[] {
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

/** Memory counted in GB, as nearly everywhere else. */
function gigabyteHint(memory: number): string {
  const mib = memory * 1024;
  return FARGATE_CPUS.some((cpu) => memoriesFor(cpu).includes(mib)) ? `; ${memory} GB is ${mib}` : '';
}

function checkVariables(pool: PoolDraft): Finding[] {
  const inBoth = Object.keys(pool.environment ?? {}).filter((name) =>
    Object.hasOwn(pool.secrets ?? {}, name),
  );
  return inBoth.map((name) =>
    error(at(pool, 'secrets', name), `"${name}" is in environment too; keep one of them`),
  );
}

/** The guard's shell writes the certificates down in the container; without it nobody does. */
function checkTrust(pool: PoolDraft, { raw }: ConfigDraft): Finding[] {
  const { caBundle } = toMapping(raw.coder);
  if (caBundle === undefined || pool.scaleIn === undefined || pool.scaleIn === 'lease') return [];
  const message = `with "${pool.scaleIn}" the tasks have no shell that brings the certificates of coder.caBundle; the image must trust them itself`;
  return [warning(at(pool, 'scaleIn'), message)];
}

function checkNameIsFree(pool: PoolDraft, { pools }: ConfigDraft): Finding[] {
  const other = earlier(pool, pools).find(({ name }) => name !== undefined && name === pool.name);
  if (!other) return [];
  return [
    error(
      at(pool, 'name'),
      `"${pool.name}" is the name of pools[${other.index}] already; give each pool its own`,
    ),
  ];
}

/** A pool that is renamed has the same tags as its successor while it retires. */
function checkTagsAreFree(pool: PoolDraft, { pools }: ConfigDraft): Finding[] {
  const group = tagGroup(pool);
  const other = earlier(pool, pools).find(
    (candidate) => group !== undefined && tagGroup(candidate) === group,
  );
  if (!other) return [];
  return [
    error(
      ['pools', pool.index],
      `has the organization and tags of pools[${other.index}]${other.name === undefined ? '' : ` "${other.name}"`}; make them one pool with a higher max, or give one of them another tag`,
      pool.raw.tags === undefined ? at(pool, 'organization') : at(pool, 'tags'),
    ),
  ];
}

function tagGroup({ organization, tags, retiring }: PoolDraft): string | undefined {
  const isUnknown = organization === undefined || tags === undefined || retiring;
  return isUnknown ? undefined : `${organization} ${tagKey(tags)}`;
}

function checkSumOfMin({ pools, limits, raw }: ConfigDraft): Finding[] {
  const sum = sumOfMin(pools);
  if (limits === undefined || sum <= limits.maxTasks) return [];
  const message = `the pools' min add up to ${sum}, above maxTasks ${limits.maxTasks}; raise maxTasks or lower min`;
  return [error(['limits', 'maxTasks'], message, raw.limits === undefined ? ['pools'] : undefined)];
}

/** Other schedules may be active at other times: this looks at one at a time. */
function checkScheduleFits(pool: PoolDraft, { pools, limits }: ConfigDraft): Finding[] {
  const others = sumOfMin(pools.filter((other) => other !== pool));
  return (pool.schedules ?? []).flatMap(({ min }, index) => {
    const sum = min + others;
    if (limits === undefined || min <= (pool.min ?? 0) || sum <= limits.maxTasks) return [];
    return [
      warning(
        at(pool, 'schedules', index, 'min'),
        `min ${min} and the other pools' min add up to ${sum}, above maxTasks ${limits.maxTasks}; raise maxTasks or lower min`,
      ),
    ];
  });
}

const sumOfMin = (pools: readonly PoolDraft[]) =>
  pools.reduce((total, { min, retiring }) => total + (retiring ? 0 : (min ?? 0)), 0);

const earlier = (pool: PoolDraft, pools: readonly PoolDraft[]) => pools.slice(0, pool.index);

const at = (pool: PoolDraft, ...names: (string | number)[]): Path => ['pools', pool.index, ...names];

/** What must hold between settings. Each rule looks at valid settings only; schema.ts judges each for itself. */
import { tagKey } from '../../core/tags.ts';
import type { ConfigDraft, PoolDraft } from './drafts.ts';
import { cpusFor, describeMemories, FARGATE_CPUS, memoriesFor } from './fargate-sizes.ts';
import { error, type Finding, warning } from './problems.ts';
import type { Path } from './shown.ts';

/** Every rule that a configuration breaks, and what it should be warned of. */
export function checkRules(config: ConfigDraft): Finding[] {
  const perPool = config.pools.flatMap((pool) => [
    ...checkBounds(pool),
    ...checkSize(pool, config),
    ...checkVariables(pool),
    ...checkNameIsFree(pool, config),
    ...checkTagsAreFree(pool, config),
  ]);
  return [...perPool, ...checkSumOfMin(config)];
}

function checkBounds(pool: PoolDraft): Finding[] {
  const { min, max, warm } = pool;
  const maxText = `max ${max}${pool.raw.max === undefined ? ' (the default)' : ''}`;
  const findings: Finding[] = [];
  if (min === 0) findings.push(warning(at(pool, 'min'), MIN_ZERO));
  for (const [name, count] of Object.entries({ min, warm })) {
    if (count === undefined || max === undefined || count <= max) continue;
    findings.push(error(at(pool, name), `${name} ${count} is above ${maxText}; lower ${name} or raise max`));
  }
  return findings;
}

// contract §10
const MIN_ZERO =
  'with min 0, coderd creates no autostart or autostop jobs for these tags while no daemon is up; write min: 1 unless no workspace of these tags has a schedule';

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

function tagGroup({ organization, tags }: PoolDraft): string | undefined {
  return organization === undefined || tags === undefined ? undefined : `${organization} ${tagKey(tags)}`;
}

function checkSumOfMin({ pools, limits, raw }: ConfigDraft): Finding[] {
  const sum = pools.reduce((total, { min }) => total + (min ?? 0), 0);
  if (limits === undefined || sum <= limits.maxTasks) return [];
  const message = `the pools' min add up to ${sum}, above maxTasks ${limits.maxTasks}; raise maxTasks or lower min`;
  return [error(['limits', 'maxTasks'], message, raw.limits === undefined ? ['pools'] : undefined)];
}

const earlier = (pool: PoolDraft, pools: readonly PoolDraft[]) => pools.slice(0, pool.index);

const at = (pool: PoolDraft, ...names: string[]): Path => ['pools', pool.index, ...names];

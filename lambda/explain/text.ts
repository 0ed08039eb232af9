/** Formats a plan as text for people. */
import { poolOfPart } from '../decision/model/brands.ts';
import type { Capacity } from '../decision/model/config.ts';
import type {
  Action,
  AssignmentRow,
  ForecastRow,
  Plan,
  PoolPart,
  PoolPlan,
  Served,
  UnservedRow,
} from '../decision/model/plan.ts';
import type { Promises } from '../decision/model/promise.ts';
import type { Tags } from '../decision/model/tags.ts';
import { findingLines } from './finding-text.ts';
import { ageText, itOrThem, section, some, tagText, textOf, timeText, transitionsText } from './format.ts';
import { promiseLines } from './promise-text.ts';
import { overrideText, reasonIn, reasonSentence } from './reason-text.ts';

/** The most promised starts in the text. There may be thousands of pending jobs. */
const MOST_PROMISES = 20;
/** What a line of a section begins with. */
const ROW = '    ';
const PROBLEM = '  ! ';

/** What a reader gets of a text: all of it, or its first sentences with at most `most` words. */
export type Wording = (text: string, most: number) => string;

/** The most words of a line, and of one reason in the line of a pool, in a short form. */
export const MOST_WORDS = { line: 40, reason: 20 } as const;

/** One line for each pool, then overrides, jobs, promised starts, forecast and findings. */
export function planText(plan: Plan & Partial<Promises>, wording: Wording = (text) => text): string {
  const { takenAt, pendingJobs = [], pendingJobsLeftOut = 0 } = plan;
  return textOf([
    `plan for ${timeText(plan.takenAt)}`,
    '',
    ...poolLines(plan, wording),
    ...section(
      'overrides',
      plan.pools.flatMap(({ name, overrides }) =>
        overrides.map((override) => `pool "${name}": ${overrideText(override)}`),
      ),
      ROW,
    ),
    ...section('jobs for daemons of others', plan.assignment.flatMap(foreignSentence), PROBLEM),
    ...section(
      'unschedulable jobs',
      plan.unserved.map((row) => wording(unservedSentence(row, plan.takenAt), MOST_WORDS.line)),
      PROBLEM,
    ),
    ...section(
      'when pending jobs start, in the order of the queue',
      promiseLines({ pendingJobs, pendingJobsLeftOut }, { takenAt, most: MOST_PROMISES }),
      ROW,
    ),
    ...section(
      'forecast of what coderd will do within the hour',
      plan.forecast.map((row) => forecastSentence(row, plan.takenAt)),
      ROW,
    ),
    ...section(
      'findings',
      findingLines(plan.findings).map((line) => wording(line, MOST_WORDS.line)),
      PROBLEM,
    ),
    '',
    summary(plan.actions),
  ]);
}

function poolLines(plan: Plan, wording: Wording): readonly string[] {
  const rows = plan.pools.map((pool) => ({ mark: markOf(pool, plan.actions), pool }));
  const nameWidth = Math.max(0, ...rows.map(({ pool }) => pool.name.length));
  const changes = rows.map(({ pool }) => changeOf(pool));
  const changeWidth = Math.max(0, ...changes.map((change) => change.length));
  return rows.map(({ mark, pool }, index) => {
    const change = (changes[index] ?? '').padEnd(changeWidth);
    const why = [...(pool.retiring ? ['retiring'] : []), ...whyText(pool, wording)].join('; ');
    return `  ${mark} ${pool.name.padEnd(nameWidth)}  ${change}  ${why}${countsOf(pool)}`;
  });
}

/** `+`: scales out, `-`: scales in, `~`: tasks get a drain request, `!`: no service. */
function markOf({ name, desired }: PoolPlan, actions: readonly Action[]): string {
  if (desired.from === null || desired.to === null) return '!';
  if (desired.to > desired.from) return '+';
  if (desired.to < desired.from) return '-';
  return actions.some(({ pool, kind }) => poolOfPart(pool) === name && kind === 'ask-to-leave') ? '~' : ' ';
}

/** Of a pool with two kinds of capacity, the reasons of each. */
function whyText({ why, parts = [], daemons }: PoolPlan, wording: Wording): readonly string[] {
  const inPool = reasonIn(daemons);
  if (parts.length > 0) return partsText(parts, wording, inPool);
  return why.map((reason) => wording(inPool(reason), MOST_WORDS.reason));
}

const CAPACITY: Readonly<Record<Capacity, string>> = { 'on-demand': 'on demand', spot: 'Spot' };

/** One sentence for each kind of capacity. */
export function partsText(
  parts: readonly PoolPart[],
  wording: Wording,
  inPool = reasonSentence,
): readonly string[] {
  return parts.map((part) => {
    const why = part.why.map((reason) =>
      reason.code === 'retired' ? 'no tasks remain' : wording(inPool(reason), MOST_WORDS.reason),
    );
    return `${CAPACITY[part.capacity]} ${changeOf(part)}: ${why.join(', ')}`;
  });
}

function changeOf({ desired }: Pick<PoolPlan, 'desired'>): string {
  if (desired.from === null || desired.to === null) return '?';
  return desired.from === desired.to ? `${desired.from}` : `${desired.from} -> ${desired.to}`;
}

function countsOf({ daemons: { unknown = 0, ...daemons }, notCreated }: PoolPlan): string {
  const counts = {
    ...daemons,
    starting: daemons.starting - notCreated,
    'not created yet': notCreated,
    'of unknown use': unknown,
  };
  const parts = Object.entries(counts).flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []));
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

/** One row of the forecast. RFC 3339 times in UTC compare as strings. */
function forecastSentence({ organization, tags, pool, ...row }: ForecastRow, takenAt: string): string {
  const overdue = row.at < takenAt ? ', overdue' : '';
  return `organization "${organization}", tags ${tagText(tags)}: ${transitionsText([row])}${overdue}; ${starterText({ ...row, pool })}`;
}

/** Which pool has a daemon for transitions: `pool "web" provides a daemon for them`. */
export function starterText({ pool, transitions }: Pick<ForecastRow, 'pool' | 'transitions'>): string {
  const them = itOrThem({ transitions });
  return pool === null
    ? `no pool starts a daemon for ${them} now`
    : `pool "${pool}" provides a daemon for ${them}`;
}

function summary(actions: readonly Action[]): string {
  const counts = actions.filter((action) => action.kind === 'set-desired');
  const raised = counts.filter(({ from, to }) => to > from).length;
  const drained = actions.filter(({ kind }) => kind === 'ask-to-leave').length;
  const protectedTasks = actions.length - counts.length - drained;
  if (actions.length === 0) return 'no changes';
  const protections = protectedTasks === 0 ? '' : `, ${some(protectedTasks, 'task')} to protect`;
  return `${some(raised, 'count')} to raise, ${some(drained, 'task')} to drain${protections}, ${some(counts.length - raised, 'count')} to lower`;
}

/** Jobs that daemons outside these pools will run: coderd's own daemons, or another fleet's. */
function foreignSentence({ organization, tags, jobs, pool, served }: AssignmentRow): readonly string[] {
  if (pool !== null) return [];
  const provider = FOREIGN[served] ?? 'they wait for a busy daemon';
  return [`organization "${organization}", tags ${tagText(tags)}: ${some(jobs, 'job')}; ${provider}`];
}

const FOREIGN: Readonly<Partial<Record<Served, string>>> = {
  'by-free': 'a free daemon takes them',
  'by-doubtful':
    'the free daemon that fits may have left: coderd has not seen it for a minute, or it does not take them',
};

/** Which daemon will run jobs: `by a free daemon in "gpu"`. */
export function servedText({ pool, served }: Pick<AssignmentRow, 'pool' | 'served'>): string {
  if (served === 'by-peer') return SERVED[served];
  const whose = pool === null ? 'of others' : `in "${pool}"`;
  return `${SERVED[served]} ${whose}${served === 'by-doubtful' ? ', which may have left' : ''}`;
}

const SERVED: Readonly<Record<Served, string>> = {
  'by-free': 'by a free daemon',
  'by-starting': 'by a starting daemon',
  'by-launch': 'by a new task',
  'when-there-is-room': 'waiting for a launch',
  'by-busy': 'by a busy daemon',
  'by-peer': 'left to another stack',
  'by-doubtful': 'by a free daemon',
};

/** One row of unschedulable jobs as a sentence: the jobs, the cause, and what to do. */
export function unservedSentence(row: UnservedRow, takenAt: string): string {
  const age = (Date.parse(takenAt) - Date.parse(row.oldest)) / 1000;
  const jobs = `organization "${row.organization}", tags ${tagText(row.tags)}: ${some(row.jobs, 'job')} (${row.types.join(', ')}), the oldest waits for ${ageText(age)}`;
  return `${jobs}. ${mismatchText(row)}${failureText(row, takenAt)}`;
}

function mismatchText({ why, tags, closest }: UnservedRow): string {
  if (why === 'scope-is-user')
    return `They have scope=user, and no pool has this scope and owner. Add a pool with the token of this user and tags: { scope: user, owner: ${tags.owner} }, or remove scope from the tags of the template`;
  if (closest === null) return 'No pool is configured for this organization';
  if (why === 'pool-is-retiring')
    return `Pool "${closest.pool}" has these tags but is retiring: give the tags to another pool`;
  return `The closest pool is "${closest.pool}": ${differenceText(closest)}`;
}

function failureText({ failsAt }: UnservedRow, takenAt: string): string {
  if (failsAt === null) return '';
  return Date.parse(failsAt) <= Date.parse(takenAt)
    ? '. coderd is about to fail the oldest'
    : `. coderd fails the oldest at ${timeText(failsAt)}`;
}

function differenceText({ missing, has, surplus }: NonNullable<UnservedRow['closest']>): string {
  const instead = Object.keys(has).length === 0 ? '' : ` (has ${tagText(has)})`;
  if (Object.keys(missing).length > 0)
    return `it lacks ${tagText(missing)}${instead}${caseNote(missing, surplus)}`;
  return `it has ${tagText(surplus)}, but untagged jobs only run on untagged daemons`;
}

/** coderd tells tags apart by case, which a person easily overlooks. */
function caseNote(missing: Tags, surplus: Tags): string {
  const near = Object.keys(surplus).find((own) =>
    Object.keys(missing).some((name) => name.toLowerCase() === own.toLowerCase()),
  );
  return near === undefined ? '' : `. Its tag "${near}" differs in upper and lower case only`;
}

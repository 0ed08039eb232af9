/** A plan for people. What its codes mean is worded here and in reason-text.ts and finding-text.ts, and nowhere else. */
import type {
  Action,
  AssignmentRow,
  ForecastRow,
  Plan,
  PoolPlan,
  UnservedRow,
} from '../decision/model/plan.ts';
import { findingLines } from './finding-text.ts';
import { ageText, itOrThem, some, tagText, transitionsText } from './format.ts';
import { overrideText, reasonSentence } from './reason-text.ts';

/** A plan as a person reads it: a line a pool, overrides, then jobs that nobody serves, then findings. */
export function planText(plan: Plan): string {
  return [
    `plan for ${plan.takenAt}`,
    '',
    ...poolLines(plan),
    ...list(
      'overrides',
      plan.pools.flatMap(({ name, overrides }) =>
        overrides.map((override) => `pool "${name}": ${overrideText(override)}`),
      ),
    ),
    ...section('jobs for daemons that are not ours', plan.assignment.flatMap(foreignSentence)),
    ...section(
      'jobs that nobody can run',
      plan.unserved.map((row) => unservedSentence(row, plan.takenAt)),
    ),
    ...list(
      'what coderd will do by itself within the hour',
      plan.forecast.map((row) => forecastSentence(row, plan.takenAt)),
    ),
    ...section('findings', findingLines(plan.findings)),
    '',
    summary(plan.actions),
  ].join('\n');
}

function poolLines(plan: Plan): readonly string[] {
  const rows = plan.pools.map((pool) => ({ mark: markOf(pool, plan.actions), pool }));
  const nameWidth = Math.max(0, ...rows.map(({ pool }) => pool.name.length));
  const changes = rows.map(({ pool }) => changeOf(pool));
  const changeWidth = Math.max(0, ...changes.map((change) => change.length));
  return rows.map(({ mark, pool }, index) => {
    const change = (changes[index] ?? '').padEnd(changeWidth);
    const why = [...stateText(pool), ...pool.why.map(reasonSentence)].join('; ');
    return `  ${mark} ${pool.name.padEnd(nameWidth)}  ${change}  ${why}${countsOf(pool)}`;
  });
}

/** How a pool is scaled in, where it is not by lease, and whether it is on its way out. */
function stateText({ scaleIn, retiring }: PoolPlan): readonly string[] {
  return [...(scaleIn === 'lease' ? [] : [`scaleIn: ${scaleIn}`]), ...(retiring ? ['retiring'] : [])];
}

/** `+` more tasks, `-` fewer, `~` somebody is asked to leave. */
function markOf({ name, desired }: PoolPlan, actions: readonly Action[]): string {
  if (desired.from === null || desired.to === null) return '!';
  if (desired.to > desired.from) return '+';
  if (desired.to < desired.from) return '-';
  return actions.some(({ pool, kind }) => pool === name && kind === 'ask-to-leave') ? '~' : ' ';
}

function changeOf({ desired }: PoolPlan): string {
  if (desired.from === null || desired.to === null) return '?';
  return desired.from === desired.to ? `${desired.from}` : `${desired.from} -> ${desired.to}`;
}

function countsOf({ daemons }: PoolPlan): string {
  const parts = Object.entries(daemons).flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []));
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ! ${line}`)];
}

function list(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `    ${line}`)];
}

/** Times of one form compare as texts. */
function forecastSentence({ organization, tags, pool, ...row }: ForecastRow, takenAt: string): string {
  const who = pool === null ? 'no pool is woken' : `pool "${pool}" is to be awake`;
  const overdue = row.at < takenAt ? ', overdue' : '';
  return `organization "${organization}", tags ${tagText(tags)}: ${transitionsText([row])}${overdue}; ${who} for ${itOrThem(row)}${pool === null ? ' now' : ''}`;
}

function summary(actions: readonly Action[]): string {
  const counts = actions.filter((action) => action.kind === 'set-desired');
  const raised = counts.filter(({ from, to }) => to > from).length;
  const asked = actions.filter(({ kind }) => kind === 'ask-to-leave').length;
  const kept = actions.length - counts.length - asked;
  if (actions.length === 0) return 'no changes';
  const protections = kept === 0 ? '' : `, ${some(kept, 'task')} to protect`;
  return `${some(raised, 'count')} to raise, ${some(asked, 'task')} to ask to leave${protections}, ${some(counts.length - raised, 'count')} to lower`;
}

/** Jobs that coderd's own or another fleet's daemons will run, as a sentence. */
function foreignSentence({ organization, tags, jobs, pool, served }: AssignmentRow): readonly string[] {
  if (pool !== null) return [];
  const when = served === 'by-free' ? 'a free one takes them' : 'they wait for a busy one';
  return [`organization "${organization}", tags ${tagText(tags)}: ${some(jobs, 'job')}; ${when}`];
}

/** Jobs that nobody can run, as a sentence. */
export function unservedSentence(row: UnservedRow, takenAt: string): string {
  const age = (Date.parse(takenAt) - Date.parse(row.oldest)) / 1000;
  const jobs = `organization "${row.organization}", tags ${tagText(row.tags)}: ${some(row.jobs, 'job')} (${row.types.join(', ')}), the oldest for ${ageText(age)}${row.failsAt === null ? '' : `, failed by coderd at ${row.failsAt}`}`;
  if (row.why === 'scope-is-user')
    return `${jobs}; they have scope=user, and a pool's daemons run jobs of the organization only: remove this tag from the template`;
  if (row.closest === null) return `${jobs}; no pool is configured for this organization`;
  if (row.why === 'pool-is-retiring')
    return `${jobs}; pool "${row.closest.pool}" has these tags and is retiring: give them to another pool`;
  return `${jobs}; pool "${row.closest.pool}" comes closest, ${differenceText(row.closest)}`;
}

function differenceText({ missing, has, surplus }: NonNullable<UnservedRow['closest']>): string {
  const instead = Object.keys(has).length === 0 ? '' : ` (it has ${tagText(has)})`;
  if (Object.keys(missing).length > 0) return `but does not have ${tagText(missing)}${instead}`;
  return `but has ${tagText(surplus)}, and untagged jobs run on untagged daemons only`;
}

/** The tables of a comparison, as Markdown. */
import { some } from '../../../../lambda/explain/format.ts';
import type { ConfigChange, GroupChange, MeasureId, PoolChange } from '../../change/result.ts';
import type { Estimates } from '../../estimate/estimate.ts';
import { dollars, estimateText, type Format, jobsLabel, seconds } from '../../report/parts/numbers.ts';
import { lengthLabel } from '../../report/parts/times.ts';
import { amountsOf } from '../backtest/amounts.ts';
import type { SettingChange } from './setting-changes.ts';
import { arrow, changeText, code, mean, minutes, table } from './words.ts';

/** GitHub cuts a comment off at 65,536 characters. */
const MOST_ROWS = 30;

/** An amount of a month that a short trace is shown for as a whole. */
const IS_AMOUNT: ReadonlySet<MeasureId> = new Set(['dollarsPerMonth', 'minutesPerMonth']);

const ROWS: readonly (readonly [id: MeasureId, name: string, format: Format])[] = [
  ['dollarsPerMonth', 'cost of tasks', dollars],
  ['meanWaitS', 'average wait of people', seconds],
  ['p50WaitS', 'wait of people, p50', seconds],
  ['p90WaitS', 'wait of people, p90', seconds],
  ['p95WaitS', 'wait of people, p95', seconds],
  ['maxWaitS', 'wait of people, longest', seconds],
  ['minutesPerMonth', 'minutes that people wait', minutes],
  ['lostJobs', 'jobs killed, given up or not over', mean],
  ['lateSchedules', 'schedules a minute late', mean],
  ['launches', 'launches of tasks', mean],
  ['idleLaunches', 'launches without a job', mean],
];

export function figuresTable({ trace, fits, measures }: ConfigChange): string {
  const { differenceOf, per } = amountsOf({ trace });
  const rows = ROWS.map(([id, name, format]) => {
    const isAmount = IS_AMOUNT.has(id);
    const difference = isAmount ? differenceOf(measures[id]) : measures[id];
    const { before, after } = difference;
    const label = isAmount ? `${name}, ${per}` : name;
    return [label, format(before), format(after), changeText(difference, format)];
  });
  const unfit = { before: fits.neither + fits.onlyAfter, after: fits.neither + fits.onlyBefore };
  const change = unfit.after - unfit.before;
  rows.splice(ROWS.findIndex(([id]) => id === 'lostJobs') + 1, 0, [
    ...['jobs without a pool', mean(unfit.before), mean(unfit.after)],
    change === 0 ? 'none' : `${change > 0 ? '+' : '-'}${mean(Math.abs(change))}`,
  ]);
  const name = `${jobsLabel(trace.jobs)} in ${lengthLabel({ trace })}`;
  return table([name, 'before', 'after', 'change'], rows);
}

/** Cost and waits of another week, with their ranges. Undefined: they have none. */
export function weeksTable({ before, after }: ConfigChange['estimates']): string | undefined {
  if (after.dollarsPerMonth.range === undefined) return undefined;
  const row = (name: string, id: keyof Estimates, format: Format): readonly string[] => [
    name,
    ...[before, after].map((side) => estimateText(side[id], format)),
  ];
  return table(
    ['in another week', 'before', 'after'],
    [
      row('cost of tasks, a month', 'dollarsPerMonth', dollars),
      row('average wait of people', 'meanWaitS', seconds),
      row('wait of people, p95', 'p95WaitS', seconds),
    ],
  );
}

/** The settings, and the number of further ones. */
export function settingsTable(changes: readonly SettingChange[]): string {
  const rows = changes
    .slice(0, MOST_ROWS)
    .map(({ setting, before, after, ...where }) => [
      code(setting),
      whereText(where),
      code(before),
      code(after),
    ]);
  return limited(table(['setting', 'of', 'before', 'after'], rows), changes.length, 'setting');
}

/** `all pools`, `default, gpu` or `the deployment`. */
function whereText({ pools, isEveryPool }: Pick<SettingChange, 'pools' | 'isEveryPool'>): string {
  if (isEveryPool) return 'all pools';
  const shown = pools.slice(0, 5).map(code).join(', ');
  const more = pools.length > 5 ? ` and ${pools.length - 5} more` : '';
  return pools.length === 0 ? 'the deployment' : `${shown}${more}`;
}

/** The pools that differ. Undefined: none does, or there is only one. */
export function poolsTable({ trace, pools }: ConfigChange): string | undefined {
  const { differenceOf, per } = amountsOf({ trace });
  const differing = pools.filter(
    ({ state, dollarsPerMonth, launches }) =>
      state !== 'kept' || dollarsPerMonth.clarity === 'clear' || launches.clarity === 'clear',
  );
  if (differing.length === 0 || pools.length === 1) return undefined;
  const rows = differing
    .toSorted((a, b) => Math.abs(b.dollarsPerMonth.change) - Math.abs(a.dollarsPerMonth.change))
    .slice(0, MOST_ROWS)
    .map((pool) => [
      poolName(pool),
      arrow(differenceOf(pool.dollarsPerMonth), dollars),
      changeText(differenceOf(pool.dollarsPerMonth), dollars),
      arrow(pool.launches, mean),
      arrow(pool.jobs, mean),
    ]);
  const heads = ['pool', `cost of tasks, ${per}`, 'change', 'launches', 'jobs'];
  return limited(table(heads, rows), differing.length, 'pool');
}

function poolName({ state, names }: PoolChange): string {
  const name = names.map(code).join(' → ');
  return state === 'kept' ? name : `${name} (${state})`;
}

/** The groups of jobs whose waits clearly differ. Undefined: none does. */
export function groupsTable(groups: readonly GroupChange[]): string | undefined {
  const differing = groups.filter(({ meanWaitS, p95WaitS }) =>
    [meanWaitS, p95WaitS].some(({ clarity }) => clarity === 'clear'),
  );
  if (differing.length === 0) return undefined;
  const rows = differing
    .toSorted((a, b) => Math.abs(b.meanWaitS.change) - Math.abs(a.meanWaitS.change))
    .slice(0, MOST_ROWS)
    .map(({ group, jobs, meanWaitS, p95WaitS }) => [
      code(group),
      mean(jobs),
      arrow(meanWaitS, seconds),
      changeText(meanWaitS, seconds),
      arrow(p95WaitS, seconds),
    ]);
  const heads = ['organization and tags', 'jobs of people', 'average wait', 'change', 'p95 wait'];
  return limited(table(heads, rows), differing.length, 'group');
}

function limited(text: string, rows: number, noun: string): string {
  const more = rows - MOST_ROWS;
  return more > 0 ? `${text}\n\n${some(more, `more ${noun}`)}: see \`--json\`.` : text;
}

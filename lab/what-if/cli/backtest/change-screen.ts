/** The result of `--before`: a verdict, a table and notes, as text, Markdown and JSON. */
import { plainTable, wrapLines } from '../../../../cli/shared/plain-table.ts';
import { isoTime } from '../../../../lambda/decision/model/brands.ts';
import type { Change, Difference } from '../../change/change.ts';
import { priceDate } from '../../replay/prices.ts';
import { dollars, type Format, jobsLabel, oneDecimal, seconds, share } from '../../report/parts/numbers.ts';
import { lengthLabel } from '../../report/parts/times.ts';
import type { Trace } from '../../trace/trace.ts';
import { amountsOf } from './amounts.ts';

/** The most that a figure may rise, as a share of its value before. */
export type Limits = {
  readonly maxCostIncrease?: number;
  readonly maxWaitIncrease?: number;
  readonly failOn?: 'unserved';
};

type Compared = {
  readonly trace: Trace;
  /** Undefined: both configurations have the same settings. */
  readonly change: Change | undefined;
  readonly limits: Limits;
  readonly region: string;
};

type Figure = {
  readonly id: keyof Change['figures'];
  readonly name: string;
  readonly format: Format;
  /** The verdict names the figures that a limit can hold. */
  readonly limit?: keyof Limits;
};

const FIGURES: readonly Figure[] = [
  { id: 'dollars', name: 'cost of tasks', format: dollars, limit: 'maxCostIncrease' },
  { id: 'meanWaitS', name: 'average wait of people', format: seconds, limit: 'maxWaitIncrease' },
  { id: 'p95WaitS', name: 'p95 wait of people', format: seconds, limit: 'maxWaitIncrease' },
  { id: 'maxWaitS', name: 'longest wait of people', format: seconds },
  { id: 'lostJobs', name: 'jobs killed, given up or not over', format: oneDecimal, limit: 'failOn' },
  { id: 'jobsWithoutPool', name: 'jobs that lose their pool', format: oneDecimal, limit: 'failOn' },
  { id: 'tooLate', name: 'schedules more than 10 min late', format: oneDecimal },
  { id: 'launches', name: 'launches of tasks', format: oneDecimal },
];

/** A percentage always allows a rise of one dollar a month, or of one second: smaller ones do not matter. */
const LEAST_RISE = 1;

type Row = Figure & {
  readonly difference: Difference;
  /** Undefined: no limit is set. */
  readonly most?: number;
  /** `not decided`: the mean exceeds the limit, but the difference may be chance. */
  readonly outcome?: 'kept' | 'crossed' | 'not decided';
};

function rowsOf({ trace, change, limits }: Compared): readonly Row[] {
  if (change === undefined) return [];
  const { of, per } = amountsOf({ trace });
  return FIGURES.map((figure) => {
    const difference = change.figures[figure.id];
    const name = figure.id === 'dollars' ? `${figure.name} ${per}` : figure.name;
    const limit = figure.limit && limits[figure.limit];
    if (limit === undefined) return { ...figure, name, difference };
    const { before, after, clarity } = difference;
    const least = figure.id === 'dollars' ? of(LEAST_RISE) : LEAST_RISE;
    const most = before + (limit === 'unserved' ? 0 : Math.max(least, before * limit));
    // sums of the same amounts may differ in their last digits
    const isAbove = after > most + 1e-9;
    const outcome = isAbove ? (clarity === 'clear' ? 'crossed' : 'not decided') : 'kept';
    return { ...figure, name, difference, most, outcome };
  });
}

export const isCrossed = (compared: Compared): boolean =>
  rowsOf(compared).some(({ outcome }) => outcome === 'crossed');

/** The limits, and each change that is clear: one test, so that the sentence names what crosses a limit. */
function verdictOf(compared: Compared): string {
  const rows = rowsOf(compared);
  if (rows.length === 0) return 'No effect: both configurations have the same settings.';
  const named = rows.filter(({ limit }) => limit !== undefined);
  const clear = named.filter(({ difference }) => difference.clarity === 'clear');
  const isNone = named.every(({ difference }) => difference.clarity === 'none');
  const [first, ...others] = clear.map(effectText);
  if (first === undefined)
    return `${limitText(rows)}${isNone ? 'No effect on' : 'No clear change of'} cost, waits and jobs in this trace.`;
  return `${limitText(rows)}With the change, ${[first, ...others].join(', ')}.`;
}

const effectText = ({ name, format, difference: { before, after } }: Row): string =>
  `${name} ${format(after)} instead of ${format(before)}${percentText(before, after)}`;

function limitText(rows: readonly Row[]): string {
  const crossed = rows.filter(({ outcome }) => outcome === 'crossed');
  if (crossed.length > 0) return `Limit crossed: ${crossed.map(({ name }) => name).join(', ')}. `;
  if (rows.some(({ outcome }) => outcome === 'not decided')) return 'No limit is clearly crossed. ';
  return rows.some(({ outcome }) => outcome === 'kept') ? 'Within the limits. ' : '';
}

/** ` (+12%)`; nothing where the figure was zero or has grown more than tenfold. */
function percentText(before: number, after: number): string {
  const part = after / before - 1;
  return before <= 0 || part > 9 ? '' : ` (${part < 0 ? '-' : '+'}${share(Math.abs(part))})`;
}

/** `+$31 (+12%) ± $2.10`, `no clear change (+$3.00 ± $5.10)`, `none`. */
function differenceText({ before, after, change, margin, clarity }: Difference, format: Format): string {
  if (clarity === 'none') return 'none';
  const spread = margin === undefined || format(margin) === format(0) ? '' : ` ± ${format(margin)}`;
  const rise = `${change < 0 ? '-' : '+'}${format(Math.abs(change))}`;
  return clarity === 'unclear'
    ? `no clear change (${rise}${spread})`
    : `${rise}${percentText(before, after)}${spread}`;
}

function tableOf(compared: Compared) {
  const { trace } = compared;
  const rows = rowsOf(compared);
  const cells = rows.map(({ name, format, difference, most, outcome }) => [
    ...[name, format(difference.before), format(difference.after), differenceText(difference, format)],
    outcome === undefined || most === undefined ? '' : `${outcome}: at most ${format(most)}`,
  ]);
  const heads = [`${jobsLabel(trace.jobs.length)} in ${lengthLabel({ trace })}`, 'before', 'after', 'change'];
  return rows.some(({ outcome }) => outcome !== undefined)
    ? { heads: [...heads, 'limit'], cells }
    : { heads, cells: cells.map((row) => row.slice(0, -1)) };
}

function notesOf({ change, region }: Compared): readonly string[] {
  if (change === undefined) return [];
  const { seeds, unfit } = change;
  const chance =
    seeds === 1
      ? 'One replay before and one after: chance is unknown. Add --seeds 5.'
      : `Means of ${seeds} pairs of replays. ±: the 95 % interval of the change, which is not clear if it may be 0.`;
  const isUnfit = unfit.before + unfit.after > 0;
  return [
    chance,
    ...(isUnfit
      ? [`The figures leave out jobs that no pool fits: ${unfit.before} before, ${unfit.after} after.`]
      : []),
    `Fargate prices of ${region}, ${priceDate(region)}, of tasks and launches only.`,
  ];
}

/** GitHub renders it. No text of the files is in it: pull requests come from anyone. */
export function markdownOf(compared: Compared): string {
  const { heads, cells } = tableOf(compared);
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  const table = [line(heads), line(heads.map(() => '---')), ...cells.map(line)];
  const notes = notesOf(compared).map((note) => `- ${note}`);
  const verdict = `**${verdictOf(compared)}**`;
  return cells.length === 0 ? verdict : [verdict, table.join('\n'), notes.join('\n')].join('\n\n');
}

/** For a terminal. `width`: characters of a line. */
export function changeText(compared: Compared, width: number): string {
  const { heads, cells } = tableOf(compared);
  const columns = heads.map((head) => ({ head, align: 'left' }) as const);
  const [verdict = '', notes = ''] = [verdictOf(compared), notesOf(compared).join('\n')].map((text) =>
    wrapLines(text, width),
  );
  return cells.length === 0 ? verdict : [verdict, plainTable(columns, cells, width), notes].join('\n\n');
}

export function changeDocument(compared: Compared) {
  const { name, from, to, jobs } = compared.trace;
  return {
    version: 1,
    verdict: { isCrossed: isCrossed(compared), text: verdictOf(compared) },
    trace: { name, from: isoTime(from), to: isoTime(to), jobs: jobs.length },
    isMonthly: amountsOf(compared).isMonthly,
    figures: rowsOf(compared).map(({ id, difference, most, outcome }) => ({
      ...{ figure: id, ...difference },
      ...(outcome === undefined ? {} : { most, outcome }),
    })),
    notes: notesOf(compared),
  };
}

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
  /** One or more. */
  readonly traces: readonly {
    readonly trace: Trace;
    /** Undefined: both configurations have the same settings. */
    readonly change: Change | undefined;
  }[];
  readonly limits: Limits;
  readonly region: string;
};

type One = Compared['traces'][number] & Pick<Compared, 'limits'>;

type Figure = {
  readonly id: keyof Change['figures'] | WorstId;
  readonly name: string;
  readonly format: Format;
  /** The verdict names the figures that a limit can hold. */
  readonly limit?: keyof Limits;
};

type WorstId = 'worstMeanWaitS' | 'worstP95WaitS';

const FIGURES: readonly (Figure & { readonly id: keyof Change['figures'] })[] = [
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

/** All people together can wait as long as before while the builds of one pool wait for each launch. */
const WORST = [
  { id: 'worstMeanWaitS', of: 'meanWaitS', name: 'average wait', format: seconds, limit: 'maxWaitIncrease' },
  { id: 'worstP95WaitS', of: 'p95WaitS', name: 'p95 wait', format: seconds, limit: 'maxWaitIncrease' },
] as const;

type Row = Figure & {
  readonly difference: Difference;
  /** Its organization and tags. Undefined: all jobs. */
  readonly group?: string;
  /** Undefined: no limit is set. */
  readonly most?: number;
  /** `not decided`: the mean exceeds the limit, but the difference may be chance. */
  readonly outcome?: 'kept' | 'crossed' | 'not decided';
};

function rowsOf({ trace, change, limits }: One): readonly Row[] {
  if (change === undefined) return [];
  const { of, per } = amountsOf({ trace });
  const rowOf = (figure: Figure, difference: Difference): Row =>
    judged({ ...figure, difference }, limits, figure.id === 'dollars' ? of(LEAST_RISE) : LEAST_RISE);
  const all = FIGURES.map((figure) => {
    const name = figure.id === 'dollars' ? `${figure.name} ${per}` : figure.name;
    return rowOf({ ...figure, name }, change.figures[figure.id]);
  });
  const worst = WORST.flatMap(({ of: wait, name, ...figure }) => {
    const groups = change.groups.map((each) => {
      const { group } = each;
      return { ...rowOf({ ...figure, name: `${name} of ${shownGroup(group)}` }, each[wait]), group };
    });
    return groups.sort(worstFirst).slice(0, 1);
  });
  const [before, after] = [all.filter(({ limit }) => limit), all.filter(({ limit }) => !limit)];
  // a single group has the waits of all people
  return change.groups.length < 2 ? all : [...before, ...worst, ...after];
}

function judged(row: Row, limits: Limits, least: number): Row {
  const limit = row.limit && limits[row.limit];
  if (limit === undefined) return row;
  const { before, after, clarity } = row.difference;
  const most = before + (limit === 'unserved' ? 0 : Math.max(least, before * limit));
  // sums of the same amounts may differ in their last digits
  const isAbove = after > most + 1e-9;
  const outcome = isAbove ? (clarity === 'clear' ? 'crossed' : 'not decided') : 'kept';
  return { ...row, most, outcome };
}

/** One that crosses its limit comes before one that rises by more and may be chance. */
function worstFirst(a: Row, b: Row): number {
  const excess = ({ difference, most = difference.before }: Row) => difference.after - most;
  const isCrossing = ({ outcome }: Row) => Number(outcome === 'crossed');
  return isCrossing(b) - isCrossing(a) || excess(b) - excess(a);
}

/** Tags come from a file of the pull request, and GitHub renders what is said of them. */
const shownGroup = (group: string): string => `\`${group.replaceAll(UNSAFE, '?').slice(0, MOST_SHOWN)}\``;
const UNSAFE = /[^\p{L}\p{N} .,:=/+_-]/gu;
const MOST_SHOWN = 60;

const parts = ({ traces, limits }: Compared): readonly One[] => traces.map((each) => ({ ...each, limits }));

const isCrossedBy = (one: One): boolean => rowsOf(one).some(({ outcome }) => outcome === 'crossed');

export const isCrossed = (compared: Compared): boolean => parts(compared).some(isCrossedBy);

const SAME = 'No effect: both configurations have the same settings.';

/** Of one trace its own; of several how many cross a limit. */
function verdictOf(compared: Compared): string {
  const all = parts(compared);
  const [one] = all;
  if (one === undefined || one.change === undefined) return SAME;
  if (all.length === 1) return effectOf(one);
  const crossed = all.filter(isCrossedBy).length;
  if (crossed > 0) return `Limit crossed in ${crossed} of ${all.length} traces.`;
  const rows = all.flatMap(rowsOf);
  return limitText(rows).trim() || `Played ${all.length} traces, without limits.`;
}

/** The limits, and each change that is clear: one test, so that the sentence names what crosses a limit. */
function effectOf(one: One): string {
  const rows = rowsOf(one);
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

function tableOf(one: One) {
  const { trace } = one;
  const rows = rowsOf(one);
  const cells = rows.map(({ name, format, difference, most, outcome }) => [
    ...[name, format(difference.before), format(difference.after), differenceText(difference, format)],
    outcome === undefined || most === undefined ? '' : `${outcome}: at most ${format(most)}`,
  ]);
  const heads = [`${jobsLabel(trace.jobs.length)} in ${lengthLabel({ trace })}`, 'before', 'after', 'change'];
  return rows.some(({ outcome }) => outcome !== undefined)
    ? { heads: [...heads, 'limit'], cells }
    : { heads, cells: cells.map((row) => row.slice(0, -1)) };
}

function notesOf(compared: Compared): readonly string[] {
  const { traces, region } = compared;
  const [seeds] = traces.flatMap(({ change }) => change?.seeds ?? []);
  if (seeds === undefined) return [];
  const chance =
    seeds === 1
      ? 'One replay before and one after: chance is unknown. Add --seeds 5.'
      : `Means of ${seeds} pairs of replays. ±: the 95 % interval of the change, which is not clear if it may be 0.`;
  const worst = parts(compared).some((one) => rowsOf(one).some(({ group }) => group !== undefined));
  const unfit = { before: 0, after: 0 };
  for (const { change } of traces) {
    unfit.before += change?.unfit.before ?? 0;
    unfit.after += change?.unfit.after ?? 0;
  }
  const isUnfit = unfit.before + unfit.after > 0;
  return [
    chance,
    ...(worst
      ? [
          'A row with an organization and tags is the worst of all with 20 jobs of people or more. A limit of waits holds for each of them.',
        ]
      : []),
    ...(isUnfit
      ? [`The figures leave out jobs that no pool fits: ${unfit.before} before, ${unfit.after} after.`]
      : []),
    `Fargate prices of ${region}, ${priceDate(region)}, of tasks and launches only.`,
  ];
}

type Parts = {
  readonly verdict: (text: string) => string;
  readonly heading: (text: string) => string;
  readonly table: (table: ReturnType<typeof tableOf>) => string;
  readonly notes: (notes: readonly string[]) => string;
};

function documentOf(compared: Compared, { verdict, heading, table, notes }: Parts): string {
  const all = parts(compared);
  const first = verdict(verdictOf(compared));
  if (all.some(({ change }) => change === undefined)) return first;
  const blocks = all.flatMap((one, at) => [
    ...(all.length === 1 ? [] : [heading(`Trace ${at + 1} of ${all.length}: ${effectOf(one)}`)]),
    table(tableOf(one)),
  ]);
  return [first, ...blocks, notes(notesOf(compared))].join('\n\n');
}

/** GitHub renders it. Of the files it has only names of organizations and tags: pull requests come from anyone. */
export function markdownOf(compared: Compared): string {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  return documentOf(compared, {
    verdict: (text) => `**${text}**`,
    heading: (text) => text,
    table: ({ heads, cells }) => [line(heads), line(heads.map(() => '---')), ...cells.map(line)].join('\n'),
    notes: (notes) => notes.map((note) => `- ${note}`).join('\n'),
  });
}

/** For a terminal. `width`: characters of a line. */
export function changeText(compared: Compared, width: number): string {
  const wrapped = (text: string): string => wrapLines(text, width);
  return documentOf(compared, {
    verdict: wrapped,
    heading: wrapped,
    table: ({ heads, cells }) =>
      plainTable(
        heads.map((head) => ({ head, align: 'left' }) as const),
        cells,
        width,
      ),
    notes: (notes) => wrapped(notes.join('\n')),
  });
}

export function changeDocument(compared: Compared) {
  return {
    version: 1,
    verdict: { isCrossed: isCrossed(compared), text: verdictOf(compared) },
    traces: parts(compared).map((one) => {
      const { name, from, to, jobs } = one.trace;
      return {
        ...{ name, from: isoTime(from), to: isoTime(to), jobs: jobs.length },
        isMonthly: amountsOf(one).isMonthly,
        figures: rowsOf(one).map(({ id, group, difference, most, outcome }) => ({
          ...{ figure: id, ...(group === undefined ? {} : { group }), ...difference },
          ...(outcome === undefined ? {} : { most, outcome }),
        })),
      };
    }),
    notes: notesOf(compared),
  };
}

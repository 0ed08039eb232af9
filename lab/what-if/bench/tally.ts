/** Counts how many promises were kept, as plain data from several threads, and their table (docs/waits.md). */
import type { NoPromise } from '../../../lambda/decision/model/promise.ts';

export type Tally = {
  /** Promises whose job has started. */
  promises: number;
  /** Looks with such promises. These share what is uncertain, so each counts for its share of its look. */
  looks: number;
  /** Looks whose jobs started before p5, and after p95. */
  below: number;
  above: number;
  /** How many promises have each width, in whole seconds from p5 to p95. */
  widths: Record<number, number>;
  /** Rows without a promise, by cause. */
  without: Partial<Record<NoPromise, number>>;
  /** Promises whose job did not start before the end. */
  open: number;
};

/** What a person gets who asks at each look, and at the first look that sees the job. */
export type Calibration = { readonly every: Tally; readonly first: Tally };

export function newTally(): Tally {
  return { promises: 0, looks: 0, below: 0, above: 0, widths: {}, without: {}, open: 0 };
}

export type Kept = {
  readonly startedAt: number;
  readonly p5: number;
  readonly p95: number;
  /** One of the promises of its look: 0 to 1. */
  readonly share: number;
};

/** Counts one promise. All times are in milliseconds. */
export function countKept(tally: Tally, { startedAt, p5, p95, share }: Kept): void {
  tally.promises++;
  tally.looks += share;
  if (startedAt < p5) tally.below += share;
  if (startedAt > p95) tally.above += share;
  const width = Math.round((p95 - p5) / 1000);
  tally.widths[width] = (tally.widths[width] ?? 0) + 1;
}

export function joined(tallies: readonly Tally[]): Tally {
  const sum = newTally();
  for (const tally of tallies) {
    sum.promises += tally.promises;
    sum.below += tally.below;
    sum.above += tally.above;
    sum.looks += tally.looks;
    sum.open += tally.open;
    for (const [width, count] of Object.entries(tally.widths))
      sum.widths[Number(width)] = (sum.widths[Number(width)] ?? 0) + count;
    for (const [why, count] of Object.entries(tally.without) as [NoPromise, number][])
      sum.without[why] = (sum.without[why] ?? 0) + count;
  }
  return sum;
}

/** The share of promises whose job started from p5 to p95, by look. NaN without promises. */
export function coverageOf({ looks, below, above }: Tally): number {
  return (looks - below - above) / looks;
}

/** The median width in seconds; 0 without promises. */
export function medianWidth({ widths, promises }: Tally): number {
  let rest = promises / 2;
  for (const [width, count] of Object.entries(widths)) {
    rest -= count;
    if (rest <= 0) return Number(width);
  }
  return 0;
}

export function shareWithout({ promises, open, without }: Tally): number {
  const none = Object.values(without).reduce((sum, count) => sum + count, 0);
  return none / Math.max(1, none + promises + open);
}

export type ScenarioCalibration = {
  readonly scenario: string;
  readonly hours: number;
  readonly seeds: number;
  readonly every: Tally;
  readonly first: Tally;
};

/** One row for each scenario: every look, then first looks. */
export function calibrationText(rows: readonly ScenarioCalibration[]): string {
  return [
    '| scenario | hours x seeds | promises | p5 to p95 | before p5 | after p95 | median width | first look | without | mostly because |',
    '| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |',
    ...rows.map(rowText),
  ].join('\n');
}

export function rowText({ scenario, hours, seeds, every, first }: ScenarioCalibration): string {
  const [why] = Object.entries(every.without).toSorted(([, a], [, b]) => b - a);
  const cells = [
    ...[scenario, `${hours} x ${seeds}`, every.promises.toLocaleString('en-GB')],
    ...[percent(coverageOf(every)), percent(every.below / every.looks), percent(every.above / every.looks)],
    ...[`${medianWidth(every)} s`, percent(coverageOf(first)), percent(shareWithout(every)), why?.[0] ?? '-'],
  ];
  return `| ${cells.join(' | ')} |`;
}

const percent = (share: number): string => (Number.isNaN(share) ? '-' : `${(share * 100).toFixed(1)} %`);

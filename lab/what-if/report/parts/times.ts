/** Formats times and periods, and finds the busiest day. Every time of the report is UTC; the page says so once. */
import { DAY_MS } from '../../../../lambda/decision/model/units.ts';
import type { Backtest } from '../../replay/result.ts';

const format = (fields: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...fields });
const day = format({ day: 'numeric', month: 'short' });
const weekday = format({ weekday: 'short' });
const time = format({ hour: '2-digit', minute: '2-digit' });
const date = format({ dateStyle: 'long' });

/** `Mon 2 Mar`. This function and the next two take milliseconds since the epoch. */
export const dayLabel = (at: number): string => `${weekday.format(at)} ${day.format(at)}`;
/** `09:10` */
export const timeLabel = (at: number): string => time.format(at);
/** `2 March 2026`, and the time unless it is midnight: `2 March 2026 09:10`. */
const dateLabel = (at: number): string =>
  at % DAY_MS === 0 ? date.format(at) : `${date.format(at)} ${timeLabel(at)}`;
/** Milliseconds since the epoch. */
export type Range = { readonly from: number; readonly to: number };

/** The days that the trace covers, in whole or in part. */
export function daysOf({ trace }: Backtest): readonly Range[] {
  const first = Math.floor(trace.from / DAY_MS) * DAY_MS;
  const days = Math.ceil((trace.to - first) / DAY_MS);
  return Array.from({ length: days }, (_, at) => ({
    from: first + at * DAY_MS,
    to: first + (at + 1) * DAY_MS,
  }));
}

/** `2 March 2026 to 9 March 2026`: from its first moment to its end. */
export const periodLabel = ({ trace }: Backtest): string =>
  `${dateLabel(trace.from)} to ${dateLabel(trace.to)}`;

type Period = Pick<Backtest['trace'], 'from' | 'to'>;

/** `7 days`, `36 hours`, `20 minutes`. */
export function lengthLabel({ trace }: { readonly trace: Period }): string {
  const minutes = Math.round((trace.to - trace.from) / 60_000);
  if (minutes < 30) return minutes < 2 ? 'a minute' : `${minutes} minutes`;
  const length = Math.round((trace.to - trace.from) / 3_600_000);
  if (length % 24 === 0) return length === 24 ? 'a day' : `${length / 24} days`;
  return length === 1 ? 'an hour' : `${length} hours`;
}

/** The index of the busiest of `daysOf`, over all pools of the autoscaler; the first one if equal. */
export function busiestDay(backtest: Backtest): number {
  const busy = daysOf(backtest).map((day) => sum(busyByPool(backtest, day)));
  return Math.max(0, busy.indexOf(Math.max(...busy)));
}

/** The index of the pool with most work on that day; the first one if equal. */
export function busiestPool(backtest: Backtest): number {
  const busy = busyByPool(backtest, daysOf(backtest)[busiestDay(backtest)]);
  return Math.max(0, busy.indexOf(Math.max(...busy)));
}

function busyByPool({ runs, pools, trace, stepS }: Backtest, day: Range | undefined): readonly number[] {
  const stepOf = (at: number): number => Math.max(0, Math.ceil((at - trace.from) / (stepS * 1000)));
  return pools.map(({ name }) => {
    const series = runs[0]?.pools.find(({ pool }) => pool === name);
    return day === undefined ? 0 : sum(series?.busy.slice(stepOf(day.from), stepOf(day.to)) ?? []);
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

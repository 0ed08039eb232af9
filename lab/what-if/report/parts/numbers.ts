/** Formats figures for people: few digits, always with a unit. */
import type { Estimate } from '../../estimate/estimate.ts';

/** Writes a figure. */
export type Format = (value: number) => string;

const grouped = (value: number, decimals: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

export const count = (value: number): string => grouped(value, 0);

/** `1 job`, `10,035 jobs` */
export const jobsLabel = (jobs: number): string => `${count(jobs)} ${jobs === 1 ? 'job' : 'jobs'}`;

/** `$4,112`, `$41.20`, `$0.0041`. */
export function dollars(value: number): string {
  if (value >= 100) return `$${grouped(value, 0)}`;
  if (value >= 0.01 || value === 0) return `$${grouped(value, 2)}`;
  return `$${value.toPrecision(2)}`;
}

/** `$41.20 ($36.10 to $47.00)`; the level alone if it has no range, or both ends read the same. */
export function estimateText(
  { value, range = [value, value] }: Estimate,
  text: Format,
  between = ' to ',
): string {
  const [low, high] = range.map(text);
  return low === high ? text(value) : `${text(value)} (${low}${between}${high})`;
}

/** Three digits without a unit, for columns with ranges: a replay knows no more. */
export const brief = (value: number): string =>
  value >= 100 ? count(value) : String(Number(value.toPrecision(value < 1 ? 2 : 3)));

/** Dollars for each minute of waiting: two decimals, up to four if needed. */
export const priceText = (price: number): string =>
  `$${price.toLocaleString('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: 4,
    useGrouping: false,
  })}`;

/** Dollars and cents without a sign, for columns: `4,112.00`. */
export const cents = (value: number): string => grouped(value, 2);

/** Task-hours: `12.3 h`, `27,720 h`. */
export const hours = (value: number): string => `${grouped(value, value < 100 ? 1 : 0)} h`;

/** A duration in seconds: `0.4 s`, `48 s`, `3.4 min`, `2.1 h`. */
export function seconds(value: number): string {
  if (value < 119.5) return `${oneDecimal(value)} s`;
  if (value < 7170) return `${oneDecimal(value / 60)} min`;
  return `${oneDecimal(value / 3600)} h`;
}

/** A share from 0 to 1 as percent. Only exactly 0 reads `0%`, only exactly 1 reads `100%`. */
export function share(value: number): string {
  const percent = value * 100;
  if (percent > 0 && percent < 0.05) return '<0.1%';
  if (percent < 100 && percent >= 99.95) return '>99.9%';
  return `${percent === 0 || percent === 100 ? percent : percent.toFixed(percent < 10 ? 1 : 0)}%`;
}

/** Compares `value` with `other`: `87% less`, `12% more`, `3.2 times as much`, `as much`. */
export function comparison(value: number, other: number): string {
  const change = value / other - 1;
  if (Math.abs(change) < 0.005) return 'as much';
  if (change >= 1) return `${oneDecimal(change + 1)} times as much`;
  return `${share(Math.abs(change))} ${change < 0 ? 'less' : 'more'}`;
}

/** One decimal below ten, unless it is zero: `3.4`, `3`, `30`. */
export function oneDecimal(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 });
}

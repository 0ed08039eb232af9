/** Numbers of the report for people. */
import type { Estimate } from './interval.ts';

const fixed = (value: number, decimals: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

/** `$31.20`. */
export function dollarText(amount: number): string {
  return `${amount <= -0.005 ? '-' : ''}$${fixed(Math.abs(amount), 2)}`;
}

/** `3.1 s`, `24 s`. */
export function secondText(seconds: number): string {
  return `${fixed(seconds, decimalsOf(seconds))} s`;
}

/** `17.9 h`. */
export function hourText(seconds: number): string {
  return `${fixed(seconds / 3600, 1)} h`;
}

/** `23 %`. */
export function shareText(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** `19.8 to 22.1`. */
export function secondRange({ low, high }: Estimate): string {
  const decimals = decimalsOf(Math.max(Math.abs(low), Math.abs(high)));
  return `${fixed(low, decimals)} to ${fixed(high, decimals)}`;
}

/** `$28.00 to $34.10`. */
export function dollarRange({ low, high }: Estimate): string {
  return `${dollarText(low)} to ${dollarText(high)}`;
}

const decimalsOf = (value: number): number => (Math.abs(value) < 100 ? 1 : 0);

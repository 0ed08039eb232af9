/** How sure the figures of a replay are, as a sentence. */
import type { Estimate, Estimates } from '../../estimate/estimate.ts';
import { dollars, seconds } from './numbers.ts';

/** Undefined: the trace has too few days. */
export function nextWeekText({ dollarsPerMonth, meanWaitS, p95WaitS }: Estimates): string | undefined {
  const cost = rangeText(dollarsPerMonth, dollars);
  if (cost === undefined) return undefined;
  const waits = `mean wait ${rangeText(meanWaitS, seconds)}, p95 ${rangeText(p95WaitS, seconds)}`;
  return `Nine in ten weeks like these days: ${cost} a month of tasks, ${waits}.`;
}

/** `$36 to $47`, or `$36` if both ends read the same. */
function rangeText({ range }: Estimate, text: (value: number) => string): string | undefined {
  if (range === undefined) return undefined;
  const [low, high] = range.map(text);
  return low === high ? low : `${low} to ${high}`;
}

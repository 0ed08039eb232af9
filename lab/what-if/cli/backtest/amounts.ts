/** For which time a screen shows amounts: a month, or the trace itself if it is too short. */
import { MONTH_MS, SHORTEST_FOR_MONTH_MS } from '../../../../lambda/decision/model/units.ts';
import type { Estimates } from '../../estimate/estimate.ts';
import { lengthLabel } from '../../report/parts/times.ts';
import type { Trace } from '../../trace/trace.ts';

type Period = Pick<Trace, 'from' | 'to'>;

export const isMonthly = ({ from, to }: Period): boolean => to - from >= SHORTEST_FOR_MONTH_MS;

export function amountsOf({ trace }: { readonly trace: Period }) {
  const share = isMonthly(trace) ? 1 : (trace.to - trace.from) / MONTH_MS;
  const of = (monthly: number): number => monthly * share;
  return {
    isMonthly: isMonthly(trace),
    /** `a month`, `in 2 hours`. */
    per: isMonthly(trace) ? 'a month' : `in ${lengthLabel({ trace })}`,
    /** What is shown, from an amount of a month. */
    of,
    /** Without the cost of a month if the trace is too short. */
    estimatesOf: ({ dollarsPerMonth, ...waits }: Estimates): Partial<Estimates> =>
      isMonthly(trace) ? { dollarsPerMonth, ...waits } : waits,
  };
}

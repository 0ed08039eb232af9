/** The comparison as a JSON document: times are RFC 3339 text. */
import { isoTime } from '../../../../lambda/decision/model/brands.ts';
import type { ConfigChange } from '../../change/result.ts';
import { amountsOf, isMonthly } from '../backtest/amounts.ts';
import type { Comparison } from './markdown.ts';
import { doubtsOf, remarksOf } from './notes.ts';
import type { Judged } from './verdict.ts';

export function documentOf({ verdict, judged, settings, region, pools }: Comparison) {
  return {
    version: 1,
    verdict,
    settings,
    traces: judged.map(traceOf),
    remarks: remarksOf(settings, region, pools),
  };
}

function traceOf({ change, checks }: Judged) {
  const { trace, ...figures } = isMonthly(change.trace) ? change : withoutMonth(change);
  const { from, to, outages, ...rest } = trace;
  return {
    ...rest,
    from: isoTime(from),
    to: isoTime(to),
    outages: outages.map(({ at, seconds }) => ({ at: isoTime(at), seconds })),
    ...figures,
    checks,
    doubts: doubtsOf(change),
  };
}

/** Amounts of the whole trace instead of a month. */
function withoutMonth(change: ConfigChange) {
  const { differenceOf, estimatesOf } = amountsOf(change);
  const { before, after } = change.estimates;
  const { dollarsPerMonth, minutesPerMonth, ...measures } = change.measures;
  return {
    ...change,
    measures: {
      dollars: differenceOf(dollarsPerMonth),
      minutes: differenceOf(minutesPerMonth),
      ...measures,
    },
    estimates: { before: estimatesOf(before), after: estimatesOf(after) },
    pools: change.pools.map(({ dollarsPerMonth: cost, ...pool }) => ({
      ...pool,
      dollars: differenceOf(cost),
    })),
  };
}

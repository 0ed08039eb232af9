/**
 * The result as a JSON document: times are RFC 3339 text, all other fields as in
 * `backtest/replay/result.ts`.
 */

import type { Backtest, PoolSeries } from '../../backtest/replay/result.ts';
import { isoTime } from '../../lambda/decision/model/brands.ts';

export function documentOf(backtest: Backtest) {
  const { trace, runs } = backtest;
  return {
    ...backtest,
    trace: { ...trace, from: isoTime(trace.from), to: isoTime(trace.to) },
    runs: runs.map((run) => ({ ...run, pools: run.pools.map(seriesOf) })),
  };
}

function seriesOf(series: PoolSeries) {
  return { ...series, changes: series.changes.map((change) => ({ ...change, at: isoTime(change.at) })) };
}

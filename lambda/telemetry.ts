/** Logs and metrics of the function: one log event a look, a few metrics a look. */
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { sentenceOf } from './app/text.ts';
import type { Tick } from './app/tick.ts';
import { sum } from './core/order.ts';

export const logger = new Logger();
const metrics = new Metrics();

/** Logs one look and publishes its metrics. */
export function reportTick({ plan, outcome, failures }: Tick): void {
  logger.info('look', {
    takenAt: plan.takenAt,
    pools: plan.pools,
    actions: plan.actions,
    applied: outcome.applied.length,
    refused: outcome.refused,
    unserved: plan.unserved,
    forecast: plan.forecast,
    findings: plan.findings.map(sentenceOf),
    failures: failures.map(({ message }) => message),
  });
  const total = (state: 'busy' | 'idle' | 'starting'): number =>
    sum(plan.pools, ({ daemons }) => daemons[state]);
  metrics.addMetric(
    'PendingJobs',
    MetricUnit.Count,
    sum(plan.pools, ({ pending }) => pending),
  );
  metrics.addMetric(
    'UnservedJobs',
    MetricUnit.Count,
    sum(plan.unserved, ({ jobs }) => jobs),
  );
  metrics.addMetric('BusyDaemons', MetricUnit.Count, total('busy'));
  metrics.addMetric('IdleDaemons', MetricUnit.Count, total('idle'));
  metrics.addMetric('StartingDaemons', MetricUnit.Count, total('starting'));
  metrics.publishStoredMetrics();
}

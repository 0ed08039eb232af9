/**
 * Writes the logs and metrics of the function: one log event and a few metrics per look, and one
 * more event for each build that died with its task.
 */
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { type Look, lookEvent } from '../look/look-event.ts';
import { OrphanEvents } from '../look/orphan-event.ts';
import type { Clock } from '../look/ports.ts';
import { FullViewAge } from './full-view-age.ts';
import { lookMetrics, poolMetrics, rareMetrics } from './look-metrics.ts';

export const logger = new Logger();

export type ReporterOptions = {
  readonly clock: Clock;
  /** Whether each pool has its own metrics. CloudWatch charges for each of them. */
  readonly perPool: boolean;
};

/** Creates a function that logs a look and publishes its metrics. */
export function reporterOf({ clock, perPool }: ReporterOptions): (look: Look) => void {
  const metrics = new Metrics();
  const age = new FullViewAge(clock);
  const orphans = new OrphanEvents();
  return (look) => {
    const { plan } = look.result;
    const event = lookEvent(look);
    logger.info('look', event);
    for (const orphan of orphans.newOf(plan)) logger.warn('orphan', orphan);
    publish(metrics, lookMetrics(look.result, event, age.after(plan)));
    for (const [name, value] of Object.entries(rareMetrics(plan)))
      if (value !== undefined) publish(metrics, { [name]: value });
    for (const pool of perPool ? plan.pools : []) {
      metrics.addDimension('pool', pool.name);
      publish(metrics, poolMetrics(pool));
    }
  };
}

/**
 * Writes one event in CloudWatch's embedded metric format. Added dimensions apply to this event
 * only.
 */
function publish(metrics: Metrics, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values))
    metrics.addMetric(name, name.endsWith('Age') ? MetricUnit.Seconds : MetricUnit.Count, value);
  metrics.publishStoredMetrics();
}

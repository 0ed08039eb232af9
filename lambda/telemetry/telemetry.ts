/**
 * Writes the logs and metrics of the function: one log event and a few metrics per look, and one
 * more event for each job that started and for each build that died with its task.
 */
import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { type Look, type LookEvent, lookEvent } from '../look/look-event.ts';
import { OrphanEvents } from '../look/orphan-event.ts';
import type { Clock } from '../look/ports.ts';
import { waitLine } from '../look/waits/wait-line.ts';
import { type StartedWaits, WaitRecord } from '../look/waits/wait-record.ts';
import { alarmsOf } from './alarm-limits.ts';
import { FullViewAge } from './full-view-age.ts';
import { lookMetrics, poolMetrics, rareMetrics, waitMetrics } from './look-metrics.ts';
import { type MetricName, WAIT_METRICS } from './metric-names.ts';

/** What a person looks for who reads the log in AWS's console comes before what identifies the invocation. */
export const logger = new Logger({
  logRecordOrder: [
    ...['level', 'message', 'failures', 'findings', 'pending', 'oldestPendingSeconds', 'unserved'],
    ...['applied', 'refused', 'pools', 'groups', 'actions'],
  ],
});

/** Writes `message`, `service` and the fields of the event, and nothing else. */
class ShortFormatter extends LogFormatter {
  override formatAttributes({ message, serviceName }: UnformattedAttributes, fields: LogAttributes): LogItem {
    return new LogItem({ attributes: { message, service: serviceName, ...fields } });
  }
}

/** For events about single jobs. They come often, so they have no fields of the invocation. */
const facts = new Logger({ logFormatter: new ShortFormatter() });

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
  const record = new WaitRecord();
  return (look) => {
    const { plan } = look.result;
    const { waits, missed } = waitsOf(record, look);
    const event = lookEvent(look, missed);
    const values = lookMetrics(look.result, event, age.after(plan));
    const rare = rareMetrics(plan);
    logger[levelOf(event)]('look', { ...event, ...alarmsOf(event, { ...values, ...rare }) });
    for (const wait of waits) facts.info('wait', waitLine(wait));
    for (const orphan of orphans.newOf(plan)) facts.warn('orphan', orphan);
    publish(metrics, { ...values, ...waitMetrics(waits) });
    for (const [name, value] of Object.entries(rare))
      if (value !== undefined) publish(metrics, { [name]: value });
    for (const [pool, values] of perPool ? poolMetrics(look.result) : []) {
      metrics.addDimension('pool', pool);
      publish(metrics, values);
    }
  };
}

/** A look that fails fails its invocation. A finding waits for a person. */
function levelOf({ failures, findings }: LookEvent): 'error' | 'warn' | 'info' {
  if (failures.length > 0) return 'error';
  return findings.length > 0 ? 'warn' : 'info';
}

/** An error here must not cost the event and the metrics of the look. */
function waitsOf(record: WaitRecord, { result, durationMs }: Look): StartedWaits {
  try {
    return record.after(result, durationMs);
  } catch (cause) {
    const error = cause instanceof Error ? cause : String(cause);
    logger.error('computing the waits of started jobs failed; this look tells none', { error });
    return { waits: [], missed: 0 };
  }
}

const AGES = ['OldestPendingAge', 'TickAge'] as const satisfies readonly MetricName[];
/** All others are counts. */
const IN_SECONDS: ReadonlySet<string> = new Set([...AGES, ...Object.keys(WAIT_METRICS)]);

/** Writes one event in CloudWatch's embedded metric format. Added dimensions apply to this event only. */
function publish(metrics: Metrics, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values))
    metrics.addMetric(name, IN_SECONDS.has(name) ? MetricUnit.Seconds : MetricUnit.Count, value);
  metrics.publishStoredMetrics();
}

/** The last day of the function's log by one query of Logs Insights, which AWS charges for by the bytes scanned. */
import * as z from 'zod';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { InsightsQuery, InsightsRow } from '../../adapters/insights.ts';
import { type LogGroup, linesOf } from '../../logs/function-log.ts';
import { type History, HOLDS_MS, type Sample, type Span } from './history.ts';

/** One answer has 10,000 rows. Pools with marks have more than one row for a bin. */
const MOST_ROWS = 5_000;
const WIDTHS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS / 2];
/** Groups with a missing field would not be sure to come. */
const NONE = '-';

/** Rows of this width, in milliseconds. */
export function rowWidthMs(pools: number): number {
  return WIDTHS_MS.find((width) => (pools * DAY_MS) / width <= MOST_ROWS) ?? HOUR_MS / 2;
}

/**
 * Rows by time, pool, marks and alarms. The events of looks and of started jobs both have a list `pools`
 * (docs/internals/aws.md §10).
 */
export function dayQuery({ group, service }: LogGroup, now: EpochMs, widthMs: number): InsightsQuery {
  const commands = [
    linesOf(['look', 'wait'], service),
    'fields jsonParse(@message) as event',
    'unnest event.pools into pool',
    `fields coalesce(pool.marks, "${NONE}") as marks, coalesce(event.alarms, "${NONE}") as alarms`,
    `stats count(pool.busy) as looks, avg(pool.desiredTo) as desired, avg(pool.busy) as busy, avg(pool.tasks) as tasks, max(pool.tasks) as most, max(pool.pending) as waiting, avg(pool.atMax) as atMax, max(event.pending) as pending, max(event.unserved) as unserved, pct(pool.waitMs, 95) as p95Ms by bin(${widthMs / MINUTE_MS}m) as since, pool.name as name, marks, alarms`,
  ];
  return { group, from: (now - DAY_MS) as EpochMs, to: now, query: commands.join('\n| ') };
}

/** Insights writes no zone, and means UTC. */
const since = z
  .string()
  .transform((text) => Date.parse(`${text.replace(' ', 'T')}Z`) as EpochMs)
  .refine((at) => !Number.isNaN(at));
const count = z.coerce.number().catch(0);
const words = z
  .string()
  .catch(NONE)
  .transform((text) => (text === NONE || text === '' ? [] : text.split(' ')));

const rowSchema = z.object({
  since,
  name: z.string().min(1),
  marks: words,
  alarms: words,
  looks: count,
  ...{ desired: count, busy: count, tasks: count, most: count, waiting: count, atMax: count },
  ...{ pending: count, unserved: count },
  p95Ms: z.coerce.number().positive().optional().catch(undefined),
});
type Row = z.output<typeof rowSchema>;

/**
 * Adds the rows of a query as of `now`, up to the first look that is known by itself. A bin has several rows where
 * marks begin or end: each gets its share of the looks.
 */
export function addDay(
  history: History,
  rows: readonly InsightsRow[],
  { now, widthMs }: { readonly now: EpochMs; readonly widthMs: number },
): void {
  const known = rows.flatMap((row) => rowSchema.safeParse(row).data ?? []);
  const end = Math.min(now, history.liveSince ?? now) as EpochMs;
  const bySince = [...Map.groupBy(known, (row) => row.since)].toSorted(([a], [b]) => a - b);
  const looked = bySince.flatMap(([at, own]) => (own.some(({ looks }) => looks > 0) ? [at] : []));
  for (const [at, own] of bySince) {
    const next = looked.find((other) => other > at) ?? at + widthMs;
    // one look a minute may leave a bin of a minute without one
    const to = next - at <= Math.max(widthMs, HOLDS_MS) ? next : at + widthMs;
    addBin(history, own, { from: at, to: Math.min(to, end) as EpochMs });
  }
}

function addBin(history: History, rows: readonly Row[], span: Span): void {
  const { from, to } = span;
  for (const own of Map.groupBy(rows, ({ name }) => name).values()) {
    const all = sum(own, ({ looks }) => looks);
    let at: number = from;
    for (const { name, p95Ms, looks, ...row } of own) {
      if (p95Ms !== undefined) history.p95(span, name, p95Ms);
      if (looks === 0) continue;
      const until = Math.min(to, at + ((to - from) * looks) / all);
      const part = { from: Math.round(at) as EpochMs, to: Math.round(until) as EpochMs };
      history.add(part, name, row satisfies Sample);
      history.addCommon(part, { waiting: row.pending + row.unserved, alarms: row.alarms });
      at = until;
    }
  }
}

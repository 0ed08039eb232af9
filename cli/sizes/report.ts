/** The document of `autoscaler sizes`: for each pool what it used, and which size would have held. */
import { type EpochMs, isoTime } from '../../lambda/decision/model/brands.ts';
import { compare } from '../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { HOUR_MS } from '../../lambda/decision/model/units.ts';
import type { LogSpan } from '../logs/function-log.ts';
import { type Advice, advise, FEWEST_BUILDS, HEADROOM, type Size } from './advise.ts';
import { measure, type PoolReadings, type PoolUsage } from './measure.ts';

export type PoolSizes = PoolUsage & {
  readonly pool: string;
  readonly hasGuard: boolean;
  readonly configured: Size;
  readonly advice: Advice;
};

/** Of all pools. */
type Readings = PoolReadings & { readonly isCut: boolean };

/** Peaks that are shorter may be missed. */
const SAMPLE_S = 30;

export function sizesOf(pools: readonly PoolConfig[], readings: Readings, span: LogSpan) {
  const lines = Map.groupBy(readings.lines, ({ pool }) => pool);
  const seen = Map.groupBy(readings.seen, ({ pool }) => pool);
  const builds = Map.groupBy(readings.builds, ({ pool }) => pool);
  const from = measuredFrom(readings, span);
  const hours = (span.to - from) / HOUR_MS;
  const rows = pools.map((pool): PoolSizes => {
    const usage = measure({
      lines: lines.get(pool.name) ?? [],
      seen: seen.get(pool.name) ?? [],
      builds: builds.get(pool.name) ?? [],
    });
    const configured = { cpu: pool.cpu, memory: pool.memory };
    const hasGuard = pool.scaleIn === 'lease';
    return { pool: pool.name, hasGuard, configured, ...usage, advice: advise(pool, usage, hours) };
  });
  return {
    version: 1,
    /** The first line of any pool, at most `--days` before `to`. */
    from: isoTime(from),
    to: isoTime(span.to),
    headroomPercent: HEADROOM * 100,
    buildsNeeded: FEWEST_BUILDS,
    sampleSeconds: SAMPLE_S,
    /** Whether lines are missing, because one second had more than AWS returns. */
    isCut: readings.isCut,
    pools: rows.toSorted((a, b) => compare(a.pool, b.pool)),
  };
}

export type Sizes = ReturnType<typeof sizesOf>;

/** The first line of any pool: earlier, the deployment may not have existed. */
function measuredFrom({ seen }: Readings, { from, to }: LogSpan): EpochMs {
  const first = seen.reduce((least, { at }) => (at < least ? at : least), to);
  return seen.length === 0 || first < from ? from : first;
}

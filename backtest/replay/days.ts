/** The figures of each day of a replay: what a range of the next days is estimated from. */
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { sum } from '../../lambda/decision/model/collections.ts';
import { DAY_MS, HOUR_MS } from '../../lambda/decision/model/units.ts';
import { weekdayIn } from '../../lambda/decision/model/zones.ts';
import type { DayFigures } from '../estimate/estimate.ts';
import type { Trace } from '../trace/trace.ts';
import type { JobOutcome } from './figures.ts';
import type { Bill } from './ledger.ts';

type Period = Pick<Trace, 'from' | 'to' | 'timezone'>;

/** `waited`: the jobs of people. */
export function dayFigures(
  { from, to, timezone }: Period,
  bills: readonly Bill[],
  waited: readonly JobOutcome[],
): readonly DayFigures[] {
  const count = Math.max(1, Math.floor((to - from) / DAY_MS));
  const dayOf = (at: number): number => Math.min(count - 1, Math.floor((at - from) / DAY_MS));
  const waits = Map.groupBy(waited, ({ job }) => dayOf(job.at));
  return Array.from({ length: count }, (_, day) => {
    const start = plusMs(from, day * DAY_MS);
    const end = day === count - 1 ? to : plusMs(start, DAY_MS);
    return {
      ms: end - start,
      dollars: sum(bills, (bill) => billedBetween(start, end, bill)),
      waitsS: (waits.get(day) ?? []).map(({ waitMs }) => waitMs / 1000),
      isRestDay: REST_DAYS.has(weekdayIn(timezone, plusMs(start, DAY_MS / 2))),
    };
  });
}

const REST_DAYS: ReadonlySet<string | undefined> = new Set(['saturday', 'sunday']);

function billedBetween(start: EpochMs, end: EpochMs, bill: Bill): number {
  const { from, ms, dollarsPerHour, launchedAt, dollarsPerLaunch } = bill;
  const billedMs = Math.max(0, Math.min(from + ms, end) - Math.max(from, start));
  const isLaunched = launchedAt !== undefined && start <= launchedAt && launchedAt < end;
  return (billedMs / HOUR_MS) * dollarsPerHour + (isLaunched ? dollarsPerLaunch : 0);
}

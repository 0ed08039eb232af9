/** The rules that a set of pools can follow to keep daemons free for unforeseen builds. */
import type { StockChoice } from '../model/snapshot.ts';
import { MINUTE_MS } from '../model/units.ts';

export type StockRule = StockChoice['rule'];

const FREE = [1, 2, 3, 5, 8, 13, 20, 30];
const SPARE_MS = [1, 5, 10, 20, 60].map((minutes) => minutes * MINUTE_MS);
const AFTER_BUILD_MS = [15 * MINUTE_MS, 60 * MINUTE_MS, 180 * MINUTE_MS, null];

/** The rule if nothing is known of the builds: idle daemons stay for five minutes. */
export const UNKNOWN_RULE: StockRule = {
  free: 0,
  spareMs: 5 * MINUTE_MS,
  afterBuildMs: null,
  countsEnding: false,
};

/** All rules for pools that have at most so many tasks. Those that keep least come first. */
export function rulesFor(mostTasks: number): readonly StockRule[] {
  const sizes = new Set(FREE.map((free) => Math.min(free, mostTasks)));
  return [
    ...SPARE_MS.map((spareMs) =>
      spareMs === UNKNOWN_RULE.spareMs ? UNKNOWN_RULE : { ...UNKNOWN_RULE, spareMs },
    ),
    ...[...sizes].flatMap((free) =>
      SPARE_MS.flatMap((spareMs) =>
        AFTER_BUILD_MS.flatMap((afterBuildMs) =>
          [true, false].map((countsEnding) => ({ free, spareMs, afterBuildMs, countsEnding })),
        ),
      ),
    ),
  ];
}

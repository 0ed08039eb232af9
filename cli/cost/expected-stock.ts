/**
 * Estimates how many daemons a pool keeps free on average. Three days of made-up builds are learned
 * as the autoscaler learns real ones, and the last day is measured.
 */
import type { DeployedPool } from '../../lambda/config/rules/deployment.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { Learning, SLOT_MS } from '../../lambda/decision/stock/learning.ts';
import {
  priceReplay,
  type ReplayedBuild,
  type ReplayedPools,
  StockReplay,
  UNKNOWN_RULE,
} from '../../lambda/decision/stock/replay.ts';

const DAYS = 3;
const DAY_SLOTS = 48;
/** If a day has more builds, its working hours are made shorter: an estimate must be quick. */
const MOST_BUILDS_A_DAY = 100;

/** Builds that the autoscaler cannot forecast: those that people start, and imports. */
export type Unforeseen = {
  /** In working hours; at other times there are none. */
  readonly perMinute: number;
  readonly workMinutes: number;
  readonly tookMs: number;
};

/** Daemons. Not whole numbers. */
export type ExpectedStock = { readonly atWork: number; readonly else: number };

/** Pools are often alike. */
const known = new Map<string, ExpectedStock>();

export function expectedStock(pool: DeployedPool, load: Unforeseen): ExpectedStock {
  const pools = priceReplay([{ pool, startMs: pool.startTimeMs }]);
  const key = JSON.stringify([pools, load]);
  const stock = known.get(key) ?? measureStock(pools, load);
  known.set(key, stock);
  return stock;
}

function measureStock(pools: ReplayedPools, load: Unforeseen): ExpectedStock {
  const learning = new Learning(pools, 0);
  // its cost is the time of the tasks
  const tasks = new StockReplay(UNKNOWN_RULE, { ...pools, taskPrice: 1, launchPrice: 0 }, 0);
  const random = randomNumbers();
  const workSlots = workSlotsOf(load);
  const freeMs = { atWork: 0, else: 0 };
  for (let slot = 0; slot < DAYS * DAY_SLOTS; slot++) {
    const isWork = slot % DAY_SLOTS < workSlots;
    const builds = isWork ? buildsFrom(slot * SLOT_MS, load, random) : [];
    for (const build of builds) tasks.build(build);
    const end = (slot + 1) * SLOT_MS;
    tasks.playTo(end);
    const spentMs = tasks.takeCost().tasks - builds.length * load.tookMs;
    if (slot >= (DAYS - 1) * DAY_SLOTS) freeMs[isWork ? 'atWork' : 'else'] += spentMs;
    learning.learn(() => builds, end, Number.POSITIVE_INFINITY);
    tasks.rule = learning.chosen.rule;
  }
  const average = (ms: number, slots: number): number => Math.max(0, ms / slots / SLOT_MS);
  return {
    atWork: average(freeMs.atWork, workSlots),
    else: average(freeMs.else, DAY_SLOTS - workSlots),
  };
}

function workSlotsOf({ perMinute, workMinutes }: Unforeseen): number {
  return Math.ceil((Math.min(workMinutes, MOST_BUILDS_A_DAY / perMinute) * MINUTE_MS) / SLOT_MS);
}

/** The builds of a half hour: independent of each other, so the gaps between them are exponential. */
function buildsFrom(start: number, { perMinute, tookMs }: Unforeseen, random: () => number): ReplayedBuild[] {
  const builds: ReplayedBuild[] = [];
  const gap = (): number => (-Math.log(1 - random()) / perMinute) * MINUTE_MS;
  for (let at = start + gap(); at < start + SLOT_MS; at += gap()) builds.push({ at, tookMs });
  return builds;
}

/** Numbers from 0 to 1, the same for every pool. */
function randomNumbers(): () => number {
  let last = 1;
  return () => {
    last = (Math.imul(last, 1_664_525) + 1_013_904_223) >>> 0;
    return last / 2 ** 32;
  };
}

/** Chooses the cheapest size of Fargate that would have held what a pool's builds used. */
import { FARGATE_CPUS, memoriesFor } from '../../lambda/config/schema/fargate-sizes.ts';
import { by } from '../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { HOUR_MS, MONTH_HOURS, SHORTEST_FOR_MONTH_MS } from '../../lambda/decision/model/units.ts';
import { priceOf } from '../../lambda/decision/settings/prices.ts';
import type { Measured, PoolUsage } from './measure.ts';

/** CPU in units (1,024 is one vCPU), memory in MiB. */
export type Size = { readonly cpu: number; readonly memory: number };

export type Advice = {
  readonly verdict:
    | 'keep'
    | 'smaller'
    | 'larger'
    /** A smaller size would have held, but too few builds were measured to advise it. */
    | 'too-few-builds'
    | 'no-builds'
    | 'no-lines'
    /** Fargate has no size that is large enough. */
    | 'none-fits';
  readonly size?: Size;
  /** What the change costs a month; negative: what it saves. Undefined: less than two days were measured. */
  readonly dollarsAMonth?: number;
  /** The builds used all the CPU that they could get. Their real need is unknown. */
  readonly isCpuBound: boolean;
};

/** A size must hold this much more than what was measured. */
export const HEADROOM = 0.25;
/** With fewer measured builds no smaller size is advised: rare large builds may be missing. */
export const FEWEST_BUILDS = 30;

/** From this share of the configured CPU on, builds may wait for CPU. */
const BOUND_SHARE = 0.9;
const BOUND_THROTTLED_PERCENT = 10;

/** Never more CPU than configured: builds that use all of it are slower, but do not fail. */
export function advise(pool: PoolConfig, usage: PoolUsage, hours: number): Advice {
  const { measured, killedBuilds, measuredBuilds } = usage;
  const isCpuBound = measured !== undefined && isBound(pool, measured);
  if (measured === undefined && killedBuilds === 0)
    return { verdict: usage.measuredTasks === 0 ? 'no-lines' : 'no-builds', isCpuBound };
  const least = leastOf(pool, usage, isCpuBound);
  const isThin = measuredBuilds < FEWEST_BUILDS;
  const size = cheapest(pool, isThin ? atLeast(pool, least) : least);
  if (size === undefined) return { verdict: 'none-fits', isCpuBound };
  const change = dollarsAnHour(pool, size) - dollarsAnHour(pool, pool);
  if (change === 0) return { verdict: isThin && isLess(least, pool) ? 'too-few-builds' : 'keep', isCpuBound };
  const verdict = size.memory > pool.memory ? 'larger' : 'smaller';
  if (hours * HOUR_MS < SHORTEST_FOR_MONTH_MS) return { verdict, size, isCpuBound };
  const dollarsAMonth = (change * usage.taskHours * MONTH_HOURS) / hours;
  return { verdict, size, dollarsAMonth, isCpuBound };
}

/** With headroom. A killed build needed more memory than the task had, and an unknown amount of CPU. */
function leastOf(pool: Size, { measured, killedBuilds }: PoolUsage, isCpuBound: boolean): Size {
  const { memory, cpuP95Percent = 0 } = measured ?? {};
  const isKilled = killedBuilds > 0;
  return {
    cpu: isCpuBound || isKilled ? pool.cpu : Math.min(pool.cpu, unitsOf(cpuP95Percent) * (1 + HEADROOM)),
    memory: Math.max(memory?.maxMiB ?? 0, isKilled ? pool.memory : 0) * (1 + HEADROOM),
  };
}

function atLeast(one: Size, other: Size): Size {
  return { cpu: Math.max(one.cpu, other.cpu), memory: Math.max(one.memory, other.memory) };
}

/** Whether Fargate has a cheaper size for this need. */
function isLess(least: Size, pool: PoolConfig): boolean {
  const size = cheapest(pool, least);
  return size !== undefined && dollarsAnHour(pool, size) < dollarsAnHour(pool, pool);
}

function isBound({ cpu }: Size, { cpuP95Percent, throttledPercent = 0 }: Measured): boolean {
  return unitsOf(cpuP95Percent) >= cpu * BOUND_SHARE || throttledPercent >= BOUND_THROTTLED_PERCENT;
}

function unitsOf(percent: number): number {
  return (percent / 100) * 1024;
}

/** The configured size wins over others of the same price. */
function cheapest(pool: PoolConfig, need: Size): Size | undefined {
  const sizes = FARGATE_CPUS.flatMap((cpu) => memoriesFor(cpu).map((memory) => ({ cpu, memory })));
  const isConfigured = ({ cpu, memory }: Size): boolean => cpu === pool.cpu && memory === pool.memory;
  return sizes
    .filter(({ cpu, memory }) => cpu >= need.cpu && memory >= need.memory)
    .toSorted(by((size) => dollarsAnHour(pool, size) - (isConfigured(size) ? 1e-9 : 0)))[0];
}

function dollarsAnHour(pool: PoolConfig, { cpu, memory }: Size): number {
  return priceOf({ ...pool, cpu, memory }) / 1e6;
}

/**
 * The price of a Fargate task, from its size. The assignment only compares prices; it does not need
 * today's exact ones.
 */
import type { Architecture, PoolConfig } from '../model/config.ts';

/** Dollars an hour, for one vCPU and for one GB. */
export type FargatePrices = Readonly<Record<Architecture, { readonly vcpu: number; readonly gb: number }>>;

/**
 * The prices of us-east-1, fetched on 23 September 2026 (docs/internals/aws.md §9). Other regions
 * mostly differ by one factor.
 */
export const VIRGINIA: FargatePrices = {
  arm64: { vcpu: 0.03238, gb: 0.00356 },
  x86_64: { vcpu: 0.04048, gb: 0.004445 },
};
/**
 * Spot is up to 70 % cheaper (docs/internals/aws.md §9). Its price changes, but the order of pools
 * by price does not.
 */
const SPOT_SHARE = 0.3;

/** The price of one task of this pool in micro-dollars an hour, a whole number. */
export function priceOf(pool: PoolConfig): number {
  return Math.round(dollarsOf(pool, VIRGINIA) * 1e6);
}

/** The price of one task of this pool in dollars an hour, with the default storage. */
export function dollarsOf({ cpu, memory, architecture, spot }: PoolConfig, prices: FargatePrices): number {
  const { vcpu, gb } = prices[architecture];
  const dollars = (cpu / 1024) * vcpu + (memory / 1024) * gb;
  return dollars * (spot ? SPOT_SHARE : 1);
}

/**
 * The time from a drain request until the task is gone. Like the start time, it is paid and runs no
 * job.
 */
const DRAIN_MS = 60_000;

/** The cost of starting and stopping one task, in dollars. */
export function launchCost(pool: PoolConfig, startMs: number): number {
  return pool.dollarsPerLaunch + (priceOf(pool) / 1e6) * ((startMs + DRAIN_MS) / 3_600_000);
}

/** What a Fargate task costs. The assignment compares prices; it does not depend on their being today's. */
import type { Architecture, PoolConfig } from '../model/config.ts';

/** Dollars an hour. */
export type FargatePrices = Readonly<Record<Architecture, { readonly vcpu: number; readonly gb: number }>>;

/** In us-east-1, fetched on 2026-09-23 (docs/aws.md §9). Other regions differ by a factor, mostly. */
export const VIRGINIA: FargatePrices = {
  arm64: { vcpu: 0.03238, gb: 0.00356 },
  x86_64: { vcpu: 0.04048, gb: 0.004445 },
};
/** Spot is up to 70 % cheaper (docs/aws.md §9); its price moves, its order doesn't. */
const SPOT_SHARE = 0.3;

/** Micro-dollars an hour of one task of this pool, a whole number. */
export function priceOf(pool: PoolConfig): number {
  return Math.round(dollarsOf(pool, VIRGINIA) * 1e6);
}

/** Dollars an hour of one task of this pool, without more storage than every task has. */
export function dollarsOf({ cpu, memory, architecture, spot }: PoolConfig, prices: FargatePrices): number {
  const { vcpu, gb } = prices[architecture];
  const dollars = (cpu / 1024) * vcpu + (memory / 1024) * gb;
  return dollars * (spot ? SPOT_SHARE : 1);
}

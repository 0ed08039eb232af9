/** The price of a task. Only compared, so it need not be today's. */
import type { Architecture, PoolConfig } from '../model/config.ts';
import { HOUR_MS, MINUTE_MS } from '../model/units.ts';

/** Dollars an hour, for one vCPU and for one GB. */
export type FargatePrices = Readonly<Record<Architecture, { readonly vcpu: number; readonly gb: number }>>;

/** us-east-1 on 23 September 2026 (docs/internals/aws.md §9). Others differ by one factor. */
export const VIRGINIA: FargatePrices = {
  arm64: { vcpu: 0.03238, gb: 0.00356 },
  x86_64: { vcpu: 0.04048, gb: 0.004445 },
};
/** Up to 70 % cheaper (docs/internals/aws.md §9). The order of pools by price stays. */
const SPOT_SHARE = 0.3;

/** The price of one task of this pool in micro-dollars an hour, a whole number. */
export function priceOf(pool: PoolConfig): number {
  return Math.round(dollarsOf(pool, VIRGINIA) * 1e6);
}

/** What decides the price. */
type Priced = Pick<PoolConfig, 'cpu' | 'memory' | 'architecture' | 'spot' | 'instances'>;

/** The price of one task of this pool in dollars an hour, with the default storage. */
export function dollarsOf(
  { cpu, memory, architecture, spot, instances }: Priced,
  prices: FargatePrices,
): number {
  if (instances?.dollarsPerHour !== undefined) return instances.dollarsPerHour;
  const { vcpu, gb } = prices[architecture];
  const dollars = (cpu / 1024) * vcpu + (memory / 1024) * gb;
  return dollars * (spot ? SPOT_SHARE : 1);
}

/** Dollars for a GB through a NAT gateway, in us-east-1 (cli/cost/aws-prices.ts has the sources). */
export const NAT_GB_DOLLARS = 0.045;

/** What looks cost, in the same dollars. */
export const PRICES_OF_LOOKS = {
  natGatewayGb: NAT_GB_DOLLARS,
  // of arm64
  lambdaGbSecond: 0.0000133334,
  lambdaRequest: 0.2e-6,
  sqsRequest: 0.4e-6,
  logsGb: 0.5,
  logsGbMonth: 0.03,
  /** For a call to AWS that CloudTrail records (docs/internals/aws.md §9). */
  guardDutyEvent: 4e-6,
} as const;

/** From a drain request until the task is gone. It is paid and runs no job. */
const DRAIN_MS = MINUTE_MS;

/** The cost of starting and stopping one task, in dollars. */
export function launchCost(pool: PoolConfig, startMs: number): number {
  return pool.dollarsPerLaunch + (priceOf(pool) / 1e6) * ((startMs + DRAIN_MS) / HOUR_MS);
}

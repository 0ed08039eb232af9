/**
 * Fargate's prices by region: Linux, on demand, dollars per hour. From AWS's public price list of
 * ECS
 * (https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonECS/current/<region>/index.json),
 * as public articles quote it with the day on which they read it. A region is missing if no article
 * gave a day and the prices of both architectures.
 */
import type { DeployedPool, Deployment } from '../../../lambda/config/rules/deployment.ts';
import { waitingOf } from '../../../lambda/config/schema/waiting-schema.ts';
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import type { PoolConfig, Waiting } from '../../../lambda/decision/model/config.ts';
import { dollarsOf, type FargatePrices, VIRGINIA } from '../../../lambda/decision/settings/prices.ts';
import { BacktestError } from '../trace/backtest-error.ts';

type RegionPrices = FargatePrices & {
  /** The day on which the prices were read, such as `2026-09-23`. */
  readonly readOn: string;
};

/** Prices of several regions, named after the best known one. arm64 is cheaper in most of them by a fifth. */
const FRANKFURT = { arm64: { vcpu: 0.03725, gb: 0.00409 }, x86_64: { vcpu: 0.04656, gb: 0.00511 } };
const TOKYO = { arm64: { vcpu: 0.04045, gb: 0.00442 }, x86_64: { vcpu: 0.05056, gb: 0.00553 } };
const CANADA = { arm64: { vcpu: 0.03565, gb: 0.00389 }, x86_64: { vcpu: 0.04456, gb: 0.004865 } };
const MUMBAI = { arm64: { vcpu: 0.02383, gb: 0.00261 }, x86_64: { vcpu: 0.04256, gb: 0.004655 } };

const REGIONS: Readonly<Record<string, RegionPrices>> = {
  'us-east-1': { ...VIRGINIA, readOn: '2026-09-23' },
  'us-east-2': { ...VIRGINIA, readOn: '2026-09-10' },
  'us-west-2': { ...VIRGINIA, readOn: '2026-09-28' },
  'ca-central-1': { ...CANADA, readOn: '2026-08-24' },
  'eu-west-1': { ...VIRGINIA, readOn: '2026-08-29' },
  'eu-west-2': { ...FRANKFURT, readOn: '2026-07-02' },
  'eu-central-1': { ...FRANKFURT, readOn: '2026-08-29' },
  'ap-south-1': { ...MUMBAI, readOn: '2026-09-11' },
  'ap-northeast-1': { ...TOKYO, readOn: '2026-09-06' },
  'ap-northeast-2': { ...FRANKFURT, readOn: '2026-10-01' },
  'ap-southeast-1': { ...TOKYO, readOn: '2026-08-21' },
};

/** The price of one task with the default storage. Throws BacktestError if the region is unknown. */
export function dollarsPerHour(pool: PoolConfig, region: string): number {
  return dollarsOf(pool, pricesIn(region));
}

/** Dollars per task-hour, by pool. Throws BacktestError if the region is unknown. */
export function pricesOf({ pools }: Pick<Deployment, 'pools'>, region: string): Record<string, number> {
  return Object.fromEntries(pools.map((pool) => [pool.name, dollarsPerHour(pool, region)]));
}

/** The day on which the prices of the region were read. Throws BacktestError if they are unknown. */
export function priceDate(region: string): string {
  return pricesIn(region).readOn;
}

function pricesIn(region: string): RegionPrices {
  const prices = ownValue(REGIONS, region);
  if (prices !== undefined) return prices;
  const known = Object.keys(REGIONS).join(', ');
  throw new BacktestError(
    `finding Fargate's prices: the region "${region}" is unknown; choose the region with the nearest prices from ${known}`,
  );
}

/** Computes the price of waiting of a whole configuration, and the same configuration at another price. */
/** Dollars for each minute of a person: the most frequent price of the pools; of several, the highest. */
export function priceOfWaiting({ pools }: Pick<Deployment, 'pools'>): number {
  const byPrice = Map.groupBy(pools, ({ waiting }) => waiting.person);
  const [most] = [...byPrice].sort(([a, one], [b, other]) => other.length - one.length || b - a);
  return most?.[0] ?? 0;
}

/** Changes all prices of all pools by the same factor. Numbers of tasks (`warm`, `min`) stay. */
export function atPriceOfWaiting(config: Deployment, price: number): Deployment {
  const configured = priceOfWaiting(config);
  const scaled = (pool: DeployedPool) => ({
    ...pool,
    waiting: scaledWaiting(pool.waiting, configured, price),
  });
  return price === configured ? config : { ...config, pools: config.pools.map(scaled) };
}

/** No factor turns a price of 0 into another price, so the default fractions apply. */
function scaledWaiting(waiting: Waiting, configured: number, price: number): Waiting {
  if (configured === 0) return waitingOf({ person: price }, undefined);
  const scaled = (dollars: number): number => Number(((dollars * price) / configured).toPrecision(6));
  return {
    person: scaled(waiting.person),
    autostart: scaled(waiting.autostart),
    prebuild: scaled(waiting.prebuild),
    stop: scaled(waiting.stop),
  };
}

/**
 * Computes the price of waiting of a whole configuration, and the same configuration at another
 * price.
 */
import type { DeployedPool, Deployment } from '../../lambda/config/rules/deployment.ts';
import { waitingOf } from '../../lambda/config/schema/waiting-schema.ts';
import type { Waiting } from '../../lambda/decision/model/config.ts';

/**
 * Dollars for each minute of a person: the most frequent price of the pools, and the highest of
 * those if there is a tie.
 */
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
  if (configured === 0) return waitingOf({ person: price }, {});
  const scaled = (dollars: number): number => Number(((dollars * price) / configured).toPrecision(6));
  return {
    person: scaled(waiting.person),
    autostart: scaled(waiting.autostart),
    prebuild: scaled(waiting.prebuild),
    stop: scaled(waiting.stop),
  };
}

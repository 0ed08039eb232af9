/** The price of waiting of a whole configuration, and the same configuration at another price. */
import type { DeployedPool, Deployment } from '../../lambda/config/rules/deployment.ts';
import { waitingOf } from '../../lambda/config/schema/waiting-schema.ts';
import type { Waiting } from '../../lambda/decision/model/config.ts';

/** Dollars a minute of a person: what most pools have. Of prices that are equally frequent, the highest. */
export function priceOfWaiting({ pools }: Pick<Deployment, 'pools'>): number {
  const byPrice = Map.groupBy(pools, ({ waiting }) => waiting.person);
  const [most] = [...byPrice].sort(([a, one], [b, other]) => other.length - one.length || b - a);
  return most?.[0] ?? 0;
}

/** All prices of all pools change by the same factor. What a pool keeps by number (`warm`, `min`) stays. */
export function atPriceOfWaiting(config: Deployment, price: number): Deployment {
  const configured = priceOfWaiting(config);
  const scaled = (pool: DeployedPool) => ({
    ...pool,
    waiting: scaledWaiting(pool.waiting, configured, price),
  });
  return price === configured ? config : { ...config, pools: config.pools.map(scaled) };
}

/** Where waiting costs nothing, no factor leads to a price: the usual fractions hold. */
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

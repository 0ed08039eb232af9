/** A static fleet for the busiest hour, at all times, as Coder's documentation sizes it. */
import type { DeployedPool, Deployment } from '../../../lambda/config/rules/deployment.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { Policy } from './policy.ts';

type StaticFleetSettings = {
  /** Share of maxTasks, which may be the size of the validated architecture. */
  readonly share: number;
};

export const STATIC_FLEET: Policy<StaticFleetSettings> = {
  id: 'static',
  title: ({ share }, config) =>
    `static fleet of ${sum(config.pools, (pool) => fleetOf(pool, config, share))}`,
  source: {
    title: "Coder's validated architectures",
    url: 'https://coder.com/docs/admin/infrastructure/validated-architectures',
  },
  // the last one is a task in each pool
  grid: [1, 0.75, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0].map((share) => ({ share })),
  start: ({ config, setDesired }, { share }) => {
    for (const pool of config.pools)
      setDesired(pool.name, fleetOf(pool, config, share), 'the fleet has a fixed size');
  },
};

/** Tasks of one pool. The sum of all `max` may be above maxTasks. */
function fleetOf(pool: DeployedPool, { pools, limits }: Deployment, share: number): number {
  const fitting = Math.min(1, limits.maxTasks / sum(pools, ({ max }) => max));
  return Math.max(1, Math.round(share * fitting * pool.max));
}

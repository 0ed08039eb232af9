/** As many daemons as the busiest hour needs, at all times: what Coder's documentation sizes, and what most run. */
import type { DeployedPool, Deployment } from '../../lambda/config/rules/deployment.ts';
import { sum } from '../../lambda/decision/model/collections.ts';
import type { Policy } from './policy.ts';

export type StaticFleetSettings = {
  /** Of maxTasks, which is the validated architecture's size where it is set so. */
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
  rule:
    'As many provisioners as builds at once, around the clock: 60 for 1,000 users, 120 for 2,000, 180 for 3,000, 600 for 10,000. ' +
    'Here: maxTasks, shared out in proportion to the max of each pool; each pool keeps one at least.',
  canKill: false,
  grid: () => SHARES.map((share) => ({ share })),
  start: ({ config, setDesired }, { share }) => {
    for (const pool of config.pools)
      setDesired(pool.name, fleetOf(pool, config, share), 'the fleet has a fixed size');
  },
};

const SHARES = [1, 0.75, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05];

/** Tasks of one pool: the pools' `max` may add up to more than may run at once. */
function fleetOf(pool: DeployedPool, { pools, limits }: Deployment, share: number): number {
  const fitting = Math.min(1, limits.maxTasks / sum(pools, ({ max }) => max));
  return Math.max(1, Math.round(share * fitting * pool.max));
}

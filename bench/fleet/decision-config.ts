import { checkConfig } from '../../lambda/config/check.ts';
import { batchesOf } from '../../lambda/decision/model/collections.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { Fleet } from './fleet.ts';

/** So many pools a deployment may have. */
const MOST_POOLS = 50;

/** The configuration of a generated deployment of any size, for the decision alone: that knows no bound on pools. */
export function decisionConfig(fleet: Fleet): Config {
  const { pools, ...settings } = fleet.config('http://127.0.0.1');
  const [first, ...others] = batchesOf(pools, MOST_POOLS).map(
    (some) => checkConfig({ ...settings, pools: some }).config,
  );
  if (first === undefined) throw new Error('checking the configuration: the deployment has no pools');
  return { ...first, pools: [first, ...others].flatMap((config) => config.pools) };
}

import { checkConfig } from '../../lambda/config/check.ts';
import { batchesOf } from '../../lambda/decision/model/collections.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { BenchError } from '../shared/bench-error.ts';
import type { Fleet } from './fleet.ts';

/** The most pools of one deployment. */
const MOST_POOLS = 50;

/**
 * The configuration of a generated deployment of any size, for the decision alone, which has no
 * limit on pools. Throws BenchError if the deployment has no pools.
 */
export function decisionConfig(fleet: Fleet): Config {
  const { pools, ...settings } = fleet.config('http://127.0.0.1');
  const [first, ...others] = batchesOf(pools, MOST_POOLS).map(
    (some) => checkConfig({ ...settings, pools: some }).config,
  );
  if (first === undefined)
    throw new BenchError('checking the configuration: the deployment has no pools; generate at least one');
  return { ...first, pools: [first, ...others].flatMap((config) => config.pools) };
}

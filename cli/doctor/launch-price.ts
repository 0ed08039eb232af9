/** Compares `dollarsPerLaunch` of each pool with the size and the route of its image. */
import { unique } from '../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { type LaunchPrice, readLaunchPrice } from '../shared/launch-price.ts';
import type { DoctorContext } from './access.ts';
import { type Check, ok, warn } from './base/check.ts';

/** Prices differ by Region, and images by release. Smaller differences need no change. */
const MOST_OFF = 1 / 3;

/** A check for each pool whose price is known, in the order of the pools. */
export async function checkLaunchPrices({
  config,
  cliEnvironment,
}: DoctorContext): Promise<readonly (readonly Check[])[]> {
  const images = unique(config.pools, imageOf);
  const prices = await Promise.all(
    images.map((pool) => readLaunchPrice(pool, config.aws.network, cliEnvironment)),
  );
  const byImage = new Map(images.map((pool, index) => [imageOf(pool), prices[index]]));
  return config.pools.map((pool) => {
    const price = byImage.get(imageOf(pool));
    return price === undefined ? [] : [checkLaunchPrice(pool, price)];
  });
}

const imageOf = ({ image, architecture }: PoolConfig): string => `${image} ${architecture}`;

function checkLaunchPrice({ name: pool, dollarsPerLaunch }: PoolConfig, price: LaunchPrice): Check {
  const name = `pool "${pool}": price of a launch`;
  const off = Math.abs(dollarsPerLaunch - price.dollars);
  if (off <= MOST_OFF * Math.max(dollarsPerLaunch, price.dollars))
    return ok(name, `$${dollarsPerLaunch} fits ${price.from}`);
  return warn(
    name,
    `dollarsPerLaunch is ${dollarsPerLaunch}, but a launch pulls ${price.from}. Write dollarsPerLaunch: ${price.dollars}, unless a CDK app passes a VPC without this route`,
  );
}

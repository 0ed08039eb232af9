/** What a deployment costs, as sentences. */

import { type DeployedPool, type Deployment, partsOn } from '../../lambda/config/rules/deployment.ts';
import { sum } from '../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { few } from '../../lambda/explain/format.ts';
import { type CostLine, costOf, loadOf, QUIET, totalOf } from '../cost/cost.ts';

/** An idle month and one with builds, with their largest items. `from`: where the number of builds is from. */
export function costText(deployment: Deployment, buildsPerDay: number | undefined, from = ''): string {
  const idle = `an idle month ${monthText(costOf(deployment, QUIET))}`;
  if (buildsPerDay === undefined) return idle;
  const load = loadOf(deployment, buildsPerDay);
  const more =
    load.share > 1 ? '. These builds need more tasks than max and maxTasks allow: jobs will wait' : '';
  return `${idle}; with ${grouped(buildsPerDay)} builds on a working day${from} ${monthText(costOf(deployment, load))}${more}`;
}

/** Dollars a month. */
export type Costs = {
  readonly idle: number;
  readonly buildsPerDay?: number;
  readonly usual?: number;
  /** About the prices. */
  readonly notes?: readonly string[];
};

export function costsOf(deployment: Deployment, buildsPerDay: number | undefined): Costs {
  const monthOf = (load: typeof QUIET): number => totalOf(costOf(deployment, load));
  const notes = priceNotes(deployment.pools);
  return {
    idle: monthOf(QUIET),
    ...(buildsPerDay !== undefined && { buildsPerDay, usual: monthOf(loadOf(deployment, buildsPerDay)) }),
    ...(notes.length > 0 && { notes }),
  };
}

const MOST_ITEMS = 3;

function monthText(lines: readonly CostLine[]): string {
  const largest = lines
    .toSorted((a, b) => b.dollars - a.dollars)
    .slice(0, MOST_ITEMS)
    .map(({ what, dollars }) => ({ what, dollars: Math.round(dollars) }));
  const all = Math.round(totalOf(lines));
  const others = { what: 'others', dollars: all - sum(largest, ({ dollars }) => dollars) };
  const items = [...largest, ...(others.dollars > 0 ? [others] : [])];
  return `$${grouped(all)} (${items.map(({ what, dollars }) => `${what} $${grouped(dollars)}`).join(', ')})`;
}

const grouped = (value: number): string => value.toLocaleString('en-US');

type Sized = Pick<DeployedPool, 'cpu' | 'max'>;

/** vCPUs of the largest tasks that these pools may have at once. */
export const mostVcpus = (pools: readonly Sized[], maxTasks: number): number =>
  Math.ceil(mostCpu(pools, maxTasks) / 1024);

function mostCpu(pools: readonly Sized[], maxTasks: number): number {
  const [first, ...rest] = pools.toSorted((a, b) => b.cpu - a.cpu);
  if (first === undefined || maxTasks <= 0) return 0;
  const tasks = Math.min(first.max, maxTasks);
  return tasks * first.cpu + mostCpu(rest, maxTasks - tasks);
}

/** Of on-demand vCPUs, and of Spot (docs/internals/aws.md §2). */
const NEW_ACCOUNT_VCPUS = 6;

/** What Fargate's quotas have to allow, if a new account lacks it. */
export function quotaNotes({ pools, limits }: Deployment): readonly string[] {
  const needs = (['on-demand', 'spot'] as const).flatMap((kind) => {
    const vcpus = mostVcpus(partsOn(kind, pools), limits.maxTasks);
    return vcpus > NEW_ACCOUNT_VCPUS ? [`${grouped(vcpus)} ${kind} vCPUs`] : [];
  });
  if (needs.length === 0) return [];
  return [
    `At their limits the pools use ${needs.join(' and ')} at once. The quota of a new account is ${NEW_ACCOUNT_VCPUS}: autoscaler setup requests more, and autoscaler doctor shows yours`,
  ];
}

type Priced = Pick<PoolConfig, 'name' | 'spot' | 'capacity' | 'instances'>;

/** Which pools may cost something else than the price of their tasks. */
export function priceNotes(pools: readonly Priced[]): readonly string[] {
  const named = (isMeant: (pool: Priced) => boolean): string => few(pools.filter(isMeant).map(nameOf));
  const onBoth = named(({ capacity, spot }) => capacity !== undefined && spot);
  const onInstances = named(({ instances }) => instances !== undefined);
  return [
    onBoth &&
      `All tasks of ${onBoth} have the price of Spot. While Spot fails, they cost over three times as much`,
    onInstances &&
      `Tasks of ${onInstances} have a price by the hour. AWS bills the hours of their instances instead`,
  ].filter((note) => note !== '');
}

const nameOf = ({ name }: Priced): string => name;

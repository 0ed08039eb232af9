/** What a deployment costs, as sentences. */

import type { Deployment } from '../../lambda/config/rules/deployment.ts';
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
  return `${idle}; with ${buildsPerDay} builds on a working day${from} ${monthText(costOf(deployment, load))}${more}`;
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
  return `$${all} (${items.map(({ what, dollars }) => `${what} $${dollars}`).join(', ')})`;
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

/** What a deployment costs a month: idle, and with builds. */
import { type CostLine, costOf, loadOf, QUIET, totalOf } from '../../infra/cost.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';

/** Dollars a month. */
export type Costs = { readonly idle: number; readonly buildsPerDay?: number; readonly usual?: number };

export function costsOf(deployment: Deployment, buildsPerDay: number | undefined): Costs {
  const idle = totalOf(costOf(deployment, QUIET));
  if (buildsPerDay === undefined) return { idle };
  return { idle, buildsPerDay, usual: totalOf(costOf(deployment, loadOf(deployment, buildsPerDay))) };
}

/** One line for each month, with its largest items. */
export function costText(deployment: Deployment, buildsPerDay: number | undefined, isSeen: boolean): string {
  const idle = `an idle month ${monthText(costOf(deployment, QUIET))}`;
  if (buildsPerDay === undefined)
    return `${idle}. coderd has less than two days of builds: add --builds-per-day N for a usual month`;
  const from = isSeen ? ', as in the last days,' : '';
  const load = loadOf(deployment, buildsPerDay);
  const more =
    load.share > 1 ? '. These builds need more tasks than max and maxTasks allow: jobs will wait' : '';
  return `${idle}; with ${buildsPerDay} builds on a working day${from} ${monthText(costOf(deployment, load))}${more}`;
}

const MOST_ITEMS = 3;

function monthText(lines: readonly CostLine[]): string {
  const largest = lines
    .toSorted((a, b) => b.dollars - a.dollars)
    .slice(0, MOST_ITEMS)
    .map(({ what, dollars }) => `${what} $${Math.round(dollars)}`);
  return `$${Math.round(totalOf(lines))} (${largest.join(', ')})`;
}

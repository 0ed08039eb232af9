/** The grid search: all settings of a policy on one trace, the same objective for every policy. */
import type { Order } from './crew.ts';
import type { Policy, PolicySettings } from './policy.ts';
import type { Figures } from './result.ts';
import type { Run } from './run.ts';

/** What is made as small as possible, in dollars: tasks, waiting, and what came to nothing. */
export const objectiveOf = ({ dollars }: Figures): number => dollars.total;

/** Worlds of other luck for each settings of a policy that can kill. */
const GOES = 3;

/** How many runs a search takes. */
export function runsOf({ canKill }: Policy, grid: readonly PolicySettings[]): number {
  return grid.length * (canKill ? GOES : 1);
}

/** The best settings of the grid, on average over its goes; of several, the first. `luck`: what to add to the seed of the world. */
export async function search(
  policy: Policy,
  grid: readonly PolicySettings[],
  on: {
    readonly order: (driver: Order['driver'], luck: number) => Order;
    readonly run: (order: Order) => Promise<Pick<Run, 'figures'>>;
  },
): Promise<PolicySettings> {
  const goes = Array.from({ length: runsOf(policy, [{}]) }, (_, luck) => luck);
  const runs = grid.map(async (settings) => {
    const driver = { policy: policy.id, settings };
    const done = await Promise.all(goes.map((luck) => on.run(on.order(driver, luck))));
    const objective = done.reduce((sum, { figures }) => sum + objectiveOf(figures), 0) / goes.length;
    return { settings, objective };
  });
  const [first, ...others] = await Promise.all(runs);
  if (first === undefined) throw new Error(`searching the settings of "${policy.id}": its grid is empty`);
  return others.reduce((best, each) => (each.objective < best.objective ? each : best), first).settings;
}

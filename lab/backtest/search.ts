/** The grid search: all settings of a policy on one trace, the same objective for every policy. */
import type { Order } from './crew.ts';
import type { Policy, PolicySettings } from './policy.ts';
import type { Figures } from './result.ts';
import type { Run } from './run.ts';

/** What is made as small as possible, in dollars: tasks, waiting, and what came to nothing. */
export const objectiveOf = ({ dollars }: Figures): number => dollars.total;

/** The best settings of the grid; of several, the first. */
export async function search(
  policy: Policy,
  grid: readonly PolicySettings[],
  on: {
    readonly order: (driver: Order['driver']) => Order;
    readonly run: (order: Order, index: number) => Promise<Pick<Run, 'figures'>>;
  },
): Promise<PolicySettings> {
  const runs = grid.map(async (settings, index) => {
    const { figures } = await on.run(on.order({ policy: policy.id, settings }), index);
    return { settings, objective: objectiveOf(figures) };
  });
  const [first, ...others] = await Promise.all(runs);
  if (first === undefined) throw new Error(`searching the settings of "${policy.id}": its grid is empty`);
  return others.reduce((best, each) => (each.objective < best.objective ? each : best), first).settings;
}

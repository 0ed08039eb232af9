/** The grid search: runs all settings of a policy on one trace, and chooses those with the lowest total. */
import { meanOf } from '../../../lambda/decision/model/collections.ts';
import type { Policy, PolicySettings } from '../policies/policy.ts';
import type { Figures } from '../replay/result.ts';
import type { Run } from '../replay/run.ts';
import { BacktestError } from '../trace/backtest-error.ts';
import type { Order } from './worker-pool.ts';

/** The objective to minimize, in dollars: tasks, waiting and failed jobs. */
const objectiveOf = ({ dollars }: Figures): number => dollars.total;

/** Runs for each point of the grid, if the policy can kill: which builds it kills depends on the seed. */
const REPEATS = 3;

export function runsOf({ canKill }: Policy, grid: readonly PolicySettings[]): number {
  return grid.length * (canKill ? REPEATS : 1);
}

/** Makes and runs the orders of a search. `seedOffset`: the number to add to the seed of the world. */
type SearchRuns = {
  readonly order: (driver: Order['driver'], seedOffset: number) => Order;
  readonly run: (order: Order) => Promise<Pick<Run, 'figures'>>;
};

export type GridPointResult = { readonly settings: PolicySettings; readonly repeats: readonly Figures[] };

export function runGrid(
  policy: Policy,
  grid: readonly PolicySettings[],
  on: SearchRuns,
): Promise<readonly GridPointResult[]> {
  const seedOffsets = Array.from({ length: runsOf(policy, [{}]) }, (_, seedOffset) => seedOffset);
  return Promise.all(
    grid.map(async (settings) => {
      const driver = { policy: policy.id, settings };
      const done = await Promise.all(seedOffsets.map((seedOffset) => on.run(on.order(driver, seedOffset))));
      return { settings, repeats: done.map(({ figures }) => figures) };
    }),
  );
}

/** The settings with the lowest mean objective; the first of equal ones. Throws BacktestError without any. */
export async function search(
  policy: Policy,
  grid: readonly PolicySettings[],
  on: SearchRuns,
): Promise<PolicySettings> {
  const results = await runGrid(policy, grid, on);
  const [first, ...others] = results.map(({ settings, repeats }) => ({
    settings,
    objective: meanOf(repeats.map(objectiveOf)),
  }));
  if (first === undefined)
    throw new BacktestError(
      `searching the settings of "${policy.id}": its grid is empty; add its default settings`,
    );
  return others.reduce((best, each) => (each.objective < best.objective ? each : best), first).settings;
}

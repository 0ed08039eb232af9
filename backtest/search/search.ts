/** The grid search: all settings of a policy on one trace, the same objective for every policy. */
import { meanOf } from '../../simulator/base/mean.ts';
import type { Policy, PolicySettings } from '../policies/policy.ts';
import type { Figures } from '../replay/result.ts';
import type { Run } from '../replay/run.ts';
import type { Order } from './worker-pool.ts';

/** What is made as small as possible, in dollars: tasks, waiting, and what came to nothing. */
export const objectiveOf = ({ dollars }: Figures): number => dollars.total;

/** Worlds of other luck for each settings of a policy that can kill. */
const GOES = 3;

/** How many runs a search takes. */
export function runsOf({ canKill }: Policy, grid: readonly PolicySettings[]): number {
  return grid.length * (canKill ? GOES : 1);
}

/** Where the runs of a search are made. `luck`: what to add to the seed of the world. */
export type SearchField = {
  readonly order: (driver: Order['driver'], luck: number) => Order;
  readonly run: (order: Order) => Promise<Pick<Run, 'figures'>>;
};

/** What settings came to, in each of their goes. */
export type Tried = { readonly settings: PolicySettings; readonly goes: readonly Figures[] };

/** Runs all settings of a grid. */
export function tryAll(
  policy: Policy,
  grid: readonly PolicySettings[],
  on: SearchField,
): Promise<readonly Tried[]> {
  const lucks = Array.from({ length: runsOf(policy, [{}]) }, (_, luck) => luck);
  return Promise.all(
    grid.map(async (settings) => {
      const driver = { policy: policy.id, settings };
      const done = await Promise.all(lucks.map((luck) => on.run(on.order(driver, luck))));
      return { settings, goes: done.map(({ figures }) => figures) };
    }),
  );
}

/** The best settings of the grid, on average over its goes; of several, the first. */
export async function search(
  policy: Policy,
  grid: readonly PolicySettings[],
  on: SearchField,
): Promise<PolicySettings> {
  const tried = await tryAll(policy, grid, on);
  const [first, ...others] = tried.map(({ settings, goes }) => ({
    settings,
    objective: meanOf(goes.map(objectiveOf)),
  }));
  if (first === undefined) throw new Error(`searching the settings of "${policy.id}": its grid is empty`);
  return others.reduce((best, each) => (each.objective < best.objective ? each : best), first).settings;
}

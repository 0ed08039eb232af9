/** A lower bound of the cost of tasks: a schedule without any wait that knows every arrival in advance. */
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import { type Bill, type BoundJob, type BoundPool, inOrder } from './demand.ts';
import { billMixedPools } from './mixed-pools.ts';
import { billOnePool } from './one-pool.ts';
import { type Piece, piecesOf } from './pieces.ts';

type Cost = { readonly hours: number; readonly dollars: number; readonly launches: number };

/** The total, and the cost of each pool in the given order. */
type Clairvoyant = Cost & { readonly pools: readonly Cost[] };

/**
 * Each task pays for its start and for all time until the end of its last job, and at least one
 * minute. Stopping is free, and `max` does not apply. `billOnePool` and `billMixedPools` state when
 * no schedule reaches the bound. It counts whole milliseconds, so the order of jobs does not change
 * the result.
 */
export async function clairvoyant(
  jobs: readonly BoundJob[],
  pools: readonly BoundPool[],
): Promise<Clairvoyant> {
  const bills: Bill[] = pools.map(() => NOTHING);
  for (const piece of piecesOf(inOrder(jobs), pools))
    for (const [pool, bill] of await billOf(piece, pools))
      bills[pool] = sumOf([bills[pool] ?? NOTHING, bill]);
  const costs = bills.map((bill, pool) => costOf(bill, pools[pool]?.dollarsPerHour ?? 0));
  const { billedMs, launches } = sumOf(bills);
  const dollars = costs.reduce((sum, cost) => sum + cost.dollars, 0);
  return { hours: billedMs / HOUR_MS, dollars, launches, pools: costs };
}

const NOTHING: Bill = { billedMs: 0, launches: 0 };

function sumOf(bills: readonly Bill[]): Bill {
  return bills.reduce(
    (sum, { billedMs, launches }) => ({
      billedMs: sum.billedMs + billedMs,
      launches: sum.launches + launches,
    }),
    NOTHING,
  );
}

async function billOf(
  piece: Piece,
  pools: readonly BoundPool[],
): Promise<readonly (readonly [pool: number, bill: Bill])[]> {
  const [pool = 0, ...others] = piece.pools;
  if (others.length > 0) return billMixedPools(piece, pools);
  return [[pool, billOnePool(piece.jobs, pools[pool]?.startMs ?? 0)]];
}

function costOf({ billedMs, launches }: Bill, dollarsPerHour: number): Cost {
  const hours = billedMs / HOUR_MS;
  return { hours, dollars: hours * dollarsPerHour, launches };
}

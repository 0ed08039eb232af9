/** What the tasks of a schedule without any wait cost at least, for whoever knows every arrival beforehand. */
import { type Bill, type BoundJob, type BoundPool, HOUR_MS, inOrder } from './demand.ts';
import { billMixedPools } from './mixed-pools.ts';
import { billOnePool } from './one-pool.ts';
import { type Piece, piecesOf } from './pieces.ts';

type Cost = { readonly hours: number; readonly dollars: number; readonly launches: number };

/** In all, and of each pool in the order given. */
export type Clairvoyant = Cost & { readonly pools: readonly Cost[] };

/**
 * A bound: each task pays its start, all it runs and idles until its last job's end, and a minute at least; stopping is free,
 * and `max` bounds nothing. `billOnePool` and `billMixedPools` say where no schedule may attain it. Counts milliseconds, so that the
 * order of jobs changes no digit.
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

/** Runs of one trace in the simulated world, with all seeds, and what each of its days cost. */
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { meanOf, sum } from '../../../lambda/decision/model/collections.ts';
import { MONTH_MS } from '../../../lambda/decision/model/units.ts';
import { monthlyOwnDollars } from '../cli/backtest/subject.ts';
import type { DayFigures } from '../estimate/estimate.ts';
import { withoutUnservedJobs } from '../replay/fitting.ts';
import { atPriceOfWaiting } from '../replay/prices.ts';
import { LONGEST_WAIT_MINUTES, lostJobs } from '../replay/result.ts';
import type { Run } from '../replay/run.ts';
import { orderOf } from '../search/compare.ts';
import type { Order, WorkerPool } from '../search/worker-pool.ts';
import type { Trace } from '../trace/trace.ts';

export const REGION = 'us-east-1';
/** Dollars for each minute of a person. */
export const PRICES = [0.02, 0.1, 1];

export type Subject = { readonly trace: Trace; readonly config: Deployment };
export type Bench = { readonly threads: WorkerPool; readonly seeds: readonly number[] };

/** Without the jobs that no pool can run. */
export function subjectOf(trace: Trace, config: Deployment): Subject {
  return withoutUnservedJobs({ trace, config });
}

/** The runs of one policy with one setting, one for each seed. `ownDollars`: of the autoscaler itself, for each day. */
export type Runs = { readonly runs: readonly Run[]; readonly ownDollars: number };

/** At a price of waiting, which the autoscaler knows. */
export async function ownRuns({ trace, config }: Subject, price: number, bench: Bench): Promise<Runs> {
  const subject = { trace, config: atPriceOfWaiting(config, price) };
  const { runs } = await runsOf(subject, { policy: 'autoscaler' }, bench);
  const month = monthlyOwnDollars({ trace, config });
  return { runs, ownDollars: (month * (trace.to - trace.from)) / MONTH_MS / (runs[0]?.days.length ?? 1) };
}

/** A price changes what waits cost, not what another policy does. */
export async function runsOf(
  subject: Subject,
  driver: Order['driver'],
  { threads, seeds }: Bench,
): Promise<Runs> {
  // a minute costs one dollar here; `daysAt` has the price
  const orders = seeds.map((seed) =>
    orderOf({ ...subject, seed, valueOfMinute: 1, region: REGION }, driver, false),
  );
  return { runs: await Promise.all(orders.map((order) => threads.run(order))), ownDollars: 0 };
}

/** Dollars of each day at a price of waiting, as a mean over the seeds. What failed jobs cost is spread evenly. */
export function daysAt(price: number, { runs, ownDollars }: Runs): readonly number[] {
  const count = runs[0]?.days.length ?? 0;
  const failures = meanOf(runs.map(({ figures }) => figures.dollars.failures)) * price;
  return Array.from({ length: count }, (_, day) => {
    const each = runs.map(({ days }) => dollarsAt(price, days[day]));
    return meanOf(each) + ownDollars + failures / count;
  });
}

function dollarsAt(price: number, day: DayFigures | undefined): number {
  if (day === undefined) return 0;
  return day.dollars + price * sum(day.waitsS, (wait) => Math.min(wait / 60, LONGEST_WAIT_MINUTES));
}

/** Means over the seeds, as text. */
export function cellsOf({ runs }: Runs): readonly string[] {
  const mean = (of: (run: Run) => number): number => meanOf(runs.map(of));
  return [
    mean(({ figures }) => figures.tasks.hours).toFixed(1),
    mean(({ figures }) => figures.tasks.launches).toFixed(0),
    mean(({ figures }) => figures.waitOfPeople.meanS).toFixed(1),
    mean(({ figures }) => figures.waitOfPeople.p95S).toFixed(0),
    mean(({ figures }) => lostJobs(figures)).toFixed(0),
  ];
}

export const CELL_HEADS = ['hours', 'launches', 'mean s', 'p95 s', 'lost'];

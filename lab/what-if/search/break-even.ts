/**
 * Finds how few builds make one daemon around the clock cheaper than the autoscaler. Both replay ever smaller parts of
 * the trace, so a part has the hours, the bursts and the lengths of the user's own builds. A total has tasks, launches,
 * the autoscaler itself, waiting and lost jobs.
 */
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';
import { perMonth } from '../estimate/estimate.ts';
import { STATIC_FLEET } from '../policies/static-fleet.ts';
import { withoutUnservedJobs } from '../replay/fitting.ts';
import type { BreakEven, Figures, PolicyRun, Volume } from '../replay/result.ts';
import type { Trace } from '../trace/trace.ts';
import { type CompareOptions, orderOf, ownRun } from './compare.ts';
import { fewerBuilds } from './fewer-builds.ts';
import { Progress } from './worker-pool.ts';

export type BreakEvenOptions = Omit<CompareOptions, 'ownDollars'> & {
  /** Dollars a month of the autoscaler itself with the builds of this trace. */
  readonly ownDollarsOf: (trace: Trace, config: Deployment) => number;
  /** The replay of the whole trace. */
  readonly ours: Pick<PolicyRun, 'figures'>;
};

/** A static fleet has a task in each pool at least. */
const ONE_DAEMON = { policy: STATIC_FLEET.id, settings: { share: 0 } } as const;
/** Fewer builds do not tell one day from another. */
const LEAST_A_DAY = 1;
const MOST_HALVES = 12;

/** The same options give the same figures. */
export async function findBreakEven(given: BreakEvenOptions): Promise<BreakEven> {
  const options = { ...given, ...withoutUnservedJobs(given) };
  const { trace, config, seed, ours, ownDollarsOf, workerPool } = options;
  const ownFigures = async (part: Trace, done: (share: number) => void): Promise<Figures> => {
    if (part === trace) return ours.figures;
    const played = { ...options, trace: part, ownDollars: ownDollarsOf(part, config) };
    return (await ownRun(played, done, false)).figures;
  };
  const progress = new Progress(options, MOST_HALVES);
  const partOf = fewerBuilds(trace, seed);
  const monthly = (dollars: number): number => perMonth(dollars, trace.to - trace.from);
  const whole = ours.figures.dollars.total;
  const volumes: Volume[] = [];
  for (let half = 0; half < MOST_HALVES; half++) {
    const part = half === 0 ? trace : partOf(0.5 ** half);
    const buildsPerDay = (part.jobs.length * DAY_MS) / (trace.to - trace.from);
    if (half > 0 && buildsPerDay < LEAST_A_DAY) break;
    const done = progress.add('one daemon', 1);
    const { figures: one } = await workerPool.run(orderOf({ ...options, trace: part }, ONE_DAEMON, false));
    // fewer builds cost the autoscaler no more than all of them
    const isOpen = part === trace || one.dollars.total < whole;
    const own = isOpen ? await ownFigures(part, done) : undefined;
    volumes.push({
      buildsPerDay,
      autoscaler: own && monthly(own.dollars.total),
      oneDaemon: monthly(one.dollars.total),
      oneDaemonTasks: monthly(one.dollars.tasks),
    });
    if (own === undefined) continue;
    if (one.dollars.total < own.dollars.total || own.dollars.total <= one.dollars.tasks) break;
  }
  return { daemons: config.pools.length, volumes };
}

/**
 * Replays a trace before and after a change of the configuration. Both replays of a pair have the same
 * jobs and seed, so their differences vary less than the figures do (docs/adr/0036).
 */
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { meanOf, ownValue, sum } from '../../../lambda/decision/model/collections.ts';
import { SHORTEST_FOR_MONTH_MS } from '../../../lambda/decision/model/units.ts';
import { perMonth, studentT } from '../estimate/estimate.ts';
import { withoutUnservedJobs } from '../replay/fitting.ts';
import { type Figures, lostJobs } from '../replay/result.ts';
import { orderOf } from '../search/compare.ts';
import { Progress, type WorkerPool } from '../search/worker-pool.ts';
import type { Trace } from '../trace/trace.ts';

/** Figures before and after the change. */
export type Pair = { readonly before: number; readonly after: number };

/** Means of all pairs. `change`: after less before. */
export type Difference = Pair & {
  readonly change: number;
  /** Half of the 95 % confidence interval of `change`. Undefined: there is one pair. */
  readonly margin?: number;
  /** `unclear`: 0 is within the margin. `none`: no pair differs. */
  readonly clarity: 'none' | 'unclear' | 'clear';
};

export type Change = {
  readonly seeds: number;
  /** Jobs of the trace that no pool can run. They are in no replay of this side. */
  readonly unfit: Pair;
  readonly figures: ReturnType<typeof figuresOf>;
  /** The waits of people by organization and tags, where both sides serve `LEAST_JOBS` of their jobs. */
  readonly groups: readonly GroupChange[];
};

type GroupChange = {
  /** `default` or `default gpu=a10`. */
  readonly group: string;
  readonly meanWaitS: Difference;
  readonly p95WaitS: Difference;
};

/** The waits of fewer jobs are chance. */
const LEAST_JOBS = 20;

type ChangeOptions = {
  readonly trace: Trace;
  readonly before: Deployment;
  readonly after: Deployment;
  /** One pair of replays for each. */
  readonly seeds: readonly number[];
  readonly region: string;
  readonly workerPool: WorkerPool;
  readonly onProgress: (share: number, doing: string) => void;
};

/** The same options give the same figures, with any number of threads. */
export async function changeOf(options: ChangeOptions): Promise<Change> {
  const { trace, seeds, region, workerPool } = options;
  const before = withoutUnservedJobs({ trace, config: options.before });
  const after = withoutUnservedJobs({ trace, config: options.after });
  const progress = new Progress(options, 2 * seeds.length);
  const replay = async (side: typeof before, seed: number): Promise<Figures> => {
    const order = orderOf({ ...side, seed, region, valueOfMinute: 0 }, { policy: 'autoscaler' }, false);
    return (await workerPool.run(order, progress.add(`seed ${seed}`, 1))).figures;
  };
  const replays = await Promise.all(
    seeds.map((seed) => Promise.all([replay(before, seed), replay(after, seed)])),
  );
  const served = new Set(after.trace.jobs);
  const losing = before.trace.jobs.filter((job) => !served.has(job)).length;
  return {
    seeds: seeds.length,
    unfit: { before: before.unfit, after: after.unfit },
    figures: figuresOf(replays, trace, losing),
    groups: groupsOf(replays),
  };
}

type Replays = readonly (readonly [before: Figures, after: Figures])[];

/** Waits are those of jobs that people wait for. A trace of less than two days tells no cost of a month. */
function figuresOf(replays: Replays, { from, to }: Trace, losing: number) {
  const factor = to - from < SHORTEST_FOR_MONTH_MS ? 1 : perMonth(1, to - from);
  const difference = (of: (figures: Figures) => number): Difference =>
    differenceOf(replays.map(([before, after]) => ({ before: of(before), after: of(after) })));
  return {
    dollars: difference(({ dollars }) => dollars.tasks * factor),
    meanWaitS: difference(({ waitOfPeople }) => waitOfPeople.meanS),
    p95WaitS: difference(({ waitOfPeople }) => waitOfPeople.p95S),
    maxWaitS: difference(({ waitOfPeople }) => waitOfPeople.maxS),
    lostJobs: difference(lostJobs),
    jobsWithoutPool: differenceOf(replays.map(() => ({ before: 0, after: losing }))),
    tooLate: difference(({ executor }) => executor.tooLate),
    launches: difference(({ tasks }) => tasks.launches),
  };
}

function groupsOf(replays: Replays): readonly GroupChange[] {
  const all = replays.flat().map(({ waitOfPeopleByGroup }) => waitOfPeopleByGroup);
  const names = new Set(all.flatMap(Object.keys));
  const isLarge = (name: string) => all.every((groups) => (ownValue(groups, name)?.jobs ?? 0) >= LEAST_JOBS);
  return [...names].filter(isLarge).map((group) => {
    const difference = (of: 'meanS' | 'p95S'): Difference => {
      const wait = ({ waitOfPeopleByGroup }: Figures) => ownValue(waitOfPeopleByGroup, group)?.[of] ?? 0;
      return differenceOf(replays.map(([before, after]) => ({ before: wait(before), after: wait(after) })));
    };
    return { group, meanWaitS: difference('meanS'), p95WaitS: difference('p95S') };
  });
}

export function differenceOf(pairs: readonly Pair[]): Difference {
  const changes = pairs.map(({ before, after }) => after - before);
  const change = meanOf(changes);
  const means = {
    before: meanOf(pairs.map(({ before }) => before)),
    after: meanOf(pairs.map(({ after }) => after)),
    change,
  };
  // sums of the same amounts may differ in their last digits
  if (changes.every((each) => Math.abs(each) < 1e-9)) return { ...means, margin: 0, clarity: 'none' };
  if (pairs.length < 2) return { ...means, clarity: 'clear' };
  const freedom = pairs.length - 1;
  const variance = sum(changes, (each) => (each - change) ** 2) / freedom;
  const margin = studentT(CONFIDENCE, freedom) * Math.sqrt(variance / pairs.length);
  return { ...means, margin, clarity: Math.abs(change) <= margin ? 'unclear' : 'clear' };
}

const CONFIDENCE = 0.95;

/**
 * Plays a trace in milliseconds of computing time, without coderd, ECS and the function: the learner
 * chooses rules for free daemons as the function does (lambda/decision/stock/), and one simple world
 * for the pools that share jobs launches, runs and drains by them. It is close to a replay, not equal:
 * `tune` plays all prices in it, and multiplies the levels by what replays have for each 1 of it.
 */
import type { DeployedPool, Deployment } from '../../../lambda/config/rules/deployment.ts';
import { isEnding } from '../../../lambda/decision/demand/ending.ts';
import { AUTO_MS, cheapestDelay } from '../../../lambda/decision/look-again.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { by, groupsBy, partition, sum, unique } from '../../../lambda/decision/model/collections.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { Learning, SLOT_MS } from '../../../lambda/decision/stock/learning.ts';
import {
  GONE_AFTER_MS,
  priceReplay,
  type ReplayedPools,
  type StockRule,
  UNKNOWN_BUILDS,
  UNKNOWN_RULE,
  type UsualBuilds,
  usualBuilds,
} from '../../../lambda/decision/stock/replay.ts';
import { Random } from '../../world/base/random.ts';
import type { DayFigures } from '../estimate/estimate.ts';
import { dayFigures, type JobOutcome } from '../replay/figures.ts';
import { fittingOf } from '../replay/fitting.ts';
import type { Bill } from '../replay/ledger.ts';
import { type Figures, PEOPLE_WAIT_FOR } from '../replay/result.ts';
import { startLatencies, startSecondsOf } from '../replay/start-latencies.ts';
import { EXECUTOR_KINDS, type Trace, type TraceJob } from '../trace/trace.ts';

export type Sketch = {
  readonly days: readonly DayFigures[];
  readonly launches: number;
  readonly idleLaunches: number;
  /** The most tasks. */
  readonly peaks: Figures['peaks'];
};

type SketchOptions = {
  readonly trace: Trace;
  /** The same configuration at each price of waiting. The dearest price comes last. */
  readonly configs: readonly Deployment[];
  readonly seeds: readonly number[];
  readonly dollarsPerHour: (pool: string) => number;
};

/** For each price one sketch with each seed. The same options give the same sketches. */
export function* sketches(options: SketchOptions): Generator<readonly Sketch[]> {
  const sets = setsOf(options);
  for (const [at] of options.configs.entries()) {
    const priced = sets.map(({ rules, usual, ...set }) => ({
      ...set,
      rules: rules[at] ?? [],
      usual: usual[at] ?? UNKNOWN_BUILDS,
    }));
    yield sketchesOf(priced, options);
  }
}

function sketchesOf(sets: readonly PoolSet[], { trace, seeds }: SketchOptions): readonly Sketch[] {
  return seeds.map((seed) => {
    const played = sharingPools(sets).map((sharing, index) =>
      new SketchedPools(sharing, new Random(seed * 1000 + index)).play(),
    );
    const tasks = played.flatMap((each) => each.tasks);
    return {
      days: dayFigures(
        trace,
        tasks,
        played.flatMap((each) => each.waits),
      ),
      launches: tasks.length,
      idleLaunches: tasks.filter(({ isUsed }) => !isUsed).length,
      peaks: {
        all: sum(played, ({ peak }) => peak),
        byPool: Object.fromEntries(played.flatMap((each) => [...each.peaks])),
      },
    };
  });
}

/** Sets that share a pool play in one world: a daemon of that pool takes the jobs of both. */
function sharingPools(sets: readonly PoolSet[]): readonly (readonly PoolSet[])[] {
  let worlds: readonly (readonly PoolSet[])[] = [];
  for (const set of sets) {
    const names = new Set(set.pools.map(({ name }) => name));
    const shares = (world: readonly PoolSet[]): boolean =>
      world.some(({ pools }) => pools.some(({ name }) => names.has(name)));
    const [together, others] = partition(worlds, shares);
    worlds = [...others, [...together.flat(), set]];
  }
  return worlds;
}

/** A set of pools that run the same jobs, the cheapest one first. */
type PoolSet = {
  readonly jobs: readonly TraceJob[];
  readonly pools: readonly SketchedPool[];
  readonly maxTasks: number;
  readonly until: number;
  readonly startMs: readonly [number, number];
  readonly usual: UsualBuilds;
  /** From a time on. */
  readonly rules: readonly Regime[];
};

type SketchedPool = DeployedPool & { readonly dollarsPerHour: number };

type Regime = { readonly from: number; readonly rule: StockRule; readonly lookMs: number };

/** At each price of waiting. */
type LearnedPoolSet = Omit<PoolSet, 'rules' | 'usual'> & {
  readonly rules: readonly (readonly Regime[])[];
  readonly usual: readonly UsualBuilds[];
};

function setsOf({ trace, configs, dollarsPerHour }: SketchOptions): readonly LearnedPoolSet[] {
  const config = configs.at(-1);
  if (config === undefined) return [];
  const fitting = fittingOf(config);
  const [fromS, toS] = startSecondsOf(startLatencies(trace.startSeconds));
  return groupsBy([...trace.jobs], (job) => fitting(job).join(' ')).flatMap((jobs) => {
    const poolsIn = (priced: Deployment) => fitting(jobs[0]).flatMap((index) => priced.pools[index] ?? []);
    const pools = poolsIn(config)
      .map((each) => ({ ...each, dollarsPerHour: dollarsPerHour(each.name) }))
      .toSorted(by((each) => each.dollarsPerHour));
    const [pool] = pools;
    if (pool === undefined) return [];
    const startMs = [fromS * 1000, toS * 1000] as const;
    const priced = configs.map((each) =>
      priceReplay(poolsIn(each).map((one) => ({ pool: one, startMs: (startMs[0] + startMs[1]) / 2 }))),
    );
    const rules = learnRules(jobs, priced, { config, pool, to: trace.to });
    const sorted = jobs.map(({ seconds }) => seconds * 1000).toSorted((a, b) => a - b);
    const usual = priced.map((each) => usualBuilds(sorted, each));
    return { jobs, pools, maxTasks: config.limits.maxTasks, until: trace.to, startMs, usual, rules };
  });
}

/** A half hour is learned when its last build is ten minutes old, at the next of the five-minute marks. */
const LEARNED_AFTER_MS = 12.5 * MINUTE_MS;

/** Plays the builds once, and chooses at each price. */
function learnRules(
  jobs: readonly TraceJob[],
  priced: readonly ReplayedPools[],
  { config, pool, to }: { readonly config: Deployment; readonly pool: DeployedPool; readonly to: number },
): readonly (readonly Regime[])[] {
  const first: Regime = {
    from: Number.NEGATIVE_INFINITY,
    rule: pool.warm === 'auto' ? UNKNOWN_RULE : { ...UNKNOWN_RULE, free: pool.warm, spareMs: 0 },
    lookMs: delayOf(config, 0),
  };
  const regimes = priced.map(() => [first]);
  const builds = jobs
    .filter(({ kind }) => kind === 'user' || kind === 'import')
    .map(({ at, seconds }) => ({ at, tookMs: Math.max(1, seconds * 1000) }));
  const [since, dearest] = [builds[0]?.at, priced.at(-1)];
  if (pool.warm !== 'auto' || since === undefined || dearest === undefined) return regimes;
  const learning = new Learning(dearest, since);
  const chosen = priced.map(({ waitPrice }) => learning.chosenAt(waitPrice, UNKNOWN_RULE));
  let next = 0;
  const buildsIn = (_: number, end: number) => {
    const from = next;
    while ((builds[next]?.at ?? end) < end) next++;
    return builds.slice(from, next);
  };
  for (let end = (Math.floor(since / SLOT_MS) + 1) * SLOT_MS; end <= to; end += SLOT_MS) {
    learning.learn(buildsIn, end, Number.POSITIVE_INFINITY);
    for (const [at, { waitPrice, startMs }] of priced.entries()) {
      const choice = learning.chosenAt(waitPrice, chosen[at]?.rule ?? UNKNOWN_RULE);
      chosen[at] = choice;
      const lookMs = delayOf(config, (choice.cost.waiting * 1e6) / startMs);
      regimes[at]?.push({ from: end + LEARNED_AFTER_MS, rule: choice.rule, lookMs });
    }
  }
  return regimes;
}

function delayOf({ looks, pools }: Deployment, lost: number): number {
  const delaysMs = looks.everyMs === 'auto' ? Object.values(AUTO_MS).flat() : [looks.everyMs];
  return cheapestDelay(delaysMs, { lost, pools: pools.length, isWaiting: false });
}

type Task = { readonly pool: PoolState; readonly launchedAt: number; isUsed: boolean; idleSince: number };
type Waiting = { readonly job: TraceJob; readonly set: SetState; readonly since: number };

/** What a set of pools has and expects now. */
type SetState = PoolSet & {
  readonly states: readonly PoolState[];
  queued: number;
  due: number;
  /** When each build began. */
  readonly running: Set<{ readonly since: number }>;
  lastBuildAt: number;
  regime: number;
};

/** The tasks of a pool. */
type PoolState = {
  readonly pool: SketchedPool;
  starting: number;
  idle: number;
  busy: number;
  peak: number;
};

const tasksOf = ({ starting, idle, busy }: PoolState): number => starting + idle + busy;
const leastOf = ({ pool: { min } }: PoolState): number => (min === 'auto' ? 0 : min);

/** The share of a start before its image is pulled is not billed. */
const UNBILLED_OF_START = 0.25;
/** While something moves, looks come at least so often. */
const MOVING_MS = AUTO_MS.usual;

/** The forecast launches so much earlier than a start takes. */
const AHEAD_MS = 100_000;

class SketchedPools {
  /** Those with fewest pools first: the others have more to choose from. */
  readonly #sets: readonly SetState[];
  readonly #pools: readonly PoolState[];
  readonly #until: number;
  readonly #startMs: readonly [number, number];
  readonly #maxTasks: number;
  readonly #random: Random;
  readonly #queue: Waiting[] = [];
  /** The one that is idle for longest comes first. */
  readonly #idle: Task[] = [];
  /** In order of time. */
  readonly #events: { readonly at: number; readonly run: () => void }[] = [];
  readonly #tasks: Bill[] = [];
  readonly #waits: Pick<JobOutcome, 'job' | 'waitMs'>[] = [];
  #now = 0;
  #peak = 0;
  #leavingUntil = 0;
  #lookAt = Number.POSITIVE_INFINITY;

  constructor(sets: readonly PoolSet[], random: Random) {
    const pools = unique(
      sets.flatMap((set) => set.pools),
      ({ name }) => name,
    );
    const states = new Map(
      pools.map((pool) => [pool.name, { pool, starting: 0, idle: 0, busy: 0, peak: 0 } as PoolState]),
    );
    this.#pools = [...states.values()];
    this.#sets = sets
      .map((set) => ({
        ...set,
        states: set.pools.flatMap(({ name }) => states.get(name) ?? []),
        ...{
          queued: 0,
          due: 0,
          running: new Set<{ since: number }>(),
          lastBuildAt: Number.NEGATIVE_INFINITY,
          regime: 0,
        },
      }))
      .toSorted(by((set) => set.pools.length));
    const [first] = sets;
    this.#until = first?.until ?? 0;
    this.#startMs = first?.startMs ?? [0, 0];
    this.#maxTasks = first?.maxTasks ?? 0;
    this.#random = random;
  }

  play() {
    const arrivals = this.#sets.flatMap((set) =>
      set.jobs.flatMap((job) => {
        const come = { at: job.at as number, run: () => this.#come(job, set) };
        return EXECUTOR_KINDS.has(job.kind)
          ? [{ at: job.at - this.#startMs[1] - AHEAD_MS, run: () => this.#expect(set) }, come]
          : [come];
      }),
    );
    arrivals.sort((a, b) => b.at - a.at);
    this.#now = (arrivals.at(-1)?.at ?? this.#until) - 1;
    this.#lookIn(0);
    for (;;) {
      const arrival = arrivals.at(-1)?.at ?? Number.POSITIVE_INFINITY;
      const event = this.#events[0]?.at ?? Number.POSITIVE_INFINITY;
      const at = Math.min(arrival, event, this.#lookAt);
      if (at > this.#until + HOUR_MS || at === Number.POSITIVE_INFINITY) break;
      this.#now = at;
      if (at === event) this.#events.shift()?.run();
      else if (at === arrival) arrivals.pop()?.run();
      else this.#look();
    }
    this.#now = this.#until;
    for (const task of this.#idle) this.#bill(task, this.#until);
    const peaks = this.#pools.map(({ pool, peak }) => [pool.name, peak] as const);
    return { tasks: this.#tasks, waits: this.#waits, peak: this.#peak, peaks };
  }

  /** A transition of coderd is due soon. */
  #expect(set: SetState): void {
    set.due++;
    this.#lookIn(0);
  }

  #come(job: TraceJob, set: SetState): void {
    if (EXECUTOR_KINDS.has(job.kind)) set.due--;
    else if (job.kind !== 'prebuild') set.lastBuildAt = this.#now;
    set.queued++;
    this.#queue.push({ job, set, since: this.#now });
    this.#hand();
    this.#lookIn(this.#random.between(0, this.#delay()));
  }

  /** Gives waiting jobs to idle daemons, any of those that can run them. */
  #hand(): void {
    for (let at = 0; at < this.#queue.length && this.#idle.length > 0; ) {
      const waiting = this.#queue[at];
      const fitting = this.#idle.filter(({ pool }) => waiting?.set.states.includes(pool));
      const task = fitting[this.#random.whole(0, Math.max(0, fitting.length - 1))];
      if (waiting === undefined || task === undefined) {
        at++;
        continue;
      }
      this.#queue.splice(at, 1);
      this.#idle.splice(this.#idle.indexOf(task), 1);
      this.#run(task, waiting);
    }
  }

  #run(task: Task, { job, set, since }: Waiting): void {
    if (PEOPLE_WAIT_FOR.has(job.kind)) this.#waits.push({ job, waitMs: this.#now - since });
    const { pool } = task;
    task.isUsed = true;
    const build = { since: this.#now };
    set.queued--;
    set.running.add(build);
    pool.idle--;
    pool.busy++;
    this.#plan(job.seconds * 1000, () => {
      set.running.delete(build);
      pool.busy--;
      this.#free(task);
    });
  }

  #free(task: Task): void {
    task.idleSince = this.#now;
    task.pool.idle++;
    this.#idle.push(task);
    this.#hand();
    this.#lookIn(this.#delay());
  }

  #look(): void {
    this.#lookAt = Number.POSITIVE_INFINITY;
    const ready = new Map(this.#pools.map((pool) => [pool, pool.idle + pool.starting]));
    for (const set of this.#sets) {
      const queued = Math.max(0, set.queued - this.#ending(set));
      const wanted = queued + set.due + this.#keptIn(set);
      this.#launch(set, wanted - claim(set, wanted, ready));
    }
    for (const pool of this.#pools)
      for (let count = leastOf(pool) - tasksOf(pool); count > 0; count--) this.#start(pool);
    this.#drain();
    this.#lookIn(this.#untilChange() + this.#random.between(0, this.#delay()));
  }

  /** In the cheapest pool that has room. */
  #launch({ states }: SetState, count: number): void {
    for (let left = count; left > 0; left--) {
      const pool = states.find((each) => tasksOf(each) < each.pool.max);
      if (pool === undefined || sum(this.#pools, tasksOf) >= this.#maxTasks) return;
      this.#start(pool);
    }
  }

  #start(pool: PoolState): void {
    const task = { pool, launchedAt: this.#now, isUsed: false, idleSince: 0 };
    pool.starting++;
    pool.peak = Math.max(pool.peak, tasksOf(pool));
    this.#peak = Math.max(this.#peak, sum(this.#pools, tasksOf));
    this.#plan(this.#random.between(...this.#startMs), () => {
      pool.starting--;
      this.#free(task);
    });
  }

  #drain(): void {
    const left = new Map(this.#pools.map((pool) => [pool, pool.idle]));
    for (const set of this.#sets) claim(set, this.#keptIn(set) + set.due, left);
    for (const task of [...this.#idle]) {
      const { pool } = task;
      const isLeft = (left.get(pool) ?? 0) > 0 && pool.idle + pool.busy > leastOf(pool);
      if (!isLeft || this.#now < this.#drainsAt(task)) continue;
      left.set(pool, (left.get(pool) ?? 0) - 1);
      pool.idle--;
      this.#idle.splice(this.#idle.indexOf(task), 1);
      this.#leavingUntil = this.#now + 2 * GONE_AFTER_MS;
      this.#bill(task, this.#now + GONE_AFTER_MS);
    }
  }

  /** Until an idle daemon may drain, or another rule counts. */
  #untilChange(): number {
    const times = [
      ...this.#idle.map((task) => this.#drainsAt(task)),
      ...this.#sets.flatMap((set) => [
        set.lastBuildAt + (this.#current(set).rule.afterBuildMs ?? Number.POSITIVE_INFINITY) + 1,
        set.rules[set.regime + 1]?.from ?? Number.POSITIVE_INFINITY,
      ]),
    ];
    return Math.min(...times.filter((at) => at > this.#now)) - this.#now;
  }

  /** A daemon stays as long as one of its sets spares it. */
  #drainsAt({ pool, idleSince }: Task): number {
    const spareMs = this.#sets
      .filter(({ states }) => states.includes(pool))
      .map((set) => this.#current(set).rule.spareMs);
    return idleSince + Math.max(pool.pool.idleTimeoutMs, ...spareMs);
  }

  /** How many builds probably end in time. */
  #ending({ running, usual: { inTime } }: SetState): number {
    return [...running].filter(({ since }) => isEnding(inTime, this.#now - since)).length;
  }

  /** How many daemons the rule keeps free now. */
  #keptIn(set: SetState): number {
    const { free, afterBuildMs, countsBusy } = this.#current(set).rule;
    if (afterBuildMs !== null && this.#now - set.lastBuildAt > afterBuildMs) return 0;
    return countsBusy ? Math.max(0, free - set.running.size - set.queued) : free;
  }

  #current(set: SetState): Regime {
    const { rules } = set;
    while ((rules[set.regime + 1]?.from ?? Number.POSITIVE_INFINITY) <= this.#now) set.regime++;
    return rules[set.regime] ?? { from: 0, rule: UNKNOWN_RULE, lookMs: MOVING_MS };
  }

  #delay(): number {
    const lookMs = Math.min(...this.#sets.map((set) => this.#current(set).lookMs));
    const [longest] = this.#idle;
    const drainsAt = longest === undefined ? Number.POSITIVE_INFINITY : this.#drainsAt(longest);
    const isMoving =
      sum(this.#pools, ({ starting }) => starting) + this.#queue.length > 1 ||
      this.#sets.some(({ due }) => due > 0) ||
      this.#now < this.#leavingUntil ||
      (this.#now < drainsAt && drainsAt < this.#now + MINUTE_MS);
    return isMoving ? Math.min(lookMs, MOVING_MS) : lookMs;
  }

  #lookIn(ms: number): void {
    this.#lookAt = Math.min(this.#lookAt, this.#now + ms);
  }

  #plan(ms: number, run: () => void): void {
    const event = { at: this.#now + ms, run };
    let place = this.#events.length;
    while (place > 0 && (this.#events[place - 1]?.at ?? 0) > event.at) place--;
    this.#events.splice(place, 0, event);
  }

  #bill({ pool: { pool }, launchedAt, isUsed }: Task, to: number): void {
    const from = launchedAt + UNBILLED_OF_START * this.#startMs[0];
    this.#tasks.push({
      pool: pool.name,
      from: from as EpochMs,
      ms: Math.max(MINUTE_MS, to - from),
      launchedAt: launchedAt as EpochMs,
      ...{ isUsed, dollarsPerHour: pool.dollarsPerHour, dollarsPerLaunch: pool.dollarsPerLaunch },
    });
  }
}

/** Takes up to so many daemons of the set's pools, those of the cheapest pool first, and tells how many. */
function claim({ states }: SetState, count: number, free: Map<PoolState, number>): number {
  let left = count;
  for (const pool of states) {
    const taken = Math.min(left, free.get(pool) ?? 0);
    free.set(pool, (free.get(pool) ?? 0) - taken);
    left -= taken;
  }
  return count - left;
}

/**
 * Plays a trace in milliseconds of computing time, without coderd, ECS and the function: the learner
 * chooses rules for free daemons as the function does (lambda/decision/stock/), and one simple world
 * for each set of pools launches, runs and drains by them. It is close to a replay, not equal:
 * `tune` tries all prices in it, and corrects it by replays.
 */
import type { DeployedPool, Deployment } from '../../lambda/config/rules/deployment.ts';
import { AUTO_MS, cheapestDelay } from '../../lambda/decision/look-again.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { groupsBy, sum } from '../../lambda/decision/model/collections.ts';
import { HOUR_MS, MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { Learning, SLOT_MS } from '../../lambda/decision/stock/learning.ts';
import {
  GONE_AFTER_MS,
  priceReplay,
  type ReplayedPools,
  type StockRule,
  UNKNOWN_RULE,
} from '../../lambda/decision/stock/replay.ts';
import { Random } from '../../simulator/base/random.ts';
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
  /** The most tasks. Of a set of pools the cheapest one has them all. */
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
    const priced = sets.map(({ rules, ...set }) => ({ ...set, rules: rules[at] ?? [] }));
    yield sketchesOf(priced, options);
  }
}

function sketchesOf(sets: readonly PoolSet[], { trace, seeds }: SketchOptions): readonly Sketch[] {
  return seeds.map((seed) => {
    const played = sets.map((set, index) => new SketchedPools(set, new Random(seed * 1000 + index)).play());
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
        byPool: Object.fromEntries(
          groupsBy(played, ({ pool }) => pool).map((same) => [same[0].pool, sum(same, ({ peak }) => peak)]),
        ),
      },
    };
  });
}

/** A set of pools that run the same jobs. */
type PoolSet = {
  readonly jobs: readonly TraceJob[];
  readonly pools: readonly DeployedPool[];
  readonly pool: DeployedPool;
  readonly dollarsPerHour: number;
  readonly most: number;
  readonly until: number;
  readonly startMs: readonly [number, number];
  /** From a time on. */
  readonly rules: readonly Regime[];
};

type Regime = { readonly from: number; readonly rule: StockRule; readonly lookMs: number };

type LearnedPoolSet = Omit<PoolSet, 'rules'> & {
  /** At each price of waiting. */
  readonly rules: readonly (readonly Regime[])[];
};

function setsOf({ trace, configs, dollarsPerHour }: SketchOptions): readonly LearnedPoolSet[] {
  const config = configs.at(-1);
  if (config === undefined) return [];
  const fitting = fittingOf(config);
  const [fromS, toS] = startSecondsOf(startLatencies(trace.startSeconds));
  return groupsBy([...trace.jobs], (job) => fitting(job).join(' ')).flatMap((jobs) => {
    const poolsIn = (priced: Deployment) => fitting(jobs[0]).flatMap((index) => priced.pools[index] ?? []);
    const pools = poolsIn(config);
    const [pool] = pools.toSorted((a, b) => dollarsPerHour(a.name) - dollarsPerHour(b.name));
    if (pool === undefined) return [];
    const startMs = [fromS * 1000, toS * 1000] as const;
    const priced = configs.map((each) =>
      priceReplay(poolsIn(each).map((one) => ({ pool: one, startMs: (startMs[0] + startMs[1]) / 2 }))),
    );
    const most = Math.min(
      sum(pools, ({ max }) => max),
      config.limits.maxTasks,
    );
    const rules = learnRules(jobs, priced, { config, pool, to: trace.to });
    return {
      jobs,
      pools,
      pool,
      dollarsPerHour: dollarsPerHour(pool.name),
      most,
      until: trace.to,
      startMs,
      rules,
    };
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
  const delaysMs = looks.everyMs === 'auto' ? [AUTO_MS.usual, ...AUTO_MS.shorter] : [looks.everyMs];
  return cheapestDelay(delaysMs, { lost, pools: pools.length, isWaiting: false });
}

type Task = { readonly launchedAt: number; isUsed: boolean; idleSince: number };
type Waiting = { readonly job: TraceJob; readonly since: number };

/** The share of a start before its image is pulled is not billed. */
const UNBILLED_OF_START = 0.25;
/** While something moves, looks come at least so often. */
const MOVING_MS = AUTO_MS.usual;

/** The forecast launches so much earlier than a start takes. */
const AHEAD_MS = 100_000;

class SketchedPools {
  readonly #set: PoolSet;
  readonly #random: Random;
  readonly #queue: Waiting[] = [];
  readonly #idle: Task[] = [];
  /** In order of time. */
  readonly #events: { readonly at: number; readonly run: () => void }[] = [];
  readonly #tasks: Bill[] = [];
  readonly #waits: Pick<JobOutcome, 'job' | 'waitMs'>[] = [];
  #now = 0;
  #starting = 0;
  #busy = 0;
  #peak = 0;
  #due = 0;
  #lastBuildAt = Number.NEGATIVE_INFINITY;
  #regime = 0;
  #leavingUntil = 0;
  #lookAt = Number.POSITIVE_INFINITY;

  constructor(set: PoolSet, random: Random) {
    this.#set = set;
    this.#random = random;
  }

  play() {
    const { jobs, pool, until, startMs } = this.#set;
    const arrivals = jobs.flatMap((job) => {
      const come = { at: job.at as number, run: () => this.#come(job) };
      return EXECUTOR_KINDS.has(job.kind)
        ? [{ at: job.at - startMs[1] - AHEAD_MS, run: () => this.#expect() }, come]
        : [come];
    });
    arrivals.sort((a, b) => b.at - a.at);
    this.#now = (arrivals.at(-1)?.at ?? until) - 1;
    this.#lookIn(0);
    for (;;) {
      const arrival = arrivals.at(-1)?.at ?? Number.POSITIVE_INFINITY;
      const event = this.#events[0]?.at ?? Number.POSITIVE_INFINITY;
      const at = Math.min(arrival, event, this.#lookAt);
      if (at > until + HOUR_MS || at === Number.POSITIVE_INFINITY) break;
      this.#now = at;
      if (at === event) this.#events.shift()?.run();
      else if (at === arrival) arrivals.pop()?.run();
      else this.#look();
    }
    this.#now = until;
    for (const task of this.#idle) this.#bill(task, until);
    return { pool: pool.name, tasks: this.#tasks, waits: this.#waits, peak: this.#peak };
  }

  /** A transition of coderd is due soon. */
  #expect(): void {
    this.#due++;
    this.#lookIn(0);
  }

  #come(job: TraceJob): void {
    if (EXECUTOR_KINDS.has(job.kind)) this.#due--;
    else if (job.kind !== 'prebuild') this.#lastBuildAt = this.#now;
    this.#queue.push({ job, since: this.#now });
    this.#hand();
    this.#lookIn(this.#random.between(0, this.#delay()));
  }

  /** Gives waiting jobs to idle daemons, any of them. */
  #hand(): void {
    while (this.#queue.length > 0 && this.#idle.length > 0) {
      const [task] = this.#idle.splice(this.#random.whole(0, this.#idle.length - 1), 1);
      const waiting = this.#queue.shift();
      if (task === undefined || waiting === undefined) return;
      const { job, since } = waiting;
      if (PEOPLE_WAIT_FOR.has(job.kind)) this.#waits.push({ job, waitMs: this.#now - since });
      task.isUsed = true;
      this.#busy++;
      this.#plan(job.seconds * 1000, () => {
        this.#busy--;
        this.#free(task);
      });
    }
  }

  #free(task: Task): void {
    task.idleSince = this.#now;
    this.#idle.push(task);
    this.#hand();
    this.#lookIn(this.#delay());
  }

  #look(): void {
    this.#lookAt = Number.POSITIVE_INFINITY;
    const { rule } = this.#current();
    const keeps = this.#keeps(rule);
    const have = this.#idle.length + this.#starting;
    const ending = rule.countsEnding ? this.#busy : 0;
    const wanted = this.#queue.length + this.#due + Math.max(0, keeps - ending);
    const lacking = Math.max(wanted - have, this.#least() - have - this.#busy);
    for (let count = Math.min(lacking, this.#set.most - have - this.#busy); count > 0; count--)
      this.#launch();
    this.#drain(keeps + this.#due, rule);
    this.#lookIn(this.#untilChange(rule) + this.#random.between(0, this.#delay()));
  }

  #launch(): void {
    const [from, to] = this.#set.startMs;
    const ms = this.#random.between(from, to);
    const task = { launchedAt: this.#now, isUsed: false, idleSince: 0 };
    this.#starting++;
    this.#peak = Math.max(this.#peak, this.#idle.length + this.#starting + this.#busy);
    this.#plan(ms, () => {
      this.#starting--;
      this.#free(task);
    });
  }

  #drain(keeps: number, rule: StockRule): void {
    const idleMs = this.#idleMs(rule);
    while (this.#idle.length > keeps && this.#idle.length + this.#busy > this.#least()) {
      const [longest] = this.#idle;
      if (longest === undefined || this.#now - longest.idleSince < idleMs) return;
      this.#idle.shift();
      this.#leavingUntil = this.#now + 2 * GONE_AFTER_MS;
      this.#bill(longest, this.#now + GONE_AFTER_MS);
    }
  }

  /** Until an idle daemon may drain, or another rule counts. */
  #untilChange(rule: StockRule): number {
    const times = [
      (this.#idle[0]?.idleSince ?? Number.POSITIVE_INFINITY) + this.#idleMs(rule),
      this.#lastBuildAt + (rule.afterBuildMs ?? Number.POSITIVE_INFINITY) + 1,
      this.#set.rules[this.#regime + 1]?.from ?? Number.POSITIVE_INFINITY,
    ];
    return Math.min(...times.filter((at) => at > this.#now)) - this.#now;
  }

  #idleMs({ spareMs }: StockRule): number {
    return Math.max(spareMs, this.#set.pool.idleTimeoutMs);
  }

  #keeps({ free, afterBuildMs }: StockRule): number {
    return afterBuildMs === null || this.#now - this.#lastBuildAt <= afterBuildMs ? free : 0;
  }

  #least(): number {
    return sum(this.#set.pools, ({ min }) => (min === 'auto' ? 0 : min));
  }

  #current(): Regime {
    const { rules } = this.#set;
    while ((rules[this.#regime + 1]?.from ?? Number.POSITIVE_INFINITY) <= this.#now) this.#regime++;
    return rules[this.#regime] ?? { from: 0, rule: UNKNOWN_RULE, lookMs: MOVING_MS };
  }

  #delay(): number {
    const { lookMs, rule } = this.#current();
    const drainsAt = (this.#idle[0]?.idleSince ?? Number.POSITIVE_INFINITY) + this.#idleMs(rule);
    const isMoving =
      this.#starting + this.#queue.length > 1 ||
      this.#due > 0 ||
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

  #bill({ launchedAt, isUsed }: Task, to: number): void {
    const { pool, dollarsPerHour, startMs } = this.#set;
    const from = launchedAt + UNBILLED_OF_START * startMs[0];
    this.#tasks.push({
      pool: pool.name,
      from: from as EpochMs,
      ms: Math.max(MINUTE_MS, to - from),
      launchedAt: launchedAt as EpochMs,
      ...{ isUsed, dollarsPerHour, dollarsPerLaunch: pool.dollarsPerLaunch },
    });
  }
}

/**
 * Plays the builds of a set of pools under one rule and adds up what the tasks and the waiting would
 * have cost. It is the world of a backtest in short: every start takes the same time, and a build
 * takes any of the free daemons. It launches as the decision does: at a look, and not for builds that
 * a busy daemon probably serves sooner.
 */
import { agesAtEnd, isEnding, MIN_CHANCE_TO_END, MIN_SAMPLES, waitingWorthMs } from '../demand/ending.ts';
import { daemonsWorth } from '../demand/patience.ts';
import { meanOf, sum } from '../model/collections.ts';
import type { PoolConfig } from '../model/config.ts';
import type { StockChoice } from '../model/snapshot.ts';
import { HOUR_MS, MINUTE_MS } from '../model/units.ts';
import { launchCost, priceOf } from '../settings/prices.ts';

/** A rule by which a set of pools keeps daemons free for unforeseen builds. */
export type StockRule = StockChoice['rule'];

const FREE = [1, 2, 3, 5, 8, 13, 20, 30, 50, 80];
/** With more, a fleet in which busy daemons count hardly ever has others to spare: it has one time for them. */
const MOST_WITH_SPARES = 5;
const SPARE_MS = [1, 5, 20, 60].map((minutes) => minutes * MINUTE_MS);
const AFTER_BUILD_MS = [15 * MINUTE_MS, 60 * MINUTE_MS, 180 * MINUTE_MS, null];

/** The rule if nothing is known of the builds: idle daemons stay for five minutes. */
export const UNKNOWN_RULE: StockRule = {
  free: 0,
  spareMs: 5 * MINUTE_MS,
  afterBuildMs: null,
  countsBusy: false,
};

/** All rules for pools that have at most so many tasks. Those that keep least come first. */
export function rulesFor(mostTasks: number): readonly StockRule[] {
  const sizes = new Set(FREE.map((free) => Math.min(free, mostTasks)));
  return [
    ...SPARE_MS.map((spareMs) =>
      spareMs === UNKNOWN_RULE.spareMs ? UNKNOWN_RULE : { ...UNKNOWN_RULE, spareMs },
    ),
    ...[...sizes].flatMap((free) =>
      SPARE_MS.flatMap((spareMs) =>
        AFTER_BUILD_MS.flatMap((afterBuildMs) =>
          (free <= MOST_WITH_SPARES || spareMs === UNKNOWN_RULE.spareMs ? [true, false] : [false]).map(
            (countsBusy) => ({ free, spareMs, afterBuildMs, countsBusy }),
          ),
        ),
      ),
    ),
  ];
}

/** A few of these rules, one for each number: a process that knows nothing plays them first. */
export function coarseRulesFor(mostTasks: number): readonly StockRule[] {
  return rulesFor(mostTasks).filter(
    ({ free, spareMs, afterBuildMs, countsBusy }) =>
      spareMs === UNKNOWN_RULE.spareMs && (free === 0 || (afterBuildMs === 60 * MINUTE_MS && !countsBusy)),
  );
}

/** Whether it can be one of these rules: a rule may come from a record. */
export function isRule({ free, spareMs, afterBuildMs }: StockRule): boolean {
  const isFree = free >= 0 && free <= Math.max(...FREE);
  return isFree && SPARE_MS.includes(spareMs) && AFTER_BUILD_MS.includes(afterBuildMs);
}

/** An unforeseen build. Milliseconds. */
export type ReplayedBuild = { readonly at: number; readonly tookMs: number };

/** What a replay needs to know of the pools. Money is in dollars. */
export type ReplayedPools = {
  /** Milliseconds from when a build finds no free daemon until a new one is ready. */
  readonly startMs: number;
  /** The part of it until a look decides the launch. */
  readonly lookMs: number;
  /** Of a task, for each millisecond. */
  readonly taskPrice: number;
  /** Of a launch, beside the time of its task. */
  readonly launchPrice: number;
  /** Of a launch that serves no build, with the time of its task. */
  readonly startPrice: number;
  /** Of a build that waits, for each millisecond. */
  readonly waitPrice: number;
  /** Tasks. */
  readonly most: number;
};

/** What is known of how long builds take. */
type UsualBuilds = {
  /** Milliseconds; undefined: unknown. */
  readonly meanMs: number | undefined;
  /**
   * The ages at which a build probably ends before a new task would be ready, or so soon after that the
   * waiting costs less than a launch (`agesAtEnd`).
   */
  readonly inTime: readonly number[];
};

const UNKNOWN_BUILDS: UsualBuilds = { meanMs: undefined, inTime: [] };

/** @param durations in milliseconds, the shortest first */
export function usualBuilds(durations: readonly number[], pools: ReplayedPools): UsualBuilds {
  if (durations.length < MIN_SAMPLES) return UNKNOWN_BUILDS;
  const startMs = pools.startMs - pools.lookMs;
  return {
    meanMs: meanOf(durations),
    inTime: agesAtEnd(
      durations,
      startMs + waitingWorthMs(pools.startPrice, pools.waitPrice),
      MIN_CHANCE_TO_END,
    ),
  };
}

/** Daemons that stay. */
export type Stays = NonNullable<StockChoice['stays']>;

/** Dollars. */
export type RuleCost = { readonly tasks: number; readonly waiting: number };

/** From the decision to drain a daemon until its task is gone. */
export const GONE_AFTER_MS = 45_000;

type PlayedDaemon = {
  /** Until when its task is paid for. */
  paidTo: number;
  idleSince: number;
  startedAt: number;
  endsAt: number;
};

/** While builds wait for busy daemons, looks decide anew this often. */
const LOOK_AGAIN_MS = 10_000;

export class StockReplay {
  rule: StockRule;
  readonly #pools: ReplayedPools;
  usual = UNKNOWN_BUILDS;
  #now: number;
  #lastBuildAt = Number.NEGATIVE_INFINITY;
  /** When a look decides the next launches. */
  #lookAt = Number.POSITIVE_INFINITY;
  /** The one that is idle for longest comes first. */
  readonly #idle: PlayedDaemon[] = [];
  /** In order of their ends. */
  readonly #busy: PlayedDaemon[] = [];
  /** When each task that starts was launched, in order. */
  readonly #starting: number[] = [];
  readonly #waiting: ReplayedBuild[] = [];
  #draw = 1;
  #taskMs = 0;
  #launches = 0;
  #waitMs = 0;

  /** `from`: the beginning, in milliseconds since 1970. */
  constructor(rule: StockRule, pools: ReplayedPools, from: number) {
    this.rule = rule;
    this.#pools = pools;
    this.#now = from;
  }

  /** Plays until a build comes, and the build. A build of the past comes now. */
  build({ at, tookMs }: ReplayedBuild): void {
    this.playTo(at);
    this.#lastBuildAt = this.#now;
    const [daemon] = this.#idle.splice(this.#pick(this.#idle.length), 1);
    if (daemon === undefined) this.#waiting.push({ at: this.#now, tookMs });
    else this.#run(daemon, tookMs);
    this.#lookAfter(this.#pools.lookMs);
    this.playTo(this.#now);
  }

  /** Plays until a time without another build. */
  playTo(at: number): void {
    for (;;) {
      const ready =
        (this.#starting[0] ?? Number.POSITIVE_INFINITY) + this.#pools.startMs - this.#pools.lookMs;
      const ends = this.#busy[0]?.endsAt ?? Number.POSITIVE_INFINITY;
      const drains = this.#nextDrain();
      const next = Math.min(ready, ends, drains, this.#lookAt);
      if (next > at) break;
      this.#now = Math.max(this.#now, next);
      if (next === drains) this.#drain();
      else if (next === ends) this.#free(this.#busy.shift());
      else if (next === ready) this.#free(this.#started());
      else this.#look();
    }
    this.#now = Math.max(this.#now, at);
  }

  /** The daemons that stay beyond a time if no build comes, and until when all of them do. */
  staysBeyond(time: number): Stays | undefined {
    const { spareMs } = this.rule;
    const leaveAt = [
      ...this.#idle.map(({ idleSince }) => idleSince + spareMs),
      ...this.#busy.map(({ endsAt }) => endsAt + spareMs),
    ].filter((at) => at > time);
    return leaveAt.length === 0 ? undefined : { daemons: leaveAt.length, until: Math.min(...leaveAt) };
  }

  /** What it has cost since the last call. */
  takeCost(): RuleCost {
    for (const daemon of this.#idle) this.#pay(daemon);
    for (const daemon of this.#busy) this.#pay(daemon);
    const { taskPrice, launchPrice, waitPrice } = this.#pools;
    const tasks = this.#taskMs * taskPrice + this.#launches * launchPrice;
    const waiting = this.#waitMs * waitPrice;
    this.#taskMs = this.#launches = this.#waitMs = 0;
    return { tasks, waiting };
  }

  #started(): PlayedDaemon {
    return { paidTo: this.#starting.shift() ?? this.#now, idleSince: 0, startedAt: 0, endsAt: 0 };
  }

  #free(daemon: PlayedDaemon | undefined): void {
    if (daemon === undefined) return;
    const build = this.#waiting.shift();
    daemon.idleSince = this.#now;
    if (build === undefined) this.#idle.push(daemon);
    else {
      this.#waitMs += this.#now - build.at;
      this.#run(daemon, build.tookMs);
    }
  }

  #run(daemon: PlayedDaemon, tookMs: number): void {
    daemon.startedAt = this.#now;
    daemon.endsAt = this.#now + tookMs;
    let place = this.#busy.length;
    while (place > 0 && (this.#busy[place - 1]?.endsAt ?? 0) > daemon.endsAt) place--;
    this.#busy.splice(place, 0, daemon);
  }

  #lookAfter(ms: number): void {
    this.#lookAt = Math.min(this.#lookAt, this.#now + ms);
  }

  /** Launches for builds that wait, and for those that the rule keeps free. */
  #look(): void {
    this.#lookAt = Number.POSITIVE_INFINITY;
    const starting = this.#starting.length;
    const unserved = this.#waiting.length - starting;
    const forBuilds = unserved <= 0 ? 0 : this.#worthLaunch(starting);
    const forStock = Math.max(0, this.#keeps() - this.#idle.length - Math.max(0, -unserved));
    const room = this.#pools.most - this.#idle.length - starting - this.#busy.length;
    for (let count = Math.min(forBuilds + forStock, room); count > 0; count--) {
      this.#starting.push(this.#now);
      this.#launches++;
    }
    if (forBuilds < unserved && room > 0) this.#lookAfter(LOOK_AGAIN_MS);
  }

  /** How many of the builds that wait are worth a new task each. */
  #worthLaunch(starting: number): number {
    const [first] = this.#waiting;
    const { startPrice, waitPrice } = this.#pools;
    const backlog = { jobs: this.#waiting.length, waitedMs: this.#now - (first?.at ?? this.#now) };
    const worth = daemonsWorth(
      { ...backlog, tookMs: this.usual.meanMs, value: waitPrice * MINUTE_MS },
      startPrice,
    );
    return Math.max(0, worth - starting - this.#countAt(this.usual.inTime));
  }

  /** How many daemons the rule keeps free now. */
  #keeps(): number {
    const { free, afterBuildMs, countsBusy } = this.rule;
    if (afterBuildMs !== null && this.#now - this.#lastBuildAt > afterBuildMs) return 0;
    return countsBusy ? Math.max(0, free - this.#busy.length - this.#waiting.length) : free;
  }

  /** How many builds have an age at which they probably end. */
  #countAt(ages: readonly number[]): number {
    if (ages.length === 0) return 0;
    return this.#busy.filter(({ startedAt }) => isEnding(ages, this.#now - startedAt)).length;
  }

  /** When a daemon drains, or when the rule keeps fewer. */
  #nextDrain(): number {
    const [longest] = this.#idle;
    if (longest === undefined) return Number.POSITIVE_INFINITY;
    const { spareMs, afterBuildMs } = this.rule;
    if (this.#idle.length > this.#keeps()) return Math.max(this.#now, longest.idleSince + spareMs);
    return afterBuildMs === null ? Number.POSITIVE_INFINITY : this.#lastBuildAt + afterBuildMs + 1;
  }

  /** Drains the daemon that is idle for longest, if its time has come. */
  #drain(): void {
    const [longest] = this.#idle;
    if (longest === undefined || this.#idle.length <= this.#keeps()) return;
    if (this.#now < longest.idleSince + this.rule.spareMs) return;
    this.#idle.shift();
    this.#pay(longest);
    this.#taskMs += GONE_AFTER_MS;
    if (this.#waiting.length > this.#starting.length) this.#lookAfter(this.#pools.lookMs);
  }

  #pay(daemon: PlayedDaemon): void {
    this.#taskMs += this.#now - daemon.paidTo;
    daemon.paidTo = this.#now;
  }

  /** Any of so many: the same in every replay, and in no order. */
  #pick(count: number): number {
    this.#draw = (Math.imul(this.#draw, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#draw / 2 ** 32) * count);
  }
}

/** The mean time until a look decides a launch. */
const UNTIL_LOOK_MS = 8_000;
/** A launch costs at least this many dollars: a rule that launches less is better at equal cost. */
const LEAST_LAUNCH_DOLLARS = 0.002;

/** `startMs`: from when ECS creates a task until its daemon is registered. */
export function priceReplay(
  pools: readonly { readonly pool: PoolConfig; readonly startMs: number }[],
): ReplayedPools {
  const launch = Math.min(...pools.map(({ pool }) => pool.dollarsPerLaunch));
  return {
    startMs: Math.min(...pools.map(({ startMs }) => startMs)) + UNTIL_LOOK_MS,
    lookMs: UNTIL_LOOK_MS,
    startPrice: Math.min(...pools.map(({ pool, startMs }) => launchCost(pool, startMs))),
    taskPrice: Math.min(...pools.map(({ pool }) => priceOf(pool))) / 1e6 / HOUR_MS,
    launchPrice: Math.max(LEAST_LAUNCH_DOLLARS, launch),
    waitPrice: Math.max(...pools.map(({ pool }) => pool.waiting.person)) / MINUTE_MS,
    most: sum(pools, ({ pool }) => pool.max),
  };
}

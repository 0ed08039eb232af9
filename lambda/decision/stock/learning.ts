/**
 * Learns the rule of one set of pools: plays its builds under all rules, half hour by half hour, and
 * chooses a rule after each; on the first day, of which each hour counts, after each ten minutes. The
 * choice follows from the builds alone, however many are played at a time.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../model/units.ts';
import { type ChosenRule, chooseRule, guessedCost } from './choose-rule.ts';
import {
  type ReplayedBuild,
  type ReplayedPools,
  rulesFor,
  type Stays,
  StockReplay,
  type StockRule,
  UNKNOWN_RULE,
  usualBuilds,
} from './replay.ts';

export const SLOT_MS = 30 * MINUTE_MS;
const SLOTS_A_DAY = 48;
/** On the first day, after which a rule is chosen again. */
const FIRST_SLOT_MS = 10 * MINUTE_MS;
/** After so many slots a half hour counts for 1/e of what it did. */
const FADES_AFTER = 7 * SLOTS_A_DAY;
/** The weight of another time of day, if the same one counts for so much more. */
const ANY_TIME = 0.2;
/** How far the same time of day reaches, as a standard deviation in slots. */
const SAME_TIME = 4;

/** The weight of the same time of day, by how many slots of the day lie between. */
const WEIGHTS = Array.from({ length: SLOTS_A_DAY }, (_, slots) => {
  const distance = Math.min(slots, SLOTS_A_DAY - slots);
  return Math.exp(-((distance / SAME_TIME) ** 2) / 2);
});

/** A sum over past half hours: recent ones and those of this time of day count more. */
export class FadingSum {
  /** By time of day. In each, later slots count for more. */
  readonly #sums = new Array<number>(SLOTS_A_DAY).fill(0);

  /** `slot`: the half hours since any one. A fraction is a part of the half hour. */
  add(slot: number, amount: number): void {
    const time = Math.floor(slot) % SLOTS_A_DAY;
    this.#sums[time] = (this.#sums[time] ?? 0) + amount * Math.exp(slot / FADES_AFTER);
  }

  /** The sum as it counts in a half hour after all those that were added. `anyTime`: the weight of another time of day. */
  at(slot: number, anyTime = ANY_TIME): number {
    const now = Math.floor(slot);
    let total = 0;
    for (let time = 0; time < SLOTS_A_DAY; time++)
      total += (this.#sums[time] ?? 0) * (anyTime + (WEIGHTS[(now - time + SLOTS_A_DAY) % SLOTS_A_DAY] ?? 0));
    return total * Math.exp(-slot / FADES_AFTER);
  }

  /** The sum of the same half hour of earlier days. */
  inSlot(slot: number): number {
    return (this.#sums[Math.floor(slot) % SLOTS_A_DAY] ?? 0) * Math.exp(-slot / FADES_AFTER);
  }
}

const SLOT_HOURS = SLOT_MS / HOUR_MS;
/** If so many arrivals are missing that usually come, half is expected. */
const SURE_ARRIVALS = 2;
/** The latest builds say how long builds usually take. */
const MOST_DURATIONS = 500;

type Candidate = { readonly replay: StockReplay; readonly tasks: FadingSum; readonly waiting: FadingSum };

/** Gives the builds of a period, the oldest first. The end is not part of it. */
export type BuildsIn = (from: number, to: number) => ReplayedBuild[];

export class Learning {
  readonly pools: ReplayedPools;
  readonly #candidates: readonly Candidate[];
  readonly #hours = new FadingSum();
  /** Slots with a build: those that come at once count once. */
  readonly #arrivals = new FadingSum();
  /** The arrivals that usually come in the half hours since the last one. */
  #missed = 0;
  readonly #from: number;
  /** Milliseconds that have been played. */
  #playedMs = 0;
  #builds = 0;
  /** Since the last choice. */
  #newBuilds = 0;
  /** The builds until the next choice that are still to be played; undefined: all of them. */
  #queue: ReplayedBuild[] | undefined;
  #durations: readonly number[] = [];
  chosen: ChosenRule;
  #inForceFrom: number;

  /** `from`: the time of the first build. */
  constructor(pools: ReplayedPools, from: number, rules = rulesFor(pools.most)) {
    this.pools = pools;
    this.#from = Math.floor(from / SLOT_MS) * SLOT_MS;
    this.#candidates = rules.map((rule) => ({
      replay: new StockReplay(rule, pools, this.#from),
      tasks: new FadingSum(),
      waiting: new FadingSum(),
    }));
    this.chosen = this.#choose(UNKNOWN_RULE);
    this.#inForceFrom = this.#from;
  }

  /** What the choice rests on. */
  get seen(): { readonly builds: number; readonly hours: number } {
    return { builds: this.#builds, hours: this.#playedMs / HOUR_MS };
  }

  /**
   * The daemons that the rule in force has at least until the next choice. Undefined: it has not been in force for long
   * enough that the pools could have as many.
   */
  get stays(): Stays | undefined {
    const { rule } = this.chosen;
    if (this.#end - this.#inForceFrom < 2 * Math.max(rule.spareMs, SLOT_MS)) return undefined;
    return this.#inForce?.replay.staysBeyond(this.#end);
  }

  /** Whether what is over at a time has been played. */
  isUpTo(time: number): boolean {
    return this.#end > time;
  }

  /** At most so many `steps`: builds and choices, once for each rule. Returns the rest. */
  learn(buildsIn: BuildsIn, until: number, steps: number): number {
    let left = steps;
    while (left > 0 && !this.isUpTo(until)) {
      this.#queue ??= buildsIn(this.#from + this.#playedMs, this.#end);
      const builds = this.#queue.splice(0, Math.ceil(left / this.#candidates.length));
      this.#play(builds);
      if (this.#queue.length === 0) this.#endSlot();
      left -= (builds.length + 1) * this.#candidates.length;
    }
    return left;
  }

  get #inForce(): Candidate | undefined {
    return this.#candidates.find(({ replay }) => replay.rule === this.chosen.rule);
  }

  get #isFirstDay(): boolean {
    return this.#playedMs < DAY_MS;
  }

  /** When a rule is chosen next. */
  get #end(): number {
    return this.#from + this.#playedMs + (this.#isFirstDay ? FIRST_SLOT_MS : SLOT_MS);
  }

  /** The half hours that have been played. */
  get #slots(): number {
    return this.#playedMs / SLOT_MS;
  }

  #play(builds: readonly ReplayedBuild[]): void {
    for (const { replay } of this.#candidates) for (const build of builds) replay.build(build);
    this.#builds += builds.length;
    this.#newBuilds += builds.length;
    this.#durations = [...this.#durations, ...builds.map(({ tookMs }) => tookMs)].slice(-MOST_DURATIONS);
  }

  #endSlot(): void {
    const [slot, end] = [this.#slots, this.#end];
    const sorted = this.#durations.toSorted((a, b) => a - b);
    const usual = usualBuilds(sorted, this.pools);
    for (const { replay, tasks, waiting } of this.#candidates) {
      replay.playTo(end);
      const cost = replay.takeCost();
      tasks.add(slot, cost.tasks);
      waiting.add(slot, cost.waiting);
      replay.usual = usual;
    }
    this.#missed = this.#newBuilds > 0 ? 0 : this.#missed + this.#usualArrivals(slot);
    this.#arrivals.add(slot, Math.min(1, this.#newBuilds));
    this.#newBuilds = 0;
    const endMs = end - this.#from;
    this.#hours.add(slot, (endMs - this.#playedMs) / HOUR_MS);
    this.#playedMs = endMs;
    this.#queue = undefined;
    const before = this.chosen.rule;
    this.chosen = this.#choose(before);
    if (this.chosen.rule !== before) this.#inForceFrom = end;
  }

  /** In how many of the earlier days a build came in this half hour, as a share. */
  #usualArrivals(slot: number): number {
    if (this.#isFirstDay) return 0;
    return (this.#arrivals.inSlot(slot) * SLOT_HOURS) / this.#hours.inSlot(slot);
  }

  /**
   * What the waiting of builds is expected to cost now, in dollars an hour: that of this time of day, and less if the
   * builds of this time have not come, as at a weekend.
   */
  get waitingNow(): number {
    const inForce = this.#inForce;
    if (inForce === undefined) return this.chosen.cost.waiting;
    return (this.#waitingAtThisTime(inForce) * SURE_ARRIVALS) / (SURE_ARRIVALS + this.#missed);
  }

  /**
   * Dollars for each hour at this time of day. As long as builds usually stay away, those of all times count: a time
   * at which none came says little if they come twice a day.
   */
  #waitingAtThisTime({ replay, waiting }: Candidate): number {
    const guess = guessedCost(replay.rule, this.pools);
    const slot = this.#slots;
    const hours = this.#hours.at(slot) + guess.hours;
    const atAnyTime = (waiting.at(slot) + guess.waiting) / hours;
    const apart = hours / (this.#arrivals.at(slot) + guess.builds);
    return (waiting.at(slot, 0) + atAnyTime * apart) / (this.#hours.at(slot, 0) + apart);
  }

  #choose(before: StockRule): ChosenRule {
    const now = this.#slots;
    const played = this.#candidates.map(({ replay: { rule }, tasks, waiting }) => ({
      rule,
      cost: { tasks: tasks.at(now), waiting: waiting.at(now) },
    }));
    return chooseRule(played, { hours: this.#hours.at(now), pools: this.pools, before });
  }
}

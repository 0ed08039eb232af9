/**
 * The stock: how many free daemons are worth their price, for builds that nobody can foresee. As in inventory theory: while a daemon that was
 * taken is replaced, A more builds come and C running ones end, and the k-th free daemon is used if A - C reaches k. It saves the
 * waiting of that share of all time, so it is worth V * P(A - C >= k).
 *
 * Builds that come in batches are met twice: by the stock, and, once a batch has begun, by launches for those that follow.
 */
import type { ArrivalRate } from './arrival-rate.ts';

/** What the daemons of a set of pools are for. Money is in dollars, but for `price`. */
export type StockInput = {
  readonly rate: ArrivalRate;
  /** From when a build finds no daemon until a new one is ready. */
  readonly startMs: number;
  /** For how long a build takes a daemon away, a new one being ready after `startMs` at the latest. */
  readonly takenMs: number;
  /** For each running build the chance that it ends before a launch in its place would have paid. */
  readonly ends: readonly number[];
  /** Daemons that are free now. */
  readonly free: number;
  /** Of a minute that a person waits. */
  readonly person: number;
  /** Of a task, in micro-dollars an hour. */
  readonly price: number;
  /** Of starting and stopping a task. */
  readonly start: number;
  readonly most: number;
};

/**
 * A launch for the stock has to be worth this many times the price of its task: one that comes and goes for nothing costs more than one
 * that stays (docs/adr/0024). So much is a launch for builds that follow worth where it saves as much as it costs.
 */
export const RAISE_ABOVE = 3;
/** The share of the stock that launches in time can stand in for, where builds of a batch come slowly. */
const STANDS_IN = 1.2;

/** What the first, the second, … free daemon saves, in micro-dollars an hour: as far as it is worth anything. */
export function stockValues(given: StockInput): readonly number[] {
  const { rate, startMs, takenMs, ends, free, person, price, start, most } = given;
  const { followers, lagMs } = rate;
  // of a batch that comes slowly, fewer come while a daemon is taken
  const dispersion = 1 + 2 * followers * Math.min(1, takenMs / Math.max(1, 2 * lagMs));
  const usual = chancesOf({ mean: (rate.perMinute * takenMs) / MINUTE_MS, dispersion });
  const usually = shortfallOf(usual, ends);
  const inBatch = shortfallOf(sumOf(usual, chancesOf({ mean: rate.following, dispersion })), ends);
  // while a task starts, a daemon does several short builds
  const again = Math.floor((ends.length + free) * (startMs / takenMs - 1));
  const inTime = STANDS_IN * (takenMs / startMs) * Math.min(1, (2 * lagMs) / startMs);
  const unlaunched = 1 - (inTime * followers) / (1 + followers);
  const savedMinutes = takenMs / MINUTE_MS / 2;
  const values: number[] = [];
  for (let count = 1; count <= most; count++) {
    // who finds no daemon at all waits for a start, others for the end of a build at the most
    const share =
      count === 1
        ? Math.min(1, (usually.atLeast(1) * startMs) / takenMs)
        : usually.atLeast(count) * Math.max(0, unlaunched);
    // no launch is for a batch that is larger than any that came
    const soon =
      count > rate.largest ? 0 : Math.max(0, inBatch.atLeast(count + again) - usually.atLeast(count + again));
    const perHour = share * person * 60e6;
    const launched = (RAISE_ABOVE * price * soon * person * savedMinutes) / start;
    const value = Math.round(perHour + launched);
    if (value < price * NEGLIGIBLE_SHARE) break;
    values.push(Math.min(value, values.at(-1) ?? value));
  }
  return values;
}

const MINUTE_MS = 60_000;
/** What saves less of its price is kept in no case. */
const NEGLIGIBLE_SHARE = 0.1;

/** The demand for free daemons while one is replaced. */
export type Shortfall = {
  /** The chance that at least so many are needed. */
  readonly atLeast: (daemons: number) => number;
};

/** Nothing is worth less, whatever it costs: the chances of more are not worked out. */
const NEGLIGIBLE = 1e-6;
const MOST = 2_000;
/** Beyond, the chance of none is too small for a number. */
const LARGEST_MEAN = 500;

/**
 * @param arrivals P(A = 0), P(A = 1), …
 * @param ends for each running build the chance that it ends by then
 */
export function shortfallOf(arrivals: readonly number[], ends: readonly number[]): Shortfall {
  const ended = endChances(ends);
  // P(A - C >= k) = sum over c of P(C = c) * P(A >= k + c)
  const tail = tailOf(arrivals);
  return {
    atLeast: (daemons) => {
      let chance = 0;
      for (let count = 0; count < ended.length; count++)
        chance += (ended[count] ?? 0) * (tail[Math.max(0, daemons + count)] ?? 0);
      return chance;
    },
  };
}

/** P(0), P(1), … of a number with this mean: Poisson, or negative binomial where the variance is larger than the mean. */
export function chancesOf({ mean: given, dispersion }: Counted): readonly number[] {
  const mean = Math.min(LARGEST_MEAN, given);
  if (!(mean > 0)) return [1];
  const isPoisson = dispersion < 1.01;
  // negative binomial: mean r(d - 1), variance mean * d
  const batches = isPoisson ? 0 : mean / (dispersion - 1);
  const grows = isPoisson ? 0 : (dispersion - 1) / dispersion;
  const chances = [isPoisson ? Math.exp(-mean) : dispersion ** -batches];
  let total = chances[0] ?? 0;
  for (let count = 1; count < MOST && (1 - total > NEGLIGIBLE || count < mean); count++) {
    const before = chances[count - 1] ?? 0;
    const chance = isPoisson ? (before * mean) / count : (before * grows * (batches + count - 1)) / count;
    chances.push(chance);
    total += chance;
  }
  return chances;
}

/** `dispersion`: the variance over the mean. */
export type Counted = { readonly mean: number; readonly dispersion: number };

/** P(0), P(1), … of the sum of two numbers. */
export function sumOf(a: readonly number[], b: readonly number[]): readonly number[] {
  const chances = new Array<number>(a.length + b.length - 1).fill(0);
  a.forEach((left, i) => {
    b.forEach((right, j) => {
      chances[i + j] = (chances[i + j] ?? 0) + left * right;
    });
  });
  return chances;
}

/** P(C = 0), P(C = 1), … of independent chances. */
function endChances(ends: readonly number[]): readonly number[] {
  let chances = [1];
  for (const chance of ends) {
    if (chance <= 0) continue;
    const next = new Array<number>(chances.length + 1).fill(0);
    chances.forEach((before, count) => {
      next[count] = (next[count] ?? 0) + before * (1 - chance);
      next[count + 1] = (next[count + 1] ?? 0) + before * chance;
    });
    chances = next;
  }
  return chances;
}

/** P(at least 0), P(at least 1), … */
function tailOf(chances: readonly number[]): readonly number[] {
  const tail = new Array<number>(chances.length).fill(0);
  let above = 0;
  for (let count = chances.length - 1; count >= 0; count--) {
    above += chances[count] ?? 0;
    tail[count] = above;
  }
  return tail;
}

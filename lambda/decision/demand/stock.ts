/**
 * The stock: how many free daemons are worth their price for unforeseen builds, from the arrival
 * rate and the prices. The model is that of inventory theory. While a daemon that was taken is
 * replaced, A more builds come and C running ones end. The k-th free daemon is used if A - C
 * reaches k. It saves waiting for that share of the time, so it is worth V * P(A - C >= k).
 *
 * Batches of builds are covered twice: by the stock, and by launches for the builds that follow
 * once a batch has begun.
 */
import type { ArrivalRate } from './arrival-rate.ts';

/** The inputs for one set of pools. Money is in dollars, except `price`. */
export type StockInput = {
  readonly rate: ArrivalRate;
  /** Milliseconds from when a build finds no free daemon until a new one is ready. */
  readonly startMs: number;
  /**
   * Milliseconds for which a build occupies a daemon, at most `startMs`: then a new one is ready.
   */
  readonly takenMs: number;
  /**
   * For each running build: the chance that it ends before a launch instead would have paid off.
   */
  readonly ends: readonly number[];
  /** The number of daemons that are free now. */
  readonly free: number;
  /** The price of waiting of a person, in dollars a minute. */
  readonly person: number;
  /** The price of a task, in micro-dollars an hour. */
  readonly price: number;
  /** The cost of starting and stopping a task, in dollars. */
  readonly start: number;
  readonly most: number;
};

/**
 * A launch for the stock must be worth this many times the price of its task: a task that comes and
 * goes without use costs more than one that stays (docs/adr/0024). A launch for builds that follow
 * in a batch is worth this much if it saves as much as it costs.
 */
export const RAISE_ABOVE = 3;
/** How much of the stock launches in time can replace when the builds of a batch come slowly. */
const LAUNCH_SUBSTITUTION = 1.2;

/**
 * The savings of the first, the second, … free daemon in micro-dollars an hour. The list ends where
 * the savings become negligible.
 */
export function stockValues(given: StockInput): readonly number[] {
  const { rate, startMs, takenMs, ends, free, person, price, start, most } = given;
  const { followers, lagMs } = rate;
  // if a batch comes slowly, fewer of its builds come while a daemon is taken
  const dispersion = 1 + 2 * followers * Math.min(1, takenMs / Math.max(1, 2 * lagMs));
  const chancesWhileReplacing = chancesOf({ mean: (rate.perMinute * takenMs) / MINUTE_MS, dispersion });
  const whileReplacing = shortfallOf(chancesWhileReplacing, ends);
  const inBatch = shortfallOf(
    sumOf(chancesWhileReplacing, chancesOf({ mean: rate.following, dispersion })),
    ends,
  );
  // while a task starts, one daemon runs several short builds
  const repeatedUses = Math.floor((ends.length + free) * (startMs / takenMs - 1));
  const launchedInTime = LAUNCH_SUBSTITUTION * (takenMs / startMs) * Math.min(1, (2 * lagMs) / startMs);
  const notLaunchedShare = 1 - (launchedInTime * followers) / (1 + followers);
  const savedMinutes = takenMs / MINUTE_MS / 2;
  const values: number[] = [];
  for (let count = 1; count <= most; count++) {
    // with no free daemon a build waits for a start; otherwise at most for the end of a build
    const share =
      count === 1
        ? Math.min(1, (whileReplacing.atLeast(1) * startMs) / takenMs)
        : whileReplacing.atLeast(count) * Math.max(0, notLaunchedShare);
    // no launch prepares for a batch larger than any that came
    const chanceInBatch =
      count > rate.largest
        ? 0
        : Math.max(0, inBatch.atLeast(count + repeatedUses) - whileReplacing.atLeast(count + repeatedUses));
    const perHour = share * person * 60e6;
    const launched = (RAISE_ABOVE * price * chanceInBatch * person * savedMinutes) / start;
    const value = Math.round(perHour + launched);
    if (value < price * NEGLIGIBLE_SHARE) break;
    values.push(Math.min(value, values.at(-1) ?? value));
  }
  return values;
}

const MINUTE_MS = 60_000;
/** A daemon that saves a smaller share of its price is never kept. */
const NEGLIGIBLE_SHARE = 0.1;

/** The distribution of the demand for free daemons while one is replaced. */
export type Shortfall = {
  /** The chance that at least this many daemons are needed. */
  readonly atLeast: (daemons: number) => number;
};

/** The chances of larger numbers are not computed once they add up to less than this. */
const NEGLIGIBLE = 1e-6;
const MAX_COUNT = 2_000;
/** With a larger mean, the chance of zero is too small for a floating-point number. */
const LARGEST_MEAN = 500;

/**
 * Computes the distribution of A - C.
 * @param arrivals P(A = 0), P(A = 1), …
 * @param ends for each running build: the chance that it ends in that time
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

/**
 * P(0), P(1), … of a count with this mean: Poisson, or negative binomial if the variance is larger
 * than the mean.
 */
export function chancesOf({ mean: given, dispersion }: Counted): readonly number[] {
  const mean = Math.min(LARGEST_MEAN, given);
  if (!(mean > 0)) return [1];
  const isPoisson = dispersion < 1.01;
  // negative binomial: mean r(d - 1), variance mean * d
  const batches = isPoisson ? 0 : mean / (dispersion - 1);
  const grows = isPoisson ? 0 : (dispersion - 1) / dispersion;
  const chances = [isPoisson ? Math.exp(-mean) : dispersion ** -batches];
  let total = chances[0] ?? 0;
  for (let count = 1; count < MAX_COUNT && (1 - total > NEGLIGIBLE || count < mean); count++) {
    const before = chances[count - 1] ?? 0;
    const chance = isPoisson ? (before * mean) / count : (before * grows * (batches + count - 1)) / count;
    chances.push(chance);
    total += chance;
  }
  return chances;
}

/** `dispersion` is the variance divided by the mean. */
export type Counted = { readonly mean: number; readonly dispersion: number };

/** P(0), P(1), … of the sum of two independent counts. */
export function sumOf(a: readonly number[], b: readonly number[]): readonly number[] {
  const chances = new Array<number>(a.length + b.length - 1).fill(0);
  a.forEach((left, i) => {
    b.forEach((right, j) => {
      chances[i + j] = (chances[i + j] ?? 0) + left * right;
    });
  });
  return chances;
}

/** P(C = 0), P(C = 1), … of the number of builds that end. */
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

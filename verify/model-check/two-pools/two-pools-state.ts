/** Two pools under one limit, as the exploration of them sees it (two-pools.ts): small values, and one whole number for all of them. */

/** What is in one place of a pool. `asked`: idle, and asked to leave; `finishing`: asked, and it holds a job. */
export type Place = (typeof PLACES)[number];

const PLACES = ['none', 'pending', 'booting', 'idle', 'busy', 'asked', 'finishing', 'left'] as const;

export type SmallPool = {
  /** In the order of `PLACES`: which of two tasks is which makes no difference. */
  readonly places: readonly Place[];
  readonly desired: number;
  /** Its own jobs that no daemon has yet. */
  readonly pending: number;
  /** ECS said that it cannot place a task, and has started none since. */
  readonly isUnplaced: boolean;
};

export type TwoPools = readonly SmallPool[];

const PROTECTED: ReadonlySet<Place> = new Set(['idle', 'busy', 'asked', 'finishing']);

/** Whether ECS may stop the task: it has no lease yet, or no more. */
export function isFree(place: Place): boolean {
  return place !== 'none' && !PROTECTED.has(place);
}

/** Tasks that are there. */
export function tasksIn({ places }: Pick<SmallPool, 'places'>): number {
  return places.filter((place) => place !== 'none').length;
}

/** The pool with something else in one place. */
export function withPlace(pool: SmallPool, slot: number, place: Place): SmallPool {
  return { ...pool, places: pool.places.with(slot, place) };
}

/** The jobs that are wanted of the daemons of a pool: those of the first pool run in the second one too. */
export function servedBy(pool: number): readonly number[] {
  return pool === 0 ? [0] : [0, 1];
}

/** One job of this pool waits no more. */
export function withoutJob(pools: TwoPools, from: number): TwoPools {
  return pools.map((pool, at) => (at === from ? { ...pool, pending: pool.pending - 1 } : pool));
}

/** Counts and waiting jobs are below this. */
const BASE = 8;

/** States to and from whole numbers. */
export class TwoPoolsCodes {
  readonly initial: number;
  readonly #places: number;

  /** @param places for tasks, of each pool */
  constructor(places: number) {
    this.#places = places;
    const empty = { places: Array<Place>(places).fill('none'), desired: 0, pending: 0, isUnplaced: false };
    this.initial = this.pack([empty, empty]);
  }

  pack(pools: TwoPools): number {
    let code = 0;
    for (const { places, desired, pending, isUnplaced } of pools) {
      if (desired >= BASE || pending >= BASE) throw new Error(`exploring: a count of ${desired} is too much`);
      code = ((code * BASE + desired) * BASE + pending) * 2 + (isUnplaced ? 1 : 0);
      const ids = places.map((place) => PLACES.indexOf(place)).sort();
      for (const id of ids) code = code * PLACES.length + id;
    }
    return code;
  }

  unpack(code: number): TwoPools {
    let rest = code;
    const digit = (base: number): number => {
      const value = rest % base;
      rest = (rest - value) / base;
      return value;
    };
    const pool = (): SmallPool => {
      const places = Array.from({ length: this.#places }, () => PLACES[digit(PLACES.length)] ?? 'none');
      const isUnplaced = digit(2) === 1;
      const pending = digit(BASE);
      return { places: places.reverse(), isUnplaced, pending, desired: digit(BASE) };
    };
    const [second, first] = [pool(), pool()];
    return [first, second];
  }
}

/** For people who read a trace. */
export function describePools(pools: TwoPools, names: readonly string[]): string {
  return pools
    .map(({ places, desired, pending, isUnplaced }, at) => {
      const tasks = places.filter((place) => place !== 'none').map((place) => `[${place}]`);
      const parts = [`${names[at]}: desired ${desired}`, ...tasks];
      if (pending > 0) parts.push(`${pending} job(s) waiting`);
      if (isUnplaced) parts.push('a task that ECS could not place');
      return parts.join(' ');
    })
    .join(' | ');
}

/** Runs the explorations: the protocol, its mutants, and the world without each assumption. */
import { serveRequests, startWorkerPool, type WorkerPool } from '../../world/base/worker-pool.ts';
import {
  AS_IT_IS,
  type Exploration,
  failingPool,
  guards,
  nonsensePool,
  productPool,
  twoPools,
  type Variant,
} from './explorations.ts';
import { ASSUMPTIONS, MUTANTS, type Mutant } from './mutants.ts';
import { type Failure, type SearchResult, search } from './world/search.ts';

export type Named = Pick<Exploration, 'name' | 'bound'>;

export type Explored = {
  readonly exploration: Named;
  readonly found: SearchResult;
  readonly seconds: number;
};

/** The explorations that must find no violation of the protocol as it is. */
const EXPLORATIONS: readonly Exploration[] = [
  guards({ tasks: 3, jobs: 2 }, 'prompt'),
  guards({ tasks: 2, jobs: 2 }, 'late'),
  nonsensePool({ tasks: 3, jobs: 2 }, { min: 1, max: 2 }),
  nonsensePool({ tasks: 2, jobs: 1 }, { min: 0, max: 1 }),
  productPool({ tasks: 3, jobs: 1 }, { min: 1, max: 2 }, 0),
  productPool({ tasks: 2, jobs: 1 }, { min: 1, max: 2 }, 2),
  failingPool({ tasks: 2, jobs: 1 }, { min: 0, max: 2 }, 1),
  twoPools(2, { maxTasks: 2, min: [0, 0], hasStock: false }),
  twoPools(1, { maxTasks: 2, min: [1, 0], hasStock: false }),
  twoPools(1, { maxTasks: 2, min: [0, 0], hasStock: true }),
];

/** Smaller explorations, for tests and `npm run explore -- --small`. */
export const SMALL: readonly Exploration[] = [
  guards({ tasks: 1, jobs: 1 }, 'prompt'),
  productPool({ tasks: 1, jobs: 1 }, { min: 0, max: 1 }, 0),
  twoPools(1, { maxTasks: 1, min: [0, 0], hasStock: false }),
  twoPools(1, { maxTasks: 1, min: [0, 0], hasStock: true }),
  productPool({ tasks: 2, jobs: 1 }, { min: 0, max: 2 }, 0),
  productPool({ tasks: 2, jobs: 1 }, { min: 0, max: 1 }, 0),
  nonsensePool({ tasks: 1, jobs: 1 }, { min: 0, max: 1 }),
  nonsensePool({ tasks: 2, jobs: 1 }, { min: 1, max: 2 }),
  failingPool({ tasks: 2, jobs: 0 }, { min: 1, max: 2 }, 0),
];

/** They must catch each mutant. The last one is too slow for a test; `EXPLORATIONS` has a larger one. */
const CATCHING: readonly Exploration[] = [
  ...SMALL,
  productPool({ tasks: 2, jobs: 0 }, { min: 1, max: 2 }, 1),
];

export function explore(exploration: Exploration, variant: Variant = AS_IT_IS): Explored {
  const startedAt = performance.now();
  const found = search(exploration.build(variant));
  const { name, bound } = exploration;
  return { exploration: { name, bound }, found, seconds: (performance.now() - startedAt) / 1000 };
}

export type Caught = {
  readonly name: string;
  /** The exploration that caught the mutant; undefined if none did. */
  readonly by: { readonly exploration: Named; readonly failure: Failure } | undefined;
  readonly states: number;
};

export function catchVariant({ name, variant }: Mutant): Caught {
  let states = 0;
  for (const tried of CATCHING) {
    const { exploration, found } = explore(tried, variant);
    states += found.states;
    if (found.failure !== undefined) return { name, by: { exploration, failure: found.failure }, states };
  }
  return { name, by: undefined, states };
}

/** `small` does not prove the protocol: it is what a change tries in CI. */
const LISTS = { whole: EXPLORATIONS, small: SMALL, mutants: MUTANTS, assumptions: ASSUMPTIONS } as const;

/** An exploration, or a variant that one must catch, by its place in a list. */
export type ExplorationRequest = { readonly list: keyof typeof LISTS; readonly index: number };

export type ExplorationThreads = {
  /** In the order of `EXPLORATIONS`, or of `SMALL`. */
  readonly explored: readonly Promise<Explored>[];
  readonly mutants: readonly Promise<Caught>[];
  readonly assumptions: readonly Promise<Caught>[];
  readonly close: () => Promise<void>;
};

/** Starts all explorations on threads. They run in the order of the lists, the longest first. */
export function exploreOnThreads(threads: number, size: 'whole' | 'small' = 'whole'): ExplorationThreads {
  const pool: WorkerPool<ExplorationRequest, Explored | Caught> = startWorkerPool({
    module: import.meta.url,
    handle: runRequest,
    threads,
    describe: ({ list, index }) => `exploration ${index + 1} of the ${list}`,
  });
  const all = <T extends Explored | Caught>(list: keyof typeof LISTS): readonly Promise<T>[] =>
    LISTS[list].map((_, index) => pool.run({ list, index }) as Promise<T>);
  return {
    explored: all(size),
    mutants: all('mutants'),
    assumptions: all('assumptions'),
    close: pool.close,
  };
}

export function runRequest({ list, index }: ExplorationRequest): Explored | Caught {
  const item = LISTS[list][index] as Exploration | Mutant;
  return 'build' in item ? explore(item) : catchVariant(item);
}

serveRequests(import.meta.url, runRequest);

/** The explorations as requests of worker threads: each is named by its place in a list. */
import { startWorkerPool, type WorkerPool } from '../../simulator/base/worker-pool.ts';
import { MUTANTS } from './mutants.ts';
import { ASSUMPTIONS, type Caught, catchVariant, EXPLORATIONS, type Explored, explore } from './run.ts';

/** A variant that an exploration must catch. */
type Suspect = { readonly list: 'mutants' | 'assumptions'; readonly index: number };
type Protocol = { readonly list: 'protocol'; readonly index: number };
export type ExplorationRequest = Suspect | Protocol;

const SUSPECTS = { mutants: MUTANTS, assumptions: ASSUMPTIONS } as const;

export type ExplorationThreads = {
  /** In the order of `EXPLORATIONS`. */
  readonly explored: readonly Promise<Explored>[];
  readonly mutants: readonly Promise<Caught>[];
  readonly assumptions: readonly Promise<Caught>[];
  readonly close: () => Promise<void>;
};

/** Starts all explorations on threads. They run in the order of the lists, the longest first. */
export function exploreOnThreads(threads: number): ExplorationThreads {
  const pool: WorkerPool<ExplorationRequest, Explored | Caught> = startWorkerPool({
    script: new URL('./worker.ts', import.meta.url),
    handle: runRequest,
    threads,
    describe: ({ list, index }) => `exploration ${index + 1} of the ${list}`,
  });
  const caught = (list: Suspect['list']): readonly Promise<Caught>[] =>
    SUSPECTS[list].map((_, index) => pool.run({ list, index }) as Promise<Caught>);
  return {
    explored: EXPLORATIONS.map((_, index) => pool.run({ list: 'protocol', index }) as Promise<Explored>),
    mutants: caught('mutants'),
    assumptions: caught('assumptions'),
    close: pool.close,
  };
}

/** Runs a request in this thread. */
export function runRequest({ list, index }: ExplorationRequest): Explored | Caught {
  if (list === 'protocol') return explore(at(EXPLORATIONS, index));
  const { name, variant } = at(SUSPECTS[list], index);
  return catchVariant(name, variant);
}

function at<T>(list: readonly T[], index: number): T {
  return list[index] as T;
}

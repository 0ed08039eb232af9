/** The explorations as requests of worker threads: each is named by its place in a list. */
import { startWorkerPool, type WorkerPool } from '../../simulator/base/worker-pool.ts';
import { MUTANTS } from './mutants.ts';
import {
  ASSUMPTIONS,
  type Caught,
  catchVariant,
  EXPLORATIONS,
  type Explored,
  explore,
  SMALL,
} from './run.ts';

/** A variant that an exploration must catch. */
type Suspect = { readonly list: 'mutants' | 'assumptions'; readonly index: number };
type Protocol = { readonly list: Size; readonly index: number };
/** `small` does not prove the protocol: it is what a change tries in CI. */
export type Size = 'whole' | 'small';
export type ExplorationRequest = Suspect | Protocol;

const PROTOCOL = { whole: EXPLORATIONS, small: SMALL } as const;
const SUSPECTS = { mutants: MUTANTS, assumptions: ASSUMPTIONS } as const;

export type ExplorationThreads = {
  /** In the order of `EXPLORATIONS`, or of `SMALL`. */
  readonly explored: readonly Promise<Explored>[];
  readonly mutants: readonly Promise<Caught>[];
  readonly assumptions: readonly Promise<Caught>[];
  readonly close: () => Promise<void>;
};

/** Starts all explorations on threads. They run in the order of the lists, the longest first. */
export function exploreOnThreads(threads: number, size: Size = 'whole'): ExplorationThreads {
  const pool: WorkerPool<ExplorationRequest, Explored | Caught> = startWorkerPool({
    script: new URL('./worker.ts', import.meta.url),
    handle: runRequest,
    threads,
    describe: ({ list, index }) => `exploration ${index + 1} of the ${list}`,
  });
  const caught = (list: Suspect['list']): readonly Promise<Caught>[] =>
    SUSPECTS[list].map((_, index) => pool.run({ list, index }) as Promise<Caught>);
  return {
    explored: PROTOCOL[size].map((_, index) => pool.run({ list: size, index }) as Promise<Explored>),
    mutants: caught('mutants'),
    assumptions: caught('assumptions'),
    close: pool.close,
  };
}

/** Runs a request in this thread. */
export function runRequest({ list, index }: ExplorationRequest): Explored | Caught {
  if (list === 'whole' || list === 'small') return explore(at(PROTOCOL[list], index));
  const { name, variant } = at(SUSPECTS[list], index);
  return catchVariant(name, variant);
}

function at<T>(list: readonly T[], index: number): T {
  return list[index] as T;
}

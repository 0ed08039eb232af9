/**
 * Runs the explorations: the protocol as it is, its mutants, and the world without each assumption.
 */
import {
  AS_IT_IS,
  type Exploration,
  guards,
  nonsensePool,
  productPool,
  twoPools,
  type Variant,
} from './explorations.ts';
import { MUTANTS } from './mutants.ts';
import { type Failure, type SearchResult, search } from './world/search.ts';

export type Explored = {
  readonly exploration: Exploration;
  readonly found: SearchResult;
  readonly seconds: number;
};

/** The explorations that must find no violation of the protocol as it is. */
export const EXPLORATIONS: readonly Exploration[] = [
  guards({ tasks: 3, jobs: 2 }, 'prompt'),
  guards({ tasks: 2, jobs: 2 }, 'late'),
  nonsensePool({ tasks: 3, jobs: 2 }, { min: 1, max: 2 }),
  nonsensePool({ tasks: 2, jobs: 1 }, { min: 0, max: 1 }),
  productPool({ tasks: 3, jobs: 1 }, { min: 1, max: 2 }, 0),
  productPool({ tasks: 2, jobs: 1 }, { min: 1, max: 2 }, 2),
  twoPools(2, { maxTasks: 2, min: [0, 0], hasStock: false }),
  twoPools(1, { maxTasks: 2, min: [1, 0], hasStock: false }),
  twoPools(1, { maxTasks: 2, min: [0, 0], hasStock: true }),
];

/** Smaller explorations, for tests. */
export const SMALL: readonly Exploration[] = [
  guards({ tasks: 1, jobs: 1 }, 'prompt'),
  productPool({ tasks: 1, jobs: 1 }, { min: 0, max: 1 }, 0),
  twoPools(1, { maxTasks: 1, min: [0, 0], hasStock: false }),
  twoPools(1, { maxTasks: 1, min: [0, 0], hasStock: true }),
  productPool({ tasks: 2, jobs: 1 }, { min: 0, max: 2 }, 0),
  nonsensePool({ tasks: 1, jobs: 1 }, { min: 0, max: 1 }),
  nonsensePool({ tasks: 2, jobs: 1 }, { min: 1, max: 2 }),
];

/**
 * The explorations that must catch each mutant. The last one is too slow for a test of the protocol
 * as it is; `EXPLORATIONS` has a larger one.
 */
const CATCHING: readonly Exploration[] = [
  ...SMALL,
  productPool({ tasks: 2, jobs: 0 }, { min: 1, max: 2 }, 1),
];

/** Explores the protocol as it is, or a variant of it. */
export function explore(exploration: Exploration, variant: Variant = AS_IT_IS): Explored {
  const startedAt = performance.now();
  const found = search(exploration.build(variant));
  return { exploration, found, seconds: (performance.now() - startedAt) / 1000 };
}

export type Caught = {
  readonly name: string;
  /** The exploration that caught the mutant; undefined if none did. */
  readonly by: { readonly exploration: Exploration; readonly failure: Failure } | undefined;
  readonly states: number;
};

/** Runs explorations on each mutant until one catches it. */
export function catchMutants(): readonly Caught[] {
  return MUTANTS.map(({ name, variant }) => catchVariant(name, variant));
}

/** The assumptions behind safety, each with a variant of the world in which it does not hold. */
const ASSUMPTIONS: readonly (readonly [string, Variant])[] = [
  [
    'a daemon that starts after ECS has chosen its task is stopped before coderd hands it a job',
    { ...AS_IT_IS, stopsPromptly: false },
  ],
  [
    'a job of a draining daemon ends within 17 h, or its guard can renew the protection of 23 h',
    { ...AS_IT_IS, drainsInTime: false },
  ],
];

/** Shows that each assumption is needed: without it there is a violation. */
export function proveAssumptions(): readonly Caught[] {
  return ASSUMPTIONS.map(([name, variant]) => catchVariant(name, variant));
}

/** Runs explorations until one finds a violation of the variant. */
export function catchVariant(name: string, variant: Variant): Caught {
  let states = 0;
  for (const exploration of CATCHING) {
    const { found } = explore(exploration, variant);
    states += found.states;
    if (found.failure !== undefined) return { name, by: { exploration, failure: found.failure }, states };
  }
  return { name, by: undefined, states };
}

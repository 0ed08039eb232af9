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
import { type Failure, type SearchResult, search } from './world/search.ts';

/** What is told of an exploration. */
export type Named = Pick<Exploration, 'name' | 'bound'>;

export type Explored = {
  readonly exploration: Named;
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

/** Smaller explorations, for tests and `npm run explore -- --small`. */
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
  const { name, bound } = exploration;
  return { exploration: { name, bound }, found, seconds: (performance.now() - startedAt) / 1000 };
}

export type Caught = {
  readonly name: string;
  /** The exploration that caught the mutant; undefined if none did. */
  readonly by: { readonly exploration: Named; readonly failure: Failure } | undefined;
  readonly states: number;
};

/** The assumptions behind safety, each with a variant of the world in which it does not hold. */
export const ASSUMPTIONS: readonly { readonly name: string; readonly variant: Variant }[] = [
  {
    name: 'a daemon that starts after ECS has chosen its task is stopped before coderd hands it a job',
    variant: { ...AS_IT_IS, stopsPromptly: false },
  },
  {
    name: 'a job of a draining daemon ends within 17 h, or its guard can renew the protection of 23 h',
    variant: { ...AS_IT_IS, drainsInTime: false },
  },
];

/** Runs explorations until one finds a violation of the variant. */
export function catchVariant(name: string, variant: Variant): Caught {
  let states = 0;
  for (const tried of CATCHING) {
    const { exploration, found } = explore(tried, variant);
    states += found.states;
    if (found.failure !== undefined) return { name, by: { exploration, failure: found.failure }, states };
  }
  return { name, by: undefined, states };
}

/** Everything that `npm run explore` does: the protocol as it is, its mutants, and what it rests on. */
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
import { type Failure, type Found, search } from './world/search.ts';

export type Explored = { readonly exploration: Exploration; readonly found: Found; readonly seconds: number };

/** The explorations that find no violation of the protocol as it is. */
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

/** Smaller ones. */
export const SMALL: readonly Exploration[] = [
  guards({ tasks: 1, jobs: 1 }, 'prompt'),
  productPool({ tasks: 1, jobs: 1 }, { min: 0, max: 1 }, 0),
  twoPools(1, { maxTasks: 1, min: [0, 0], hasStock: false }),
  twoPools(1, { maxTasks: 1, min: [0, 0], hasStock: true }),
  productPool({ tasks: 2, jobs: 1 }, { min: 0, max: 2 }, 0),
  nonsensePool({ tasks: 1, jobs: 1 }, { min: 0, max: 1 }),
  nonsensePool({ tasks: 2, jobs: 1 }, { min: 1, max: 2 }),
];

/** What a mutant has to be caught by; the last one takes too long for a test of the protocol as it is, which `EXPLORATIONS` has larger. */
const CATCHING: readonly Exploration[] = [
  ...SMALL,
  productPool({ tasks: 2, jobs: 0 }, { min: 1, max: 2 }, 1),
];

/** Explores the protocol, or a variant of it. */
export function explore(exploration: Exploration, variant: Variant = AS_IT_IS): Explored {
  const startedAt = performance.now();
  const found = search(exploration.build(variant));
  return { exploration, found, seconds: (performance.now() - startedAt) / 1000 };
}

export type Caught = {
  readonly name: string;
  /** Undefined: no exploration noticed. */
  readonly by: { readonly exploration: Exploration; readonly failure: Failure } | undefined;
  readonly states: number;
};

/** Looks for what catches each mutant. */
export function catchMutants(): readonly Caught[] {
  return MUTANTS.map(({ name, variant }) => catchVariant(name, variant));
}

/** What safety rests on beside the protocol, each with the variant of the world in which it does not hold. */
const ASSUMPTIONS: readonly (readonly [string, Variant])[] = [
  [
    'a daemon that was started after ECS chose its task is stopped before it is handed a job',
    { ...AS_IT_IS, stopsPromptly: false },
  ],
  [
    'a job that is being drained ends within 17 h, or its guard can take 23 h again',
    { ...AS_IT_IS, drainsInTime: false },
  ],
];

/** Shows that each is needed: without it there is a violation. */
export function proveAssumptions(): readonly Caught[] {
  return ASSUMPTIONS.map(([name, variant]) => catchVariant(name, variant));
}

/** Looks for the first exploration that notices. */
export function catchVariant(name: string, variant: Variant): Caught {
  let states = 0;
  for (const exploration of CATCHING) {
    const { found } = explore(exploration, variant);
    states += found.states;
    if (found.failure !== undefined) return { name, by: { exploration, failure: found.failure }, states };
  }
  return { name, by: undefined, states };
}

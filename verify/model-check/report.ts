/** What the explorations found, as lines for people and as one object. */
import type { Exploration } from './explorations.ts';
import type { Caught, Explored } from './run.ts';

/** What is explored, and how far. */
export function boundText({ name, bound }: Exploration): string {
  return `${name} [${bound.tasks} task(s), ${bound.jobs} job(s)]`;
}

/** One line, and the shortest trace where a property is violated. */
export function exploredLines({ found, seconds }: Explored): readonly string[] {
  const { states, transitions, failure } = found;
  const size = `${states} states, ${transitions} steps, ${seconds.toFixed(1)} s`;
  if (failure === undefined) return [`  ${size}: no violation`];
  return [`  ${size}: VIOLATION of ${failure.property}: ${failure.what}`, ...failure.trace];
}

/** One line: which property noticed, and after how many steps. */
export function caughtLines({ name, by, states }: Caught): readonly string[] {
  if (by === undefined) return [`  NOT CAUGHT  ${name} (${states} states)`];
  const { exploration, failure } = by;
  return [
    `  caught  ${name}`,
    `          by ${failure.property} after ${failure.steps} step(s): ${failure.what}; ${boundText(exploration)}`,
  ];
}

/** Step by step how it goes wrong. */
export function traceLines({ name, by }: Caught): readonly string[] {
  return by === undefined ? [] : ['', `${name}:`, ...by.failure.trace];
}

type Results = {
  readonly explored: readonly Explored[];
  readonly mutants: readonly Caught[];
  readonly assumptions: readonly Caught[];
  readonly seconds: number;
};

/** The last line of `--json`. */
export function summaryOf({ explored, mutants, assumptions, seconds }: Results) {
  const caughtOf = (list: readonly Caught[]) => list.filter(({ by }) => by !== undefined).length;
  return {
    states: explored.reduce((sum, { found }) => sum + found.states, 0),
    violations: explored.filter(({ found }) => found.failure !== undefined).length,
    mutants: { caught: caughtOf(mutants), of: mutants.length },
    assumptions: { needed: caughtOf(assumptions), of: assumptions.length },
    seconds: Math.round(seconds * 10) / 10,
    explorations: explored.map((one) => ({
      name: one.exploration.name,
      ...one.exploration.bound,
      states: one.found.states,
      steps: one.found.transitions,
      seconds: Math.round(one.seconds * 10) / 10,
      ...(one.found.failure === undefined ? {} : { violates: one.found.failure.property }),
    })),
  };
}

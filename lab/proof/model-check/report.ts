/** Formats the results of the explorations: lines for people, and one JSON object. */
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { Caught, Explored, Named } from './run.ts';

export function boundText({ name, bound }: Named): string {
  return `${name} [${bound.tasks} task(s), ${bound.jobs} job(s)]`;
}

/** One line; after a violation also the shortest trace to it. */
export function exploredLines({ found, seconds }: Explored): readonly string[] {
  const { states, transitions, failure } = found;
  const size = `${states} states, ${transitions} steps, ${seconds.toFixed(1)} s`;
  if (failure === undefined) return [`  ${size}: no violation`];
  return [`  ${size}: VIOLATION of ${failure.property}: ${failure.what}`, ...failure.trace];
}

/** Which property was violated, and after how many steps. */
export function caughtLines({ name, by, states }: Caught): readonly string[] {
  if (by === undefined) return [`  NOT CAUGHT  ${name} (${states} states)`];
  const { exploration, failure } = by;
  return [
    `  caught  ${name}`,
    `          violates ${failure.property} after ${failure.steps} step(s): ${failure.what}; ${boundText(exploration)}`,
  ];
}

export function traceLines({ name, by }: Caught): readonly string[] {
  return by === undefined ? [] : ['', `${name}:`, ...by.failure.trace];
}

type Results = {
  readonly explored: readonly Explored[];
  readonly mutants: readonly Caught[];
  readonly assumptions: readonly Caught[];
  readonly seconds: number;
};

export function summaryOf({ explored, mutants, assumptions, seconds }: Results) {
  const caughtOf = (list: readonly Caught[]) => list.filter(({ by }) => by !== undefined).length;
  return {
    states: sum(explored, ({ found }) => found.states),
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

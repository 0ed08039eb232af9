/**
 * Breadth-first search through all states of a model, so that the first violation found is one with the fewest steps.
 * States are whole numbers below 2^53.
 */
import { CodeSet } from './code-set.ts';

export type Property = 'safety' | 'count' | 'progress';

/** One step: to which state, what happened, and to which task (-1: to none of them). */
export type Emit = (to: number, what: string, slot: number) => void;
/** A step that must not be. */
export type Fail = (property: Property, what: string, slot: number) => void;

export type Model = {
  readonly initial: number;
  /** Tells every step from a state. */
  readonly expand: (code: number, emit: Emit, fail: Fail) => void;
  /** Whether the state itself is a violation: the lines that show it, or undefined. */
  readonly judge?: ((code: number) => Violation | undefined) | undefined;
  readonly describe: (code: number) => string;
};

/** What is wrong, and how it goes on from the state in which that shows. */
export type Violation = {
  readonly property: Property;
  readonly what: string;
  readonly afterwards: readonly string[];
};

export type Failure = {
  readonly property: Property;
  readonly what: string;
  /** Until the state in which it shows. */
  readonly steps: number;
  /** One line for each step, the violation last. */
  readonly trace: readonly string[];
};

export type Found = {
  readonly states: number;
  readonly transitions: number;
  /** Absent: every state that can be reached was, and none is a violation. */
  readonly failure: Failure | undefined;
};

/** Searches until a violation is found or nothing is left. */
export function search(model: Model): Found {
  const reached = new CodeSet();
  reached.add(model.initial, -1);
  let transitions = 0;
  let violation: Violation | undefined;
  let current = 0;
  const emit: Emit = (to) => {
    transitions++;
    reached.add(to, current);
  };
  const fail: Fail = (property, what, slot) => {
    violation ??= { property, what: labelOf(what, slot), afterwards: [] };
  };
  for (; current < reached.size && violation === undefined; current++) {
    const code = reached.codeAt(current);
    model.expand(code, emit, fail);
    violation ??= model.judge?.(code);
    if (violation !== undefined) break;
  }
  const failure = violation && toFailure(model, pathTo(reached, current), violation);
  return { states: reached.size, transitions, failure };
}

function pathTo(reached: CodeSet, last: number): readonly number[] {
  const path: number[] = [];
  for (let index = last; index >= 0; index = reached.parentOf(index)) path.unshift(reached.codeAt(index));
  return path;
}

function toFailure(
  model: Model,
  path: readonly number[],
  { property, what, afterwards }: Violation,
): Failure {
  const steps = path.map((code, index) => {
    const before = path[index - 1];
    const label = before === undefined ? 'at first' : stepBetween(model, before, code);
    return `${String(index).padStart(3)}. ${label}\n       ${model.describe(code)}`;
  });
  const trace = [...steps, ...afterwards, `  => ${property.toUpperCase()}: ${what}`];
  return { property, what, steps: path.length, trace };
}

function stepBetween(model: Model, from: number, to: number): string {
  let label = '?';
  model.expand(
    from,
    (reached, what, slot) => {
      if (reached === to && label === '?') label = labelOf(what, slot);
    },
    () => {},
  );
  return label;
}

function labelOf(what: string, slot: number): string {
  return slot < 0 ? what : `task ${slot + 1}: ${what}`;
}

/** Searches breadth first, so the first violation has the fewest steps. States are below 2^53. */

export type Property = 'safety' | 'count' | 'progress';

/** Reports one step: the next state, what happened, and to which task (-1: to none). */
export type Emit = (to: number, what: string, slot: number) => void;
export type Fail = (property: Property, what: string, slot: number) => void;

export type Model = {
  readonly initial: number;
  /** Emits every step from a state. */
  readonly expand: (code: number, emit: Emit, fail: Fail) => void;
  readonly judge?: Judge;
  readonly describe: (code: number) => string;
};

export type Judge = (code: number) => Violation | undefined;

/** Judges a state by each of these; the first violation counts. */
export function judgeAll(judges: readonly Judge[]): Judge {
  return (code) => {
    for (const judge of judges) {
      const violation = judge(code);
      if (violation !== undefined) return violation;
    }
    return undefined;
  };
}

/** A violation, and the lines that show what follows from its state. */
export type Violation = {
  readonly property: Property;
  readonly what: string;
  readonly afterwards: readonly string[];
};

export type Failure = {
  readonly property: Property;
  readonly what: string;
  /** Number of states up to the violation. */
  readonly steps: number;
  /** One line for each step, the violation last. */
  readonly trace: readonly string[];
};

export type SearchResult = {
  readonly states: number;
  readonly transitions: number;
  /** Undefined: all reachable states were searched, and none is a violation. */
  readonly failure: Failure | undefined;
};

export function search(model: Model): SearchResult {
  /** The reached states in the order of discovery, each with the state from which it was reached. */
  const reached = new Map<number, number | undefined>([[model.initial, undefined]]);
  let transitions = 0;
  let violation: Violation | undefined;
  let current = model.initial;
  const emit: Emit = (to) => {
    transitions++;
    if (!reached.has(to)) reached.set(to, current);
  };
  const fail: Fail = (property, what, slot) => {
    violation ??= { property, what: labelOf(what, slot), afterwards: [] };
  };
  // a map also iterates over what is added meanwhile
  for (const code of reached.keys()) {
    current = code;
    model.expand(code, emit, fail);
    violation ??= model.judge?.(code);
    if (violation !== undefined) break;
  }
  const failure = violation && toFailure(model, pathTo(reached, current), violation);
  return { states: reached.size, transitions, failure };
}

function pathTo(reached: ReadonlyMap<number, number | undefined>, last: number): readonly number[] {
  const before = reached.get(last);
  return before === undefined ? [last] : [...pathTo(reached, before), last];
}

function toFailure(
  model: Model,
  path: readonly number[],
  { property, what, afterwards }: Violation,
): Failure {
  const steps = path.map((code, index) => {
    const before = path[index - 1];
    const label = before === undefined ? 'initial state' : stepBetween(model, before, code);
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

/** What the product's looks have seen and are about to write: the part of a state that is theirs. */

import { Interned } from '../world/interned.ts';
import { coderKey, ecsKey, type Write } from './decider.ts';
import { type CoderReadings, type DaemonView, type EcsReadings, NO_DAEMON } from './view.ts';

/** One look. */
export type Thought =
  /** It has read coderd, and not ECS yet. */
  | { readonly kind: 'saw-coder'; readonly coder: CoderReadings; readonly age: number }
  /** It has read ECS, and not coderd yet; tasks in these places are gone since. */
  | {
      readonly kind: 'saw-ecs';
      readonly ecs: EcsReadings;
      readonly gone: readonly number[];
      readonly age: number;
    }
  /** It has decided, and these calls are still to be made. */
  | { readonly kind: 'acts'; readonly writes: readonly Write[] };

export type InFlightLook = readonly Thought[];

/** Steps of the rest of the world between the two readings of one look, which are a second apart. */
const STEPS_BETWEEN_READINGS = 2;

/** Different minds that there may be. */
const MINDS = 1 << 16;

/** Numbers for minds; 0 is the empty one. */
export class InFlightLooks {
  readonly #known = new Interned<InFlightLook>((mind) => mind.map(thoughtKey).join(' & '), MINDS);

  constructor() {
    this.#known.idOf([]);
  }

  at(id: number): InFlightLook {
    return this.#known.at(id);
  }

  idOf(mind: InFlightLook): number {
    return this.#known.idOf(mind.toSorted((a, b) => (thoughtKey(a) < thoughtKey(b) ? -1 : 1)));
  }
}

/** The same thought once the task in a place is gone; undefined when nothing is left of it. */
export function withoutTask(thought: Thought, slot: number): Thought | undefined {
  switch (thought.kind) {
    case 'saw-coder': {
      const { daemons, pending } = thought.coder;
      return { ...thought, coder: { daemons: daemons.with(slot, NO_DAEMON), pending } };
    }
    case 'saw-ecs': {
      const isSeen = thought.ecs.tasks[slot] !== undefined && !thought.gone.includes(slot);
      return isSeen ? { ...thought, gone: [...thought.gone, slot].sort() } : thought;
    }
    case 'acts':
      return actsOf(withoutAsks(thought.writes, [slot]));
    default:
      return thought satisfies never;
  }
}

/** The same thought after a step of the rest of the world; 'too-old' for a look that takes no longer than it has. */
export function older(thought: Thought): Thought | 'too-old' {
  if (thought.kind === 'acts') return thought;
  return thought.age < STEPS_BETWEEN_READINGS ? { ...thought, age: thought.age + 1 } : 'too-old';
}

/** What remains to be done; undefined for nothing. */
export function actsOf(writes: readonly Write[]): Thought | undefined {
  return writes.length === 0 ? undefined : { kind: 'acts', writes };
}

/** The same thought with the places in another order: `to[slot]` is the new place of what is in `slot`. */
export function moved(thought: Thought, to: readonly number[]): Thought {
  switch (thought.kind) {
    case 'saw-coder': {
      const { daemons, pending } = thought.coder;
      return { ...thought, coder: { daemons: movedList(daemons, to), pending } };
    }
    case 'saw-ecs': {
      const gone = thought.gone.map((slot) => to[slot] ?? slot).sort();
      return { ...thought, ecs: { ...thought.ecs, tasks: movedList(thought.ecs.tasks, to) }, gone };
    }
    case 'acts':
      return { kind: 'acts', writes: thought.writes.map((write) => movedWrite(write, to)) };
    default:
      return thought satisfies never;
  }
}

/** coderd's part of a look whose ECS part is older: the daemons of tasks that are gone read idle for a while. */
export function withGone(coder: CoderReadings, gone: readonly number[]): CoderReadings {
  const stale: DaemonView = { row: 'live', hasJob: false };
  return { ...coder, daemons: coder.daemons.map((daemon, slot) => (gone.includes(slot) ? stale : daemon)) };
}

/** The same calls, with nothing said to tasks that are gone. */
export function withoutAsks(writes: readonly Write[], gone: readonly number[]): readonly Write[] {
  return gone.reduce(
    (rest: readonly Write[], slot) => rest.flatMap((write) => withoutAsk(write, slot)),
    writes,
  );
}

/** For people who read a trace. */
export function describeThought(thought: Thought): string {
  switch (thought.kind) {
    case 'saw-coder':
      return 'a look has read coderd';
    case 'saw-ecs':
      return 'a look has read ECS';
    case 'acts':
      return `a look is about to ${thought.writes.map(describeWrite).join(', then ')}`;
    default:
      return thought satisfies never;
  }
}

/** For people who read a trace. */
export function describeWrite(write: Write): string {
  if (write.kind === 'set') return `set the count to ${write.desired}`;
  return `ask task ${write.slots.map((slot) => slot + 1).join(' and ')} to leave`;
}

function withoutAsk(write: Write, slot: number): readonly Write[] {
  if (write.kind === 'set') return [write];
  const slots = write.slots.filter((it) => it !== slot);
  return slots.length === 0 ? [] : [{ kind: 'ask', slots }];
}

function movedWrite(write: Write, to: readonly number[]): Write {
  if (write.kind === 'set') return write;
  return { kind: 'ask', slots: write.slots.map((slot) => to[slot] ?? slot).sort() };
}

function movedList<T>(list: readonly T[], to: readonly number[]): readonly T[] {
  const result = [...list];
  for (const [slot, value] of list.entries()) result[to[slot] ?? slot] = value;
  return result;
}

function thoughtKey(thought: Thought): string {
  switch (thought.kind) {
    case 'saw-coder':
      return `C${thought.age} ${coderKey(thought.coder)}`;
    case 'saw-ecs':
      return `E${thought.age} ${ecsKey(thought.ecs)}-${thought.gone}`;
    case 'acts':
      return `A${thought.writes.map((write) => (write.kind === 'set' ? write.desired : `a${write.slots}`)).join()}`;
    default:
      return thought satisfies never;
  }
}

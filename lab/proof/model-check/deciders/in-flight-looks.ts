/** The product's looks in progress, a part of a state: what they have read and what they will write. */
import { Interned } from '../world/interned.ts';
import { coderKey, ecsKey, type Write } from './decider.ts';
import { type CoderReadings, type DaemonView, type EcsReadings, NO_DAEMON } from './view.ts';

export type InFlightLook =
  /** It has read coderd, but not ECS yet. */
  | { readonly kind: 'saw-coder'; readonly coder: CoderReadings; readonly age: number }
  /** It has read ECS, but not coderd yet. The tasks in the slots `gone` have stopped since. */
  | {
      readonly kind: 'saw-ecs';
      readonly ecs: EcsReadings;
      readonly gone: readonly number[];
      readonly age: number;
    }
  /** It has decided. These calls are still to be made. */
  | { readonly kind: 'acts'; readonly writes: readonly Write[] };

export type LooksInFlight = readonly InFlightLook[];

/** Steps of the rest of the world between the two readings of a look, which are a second apart. */
const STEPS_BETWEEN_READINGS = 2;

/** The most lists of looks that can be numbered. */
const MOST_LISTS = 1 << 16;

/** Gives each list of looks a number; the empty list has 0. */
export class InFlightLookTable {
  readonly #known = new Interned<LooksInFlight>((looks) => looks.map(lookKey).join(' & '), MOST_LISTS);

  constructor() {
    this.#known.idOf([]);
  }

  at(id: number): LooksInFlight {
    return this.#known.at(id);
  }

  idOf(looks: LooksInFlight): number {
    return this.#known.idOf(looks.toSorted((a, b) => (lookKey(a) < lookKey(b) ? -1 : 1)));
  }
}

/** The look after the task in a slot has stopped; undefined if the look has nothing left to do. */
export function withoutTask(look: InFlightLook, slot: number): InFlightLook | undefined {
  switch (look.kind) {
    case 'saw-coder': {
      const { daemons, pending } = look.coder;
      return { ...look, coder: { daemons: daemons.with(slot, NO_DAEMON), pending } };
    }
    case 'saw-ecs': {
      const isSeen = look.ecs.tasks[slot] !== undefined && !look.gone.includes(slot);
      return isSeen ? { ...look, gone: [...look.gone, slot].sort() } : look;
    }
    case 'acts':
      return actsOf(withoutAsks(look.writes, [slot]));
    default:
      return look satisfies never;
  }
}

/** The look after a step of the rest of the world; 'too-old' if its second reading is due first. */
export function older(look: InFlightLook): InFlightLook | 'too-old' {
  if (look.kind === 'acts') return look;
  return look.age < STEPS_BETWEEN_READINGS ? { ...look, age: look.age + 1 } : 'too-old';
}

/** A look with these calls still to make; undefined if there are none. */
export function actsOf(writes: readonly Write[]): InFlightLook | undefined {
  return writes.length === 0 ? undefined : { kind: 'acts', writes };
}

/** The look with the slots in another order: `to[slot]` is the new slot of the task in `slot`. */
export function moved(look: InFlightLook, to: readonly number[]): InFlightLook {
  switch (look.kind) {
    case 'saw-coder': {
      const { daemons, pending } = look.coder;
      return { ...look, coder: { daemons: movedList(daemons, to), pending } };
    }
    case 'saw-ecs': {
      const gone = look.gone.map((slot) => to[slot] ?? slot).sort();
      return { ...look, ecs: { ...look.ecs, tasks: movedList(look.ecs.tasks, to) }, gone };
    }
    case 'acts':
      return { kind: 'acts', writes: look.writes.map((write) => movedWrite(write, to)) };
    default:
      return look satisfies never;
  }
}

/** What coderd shows after ECS was read: it still lists the daemons of stopped tasks as idle. */
export function withGone(coder: CoderReadings, gone: readonly number[]): CoderReadings {
  const stale: DaemonView = { row: 'live', hasJob: false };
  return { ...coder, daemons: coder.daemons.map((daemon, slot) => (gone.includes(slot) ? stale : daemon)) };
}

/** The calls without drain requests to tasks that have stopped. */
export function withoutAsks(writes: readonly Write[], gone: readonly number[]): readonly Write[] {
  return gone.reduce(
    (rest: readonly Write[], slot) => rest.flatMap((write) => withoutAsk(write, slot)),
    writes,
  );
}

export function describeInFlightLook(look: InFlightLook): string {
  switch (look.kind) {
    case 'saw-coder':
      return 'a look has read coderd';
    case 'saw-ecs':
      return 'a look has read ECS';
    case 'acts':
      return `a look will ${look.writes.map(describeWrite).join(', then ')}`;
    default:
      return look satisfies never;
  }
}

function describeWrite(write: Write): string {
  if (write.kind === 'set') return `set the count to ${write.desired}`;
  return `send a drain request to task ${write.slots.map((slot) => slot + 1).join(' and ')}`;
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

function lookKey(look: InFlightLook): string {
  switch (look.kind) {
    case 'saw-coder':
      return `C${look.age} ${coderKey(look.coder)}`;
    case 'saw-ecs':
      return `E${look.age} ${ecsKey(look.ecs)}-${look.gone}`;
    case 'acts':
      return `A${look.writes.map((write) => (write.kind === 'set' ? write.desired : `a${write.slots}`)).join()}`;
    default:
      return look satisfies never;
  }
}

/**
 * The product's autoscaler in an exploration: its looks read coderd and ECS at one moment or at two, decide by the core's `decide`, and
 * make their calls one by one. A look may end between any two calls, a reply may be lost (then a look makes no further
 * calls, lambda/look/apply.ts), and a second look may look and act before the first is done.
 */
import { type Autoscaler, sortPlaces } from '../world/autoscalers.ts';
import { remembered } from '../world/interned.ts';
import { copyInto, NOBODY, type PoolCodes, type PoolState } from '../world/pool-state.ts';
import type { Emit, Fail } from '../world/search.ts';
import { ASK } from '../world/task.ts';
import { wrongCount } from './counts.ts';
import { type Decider, ordersOf, type Write } from './decider.ts';
import {
  actsOf,
  describeThought,
  type InFlightLook,
  InFlightLooks,
  moved,
  older,
  type Thought,
  withGone,
  withoutAsks,
  withoutTask,
} from './in-flight-looks.ts';
import { type CoderReadings, type EcsReadings, seenByCoder, seenByEcs } from './view.ts';

export type ProductRules = {
  readonly decider: Decider;
  /** Looks that may be at work at one time; 0: each is over at once. */
  readonly overlapping: 0 | 1 | 2;
};

type Lists = readonly (readonly Write[])[];

/** The product, as an autoscaler of an exploration. */
export class Product implements Autoscaler {
  readonly #codes: PoolCodes;
  readonly #rules: ProductRules;
  readonly #minds = new InFlightLooks();
  readonly #next: PoolState;
  readonly #other: PoolState;
  readonly #orders: readonly (readonly number[])[];
  readonly #movedMinds: readonly ((mind: number) => number)[];
  readonly #asked = remembered((id) => {
    const task = this.#codes.kinds.at(id);
    return task === undefined ? NOBODY : this.#codes.kinds.idOf({ ...task, protection: ASK });
  });

  constructor(codes: PoolCodes, rules: ProductRules) {
    this.#codes = codes;
    this.#rules = rules;
    this.#next = codes.empty();
    this.#other = codes.empty();
    this.#orders = ordersOf(codes.bound.tasks);
    this.#movedMinds = this.#orders.map((order) =>
      remembered((mind) => this.#minds.idOf(this.#minds.at(mind).map((thought) => moved(thought, order)))),
    );
  }

  expand(now: PoolState, emit: Emit, fail: Fail): void {
    const { overlapping } = this.#rules;
    if (overlapping === 0) {
      this.#lookAndAct(now, emit, fail);
      return;
    }
    const mind = this.#minds.at(now.mind);
    if (mind.length < overlapping && mind.every(({ kind }) => kind === 'acts'))
      this.#look(now, mind, emit, fail);
    if (mind.length === 0) this.#beginLook(now, emit);
    for (const [at, thought] of mind.entries()) this.#goOn(now, thought, mind.toSpliced(at, 1), emit);
  }

  withoutTask(mind: number, slot: number): number {
    return this.#minds.idOf(this.#minds.at(mind).flatMap((thought) => withoutTask(thought, slot) ?? []));
  }

  readonly afterStep = remembered((mind): number | 'not-now' => {
    const next = this.#minds.at(mind).map(older);
    const isInTime = (thought: Thought | 'too-old'): thought is Thought => thought !== 'too-old';
    return next.every(isInTime) ? this.#minds.idOf(next) : 'not-now';
  });

  /** The smallest number of all orders of places: what is on its mind follows the tasks. */
  canonical(state: PoolState): number {
    if (state.mind === 0) {
      sortPlaces(state.ids);
      return this.#codes.pack(state);
    }
    let least = Number.POSITIVE_INFINITY;
    for (const [at, order] of this.#orders.entries()) {
      copyInto(state, this.#other);
      for (let slot = 0; slot < order.length; slot++)
        this.#other.ids[order[slot] ?? slot] = state.ids[slot] ?? NOBODY;
      this.#other.mind = this.#movedMinds[at]?.(state.mind) ?? 0;
      least = Math.min(least, this.#codes.pack(this.#other));
    }
    return least;
  }

  describe(mind: number): string {
    return this.#minds
      .at(mind)
      .map((thought) => ` | ${describeThought(thought)}`)
      .join('');
  }

  /** All at one moment. */
  #lookAndAct(now: PoolState, emit: Emit, fail: Fail): void {
    for (const writes of this.#decideFresh(now, fail)) {
      if (writes.length === 0) continue;
      const next = this.#asNow(now);
      for (const write of writes) this.#carryOut(write, next);
      emit(this.canonical(next), 'a look looks, decides and acts', -1);
    }
  }

  #look(now: PoolState, mind: InFlightLook, emit: Emit, fail: Fail): void {
    for (const writes of this.#decideFresh(now, fail))
      if (writes.length > 0) this.#think(now, [...mind, actsOf(writes)], 'a look looks and decides', emit);
  }

  #beginLook(now: PoolState, emit: Emit): void {
    const coder = this.#readCoder(now);
    this.#think(now, [{ kind: 'saw-coder', coder, age: 0 }], 'a look reads coderd', emit);
    const ecs = this.#readEcs(now);
    this.#think(now, [{ kind: 'saw-ecs', ecs, gone: [], age: 0 }], 'a look reads ECS', emit);
  }

  #goOn(now: PoolState, thought: Thought, others: InFlightLook, emit: Emit): void {
    const { decider } = this.#rules;
    switch (thought.kind) {
      case 'saw-coder': {
        const lists = decider(this.#readEcs(now, true), thought.coder);
        this.#decided(now, others, lists, 'the look reads ECS and decides', emit);
        break;
      }
      case 'saw-ecs': {
        const lists = decider(thought.ecs, withGone(this.#readCoder(now), thought.gone));
        const still = lists.map((writes) => withoutAsks(writes, thought.gone));
        this.#decided(now, others, still, 'the look reads coderd and decides', emit);
        break;
      }
      case 'acts':
        this.#act(now, thought.writes, others, emit);
        break;
      default:
        thought satisfies never;
    }
  }

  #decided(now: PoolState, others: InFlightLook, lists: Lists, what: string, emit: Emit): void {
    for (const writes of lists) this.#think(now, [...others, actsOf(writes)], what, emit);
  }

  #act(now: PoolState, [write, ...rest]: readonly Write[], others: InFlightLook, emit: Emit): void {
    if (write === undefined) return;
    const what = WHAT[write.kind];
    const goesOn = [...others, actsOf(rest)];
    this.#think(now, goesOn, what, emit, write);
    this.#think(now, others, 'the look ends before its next call', emit);
    if (rest.length === 0) return;
    this.#think(now, others, `${what}; the reply is lost, and the look ends`, emit, write);
    if (write.kind === 'ask') this.#think(now, goesOn, 'ECS refuses the ask', emit);
  }

  /** @param write what is carried out on the way */
  #think(
    now: PoolState,
    mind: readonly (Thought | undefined)[],
    what: string,
    emit: Emit,
    write?: Write,
  ): void {
    const next = this.#asNow(now);
    if (write !== undefined) this.#carryOut(write, next);
    next.mind = this.#minds.idOf(mind.filter((thought) => thought !== undefined));
    emit(this.canonical(next), what, -1);
  }

  #asNow(now: PoolState): PoolState {
    copyInto(now, this.#next);
    return this.#next;
  }

  #carryOut(write: Write, state: PoolState): void {
    if (write.kind === 'set') state.desired = write.desired;
    else for (const slot of write.slots) state.ids[slot] = this.#asked(state.ids[slot] ?? NOBODY);
  }

  /** Decides upon what is so at this moment; the count that it sets is judged. */
  #decideFresh(now: PoolState, fail: Fail): Lists {
    const lists = this.#fresh(this.#codes.pack({ ...now, ids: now.ids.map(this.#alikeOf), mind: 0 }));
    for (const writes of lists) {
      const wrong = wrongCount(now, this.#codes, writes);
      if (wrong !== undefined) fail('count', wrong, -1);
    }
    return lists;
  }

  /** The number of the first task that looks like this one: what looks alike is decided alike. */
  readonly #alikeOf = remembered((id) => {
    const sight = JSON.stringify([this.#ecsReadingsOf(id).first, this.#coderReadingsOf(id)]);
    const known = this.#firstOf.get(sight) ?? id;
    this.#firstOf.set(sight, known);
    return known;
  });
  readonly #firstOf = new Map<string, number>();
  readonly #freshLists = new Map<number, Lists>();

  #fresh(code: number): Lists {
    const known = this.#freshLists.get(code);
    if (known !== undefined) return known;
    const state = this.#codes.empty();
    this.#codes.unpack(code, state);
    const lists = this.#rules.decider(this.#readEcs(state), this.#readCoder(state));
    this.#freshLists.set(code, lists);
    return lists;
  }

  readonly #ecsReadingsOf = remembered((id) => ({
    first: seenByEcs(this.#codes.kinds.at(id)),
    second: seenByEcs(this.#codes.kinds.at(id), true),
  }));
  readonly #coderReadingsOf = remembered((id) => seenByCoder(this.#codes.kinds.at(id)));

  #readEcs({ ids, desired, isDeploying, isUnplaced }: PoolState, isCoderOlder = false): EcsReadings {
    const turn = isCoderOlder ? 'second' : 'first';
    return { tasks: ids.map((id) => this.#ecsReadingsOf(id)[turn]), desired, isDeploying, isUnplaced };
  }

  #readCoder({ ids, pending }: PoolState): CoderReadings {
    return { daemons: ids.map(this.#coderReadingsOf), pending };
  }
}

const WHAT = { set: 'the look sets the count', ask: 'the look asks to leave' } as const;

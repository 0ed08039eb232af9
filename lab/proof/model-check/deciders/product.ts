/**
 * The product's autoscaler. Its looks read coderd and ECS at one moment or at two, and make their
 * calls one by one. A look may end between two calls, or after a lost reply (lambda/look/apply.ts);
 * a second one may start before.
 */
import type { Autoscaler } from '../world/autoscalers.ts';
import { remembered } from '../world/interned.ts';
import { copyInto, NO_TASK, type PoolCodes, type PoolState, sortSlots } from '../world/pool-state.ts';
import type { Emit, Fail } from '../world/search.ts';
import { isAtRisk, type ModelTask, UNPROTECTED } from '../world/task.ts';
import { type Decider, ordersOf, type Write } from './decider.ts';
import {
  actsOf,
  describeInFlightLook,
  type InFlightLook,
  InFlightLookTable,
  type LooksInFlight,
  moved,
  older,
  withGone,
  withoutAsks,
  withoutTask,
} from './in-flight-looks.ts';
import { type Bounds, type CoderReadings, type EcsReadings, seenByCoder, seenByEcs } from './view.ts';

export type ProductRules = {
  readonly decider: Decider;
  readonly limits: Bounds;
  /** How many looks may run at the same time. 0: each look ends at once. */
  readonly overlapping: 0 | 1 | 2;
  /** Whether starts keep failing, so that starting tasks are given up. */
  readonly startsFail: boolean;
};

type Lists = readonly (readonly Write[])[];

export class Product implements Autoscaler {
  readonly #codes: PoolCodes;
  readonly #rules: ProductRules;
  readonly #inFlight = new InFlightLookTable();
  readonly #next: PoolState;
  readonly #other: PoolState;
  readonly #orders: readonly (readonly number[])[];
  readonly #movedLooks: readonly ((looksId: number) => number)[];

  constructor(codes: PoolCodes, rules: ProductRules) {
    this.#codes = codes;
    this.#rules = rules;
    this.#next = codes.empty();
    this.#other = codes.empty();
    this.#orders = ordersOf(codes.bound.tasks);
    this.#movedLooks = this.#orders.map((order) =>
      remembered((looksId) =>
        this.#inFlight.idOf(this.#inFlight.at(looksId).map((look) => moved(look, order))),
      ),
    );
  }

  expand(now: PoolState, emit: Emit, fail: Fail): void {
    const { overlapping } = this.#rules;
    if (overlapping === 0) {
      this.#lookAndAct(now, emit, fail);
      return;
    }
    const looks = this.#inFlight.at(now.looksId);
    if (looks.length < overlapping && looks.every(({ kind }) => kind === 'acts'))
      this.#look(now, looks, emit, fail);
    if (looks.length === 0) this.#beginLook(now, emit);
    for (const [at, look] of looks.entries()) this.#goOn(now, look, looks.toSpliced(at, 1), emit);
  }

  withoutTask(looksId: number, slot: number): number {
    return this.#inFlight.idOf(this.#inFlight.at(looksId).flatMap((look) => withoutTask(look, slot) ?? []));
  }

  readonly afterStep = remembered((looksId): number | 'not-now' => {
    const next = this.#inFlight.at(looksId).map(older);
    const isInTime = (look: InFlightLook | 'too-old'): look is InFlightLook => look !== 'too-old';
    return next.every(isInTime) ? this.#inFlight.idOf(next) : 'not-now';
  });

  /** The smallest number over all orders of the slots. The looks in progress are reordered with the tasks. */
  canonical(state: PoolState): number {
    if (state.looksId === 0) {
      sortSlots(state.ids);
      return this.#codes.pack(state);
    }
    let least = Number.POSITIVE_INFINITY;
    for (const [at, order] of this.#orders.entries()) {
      copyInto(state, this.#other);
      for (let slot = 0; slot < order.length; slot++)
        this.#other.ids[order[slot] ?? slot] = state.ids[slot] ?? NO_TASK;
      this.#other.looksId = this.#movedLooks[at]?.(state.looksId) ?? 0;
      least = Math.min(least, this.#codes.pack(this.#other));
    }
    return least;
  }

  describe(looksId: number): string {
    return this.#inFlight
      .at(looksId)
      .map((look) => ` | ${describeInFlightLook(look)}`)
      .join('');
  }

  /** The look reads, decides and acts at one moment. */
  #lookAndAct(now: PoolState, emit: Emit, fail: Fail): void {
    for (const writes of this.#decideFresh(now, fail)) {
      if (writes.length === 0) continue;
      const next = this.#asNow(now);
      for (const write of writes) this.#carryOut(write, next);
      emit(this.canonical(next), 'a look reads, decides and acts', -1);
    }
  }

  #look(now: PoolState, looks: LooksInFlight, emit: Emit, fail: Fail): void {
    for (const writes of this.#decideFresh(now, fail))
      if (writes.length > 0)
        this.#emitLooks(now, [...looks, actsOf(writes)], 'a look reads and decides', emit);
  }

  #beginLook(now: PoolState, emit: Emit): void {
    const coder = this.#readCoder(now);
    this.#emitLooks(now, [{ kind: 'saw-coder', coder, age: 0 }], 'a look reads coderd', emit);
    const ecs = this.#readEcs(now);
    this.#emitLooks(now, [{ kind: 'saw-ecs', ecs, gone: [], age: 0 }], 'a look reads ECS', emit);
  }

  #goOn(now: PoolState, look: InFlightLook, others: LooksInFlight, emit: Emit): void {
    const { decider } = this.#rules;
    switch (look.kind) {
      case 'saw-coder': {
        const lists = decider(this.#readEcs(now, true), look.coder);
        this.#decided(now, others, lists, 'the look reads ECS and decides', emit);
        break;
      }
      case 'saw-ecs': {
        const lists = decider(look.ecs, withGone(this.#readCoder(now), look.gone));
        const still = lists.map((writes) => withoutAsks(writes, look.gone));
        this.#decided(now, others, still, 'the look reads coderd and decides', emit);
        break;
      }
      case 'acts':
        this.#act(now, look.writes, others, emit);
        break;
      default:
        look satisfies never;
    }
  }

  #decided(now: PoolState, others: LooksInFlight, lists: Lists, what: string, emit: Emit): void {
    for (const writes of lists) this.#emitLooks(now, [...others, actsOf(writes)], what, emit);
  }

  #act(now: PoolState, [write, ...rest]: readonly Write[], others: LooksInFlight, emit: Emit): void {
    if (write === undefined) return;
    const what = WHAT[write.kind];
    const goesOn = [...others, actsOf(rest)];
    this.#emitLooks(now, goesOn, what, emit, write);
    this.#emitLooks(now, others, 'the look ends before its next call', emit);
    if (rest.length === 0) return;
    this.#emitLooks(now, others, `${what}; the reply is lost, and the look ends`, emit, write);
    if (write.kind === 'ask') this.#emitLooks(now, goesOn, 'ECS refuses the drain request', emit);
  }

  /** @param write a call that ECS carries out in this step */
  #emitLooks(
    now: PoolState,
    looks: readonly (InFlightLook | undefined)[],
    what: string,
    emit: Emit,
    write?: Write,
  ): void {
    const next = this.#asNow(now);
    if (write !== undefined) this.#carryOut(write, next);
    next.looksId = this.#inFlight.idOf(looks.filter((look) => look !== undefined));
    emit(this.canonical(next), what, -1);
  }

  #asNow(now: PoolState): PoolState {
    copyInto(now, this.#next);
    return this.#next;
  }

  #carryOut(write: Write, state: PoolState): void {
    if (write.kind === 'set') state.desired = write.desired;
    else for (const slot of write.slots) state.ids[slot] = this.#codes.asked(state.ids[slot] ?? NO_TASK);
  }

  /** Decides on the current state, and judges the count that the look sets. */
  #decideFresh(now: PoolState, fail: Fail): Lists {
    const lists = this.#rules.decider(this.#readEcs(now), this.#readCoder(now));
    const { limits, startsFail } = this.#rules;
    for (const writes of lists) {
      const wrong =
        raisedTooHigh(now, limits, writes) ?? wrongCount(now, this.#codes, { writes, startsFail });
      if (wrong !== undefined) fail('count', wrong, -1);
    }
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

const WHAT = { set: 'the look sets the count', ask: 'the look sends a drain request' } as const;

/** Above `max` a count is raised only for a job or a floor, beside tasks that may be leaving. */
function raisedTooHigh(
  { ids, desired, pending }: PoolState,
  { min, max }: Bounds,
  writes: readonly Write[],
): string | undefined {
  const beside = pending > 0 || min > 0 ? ids.filter((id) => id !== NO_TASK).length : 0;
  const most = Math.max(desired, max) + beside;
  const high = writes.find((write) => write.kind === 'set' && write.desired > most);
  if (high?.kind !== 'set') return undefined;
  return `the autoscaler raises the count from ${desired} to ${high.desired} beside ${beside} task(s), and max is ${max}`;
}

type Judged = Pick<ProductRules, 'startsFail'> & { readonly writes: readonly Write[] };

/**
 * What is wrong with the count that a look sets on the current state; undefined if nothing is. It must not
 * be below the tasks that have not left, nor let ECS stop a task while a deployment is open, or while a task
 * is starting or unguarded. Where starts keep failing, or old tasks keep new ones from their leases, it may stop
 * those that start: they have no daemon.
 */
function wrongCount(now: PoolState, codes: PoolCodes, { writes, startsFail }: Judged): string | undefined {
  const lower = writes.find((write) => write.kind === 'set' && write.desired < now.desired);
  if (lower?.kind !== 'set') return undefined;
  const to = lower.desired;
  const tasks = codes.tasksOf(now).filter((task) => task !== undefined);
  const isHeld = tasks.some(({ revision, protection }) => revision === 'old' && protection !== UNPROTECTED);
  const isGivenUp = (task: ModelTask): boolean =>
    task.protection === UNPROTECTED &&
    ((task.guard === 'leasing' && (startsFail || isHeld)) || (isHeld && hasLeft(task)));
  const there = tasks.filter((task) => !isGivenUp(task));
  const staying = there.filter((task) => !hasLeft(task)).length;
  if (to < staying) return `the autoscaler sets the count to ${to}, but ${staying} task(s) have not left`;
  if (to >= there.length) return undefined;
  if (now.isDeploying) return `the autoscaler lowers the count to ${to} while a deployment is open`;
  const free = there.filter(({ protection }) => protection === UNPROTECTED);
  if (free.some(({ guard }) => guard === 'leasing'))
    return `the autoscaler lowers the count to ${to} while a task is starting`;
  if (free.some(isAtRisk)) return `the autoscaler lowers the count to ${to} while a task is unguarded`;
  return undefined;
}

/** Stopping it loses nothing: its daemon has exited, exits without a job, or is refused by coderd. */
function hasLeft(task: ModelTask): boolean {
  const isVacant = task.guard !== 'leasing' && task.protection === UNPROTECTED && !isAtRisk(task);
  return task.guard === 'left' || task.guard === 'died' || isVacant;
}

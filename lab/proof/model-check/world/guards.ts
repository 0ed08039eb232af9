/**
 * The exploration of guards: tasks, jobs, a clock and a nonsense autoscaler. ECS may stop any
 * unprotected task and refuse any call, which covers every reading of DEPLOYMENT_BLOCKED
 * (docs/internals/aws.md §1). Tasks are interchangeable: a state is a sorted list of them.
 */
import { later, movesOf, type Rules } from './clock-moves.ts';
import type { Move } from './guard-step.ts';
import { remembered } from './interned.ts';
import { copyInto, NO_TASK, type PoolBound, PoolCodes, type PoolState, sortSlots } from './pool-state.ts';
import type { Emit, Fail, Model } from './search.ts';
import { describeTask, holdsJob, NEW_TASK } from './task.ts';

/** The most states of one task. */
const KINDS = 4096;
const TIME_CANNOT_PASS = -1;

type KnownMove = Pick<Move, 'what' | 'takesJob' | 'fails'> & { readonly to: number };

export class GuardsModel implements Model {
  readonly initial = 0;
  readonly #rules: Rules;
  readonly #codes: PoolCodes;
  readonly #fresh: number;
  readonly #movesOf: (id: number) => readonly KnownMove[];
  readonly #laterOf = remembered((id) => this.#later(id));
  readonly #isHolding = remembered((id) => {
    const task = this.#codes.kinds.at(id);
    return task !== undefined && holdsJob(task);
  });
  /** Only the tasks count; all else is as in the state without tasks. */
  readonly #now: PoolState;
  readonly #next: PoolState;

  constructor(bound: PoolBound, rules: Rules) {
    this.#rules = rules;
    this.#codes = new PoolCodes(bound, KINDS);
    this.#fresh = this.#codes.kinds.idOf(NEW_TASK);
    this.#movesOf = remembered((id) => knownMoves(this.#codes, id, rules));
    this.#now = this.#codes.empty();
    this.#next = this.#codes.empty();
  }

  expand(code: number, emit: Emit, fail: Fail): void {
    this.#codes.unpack(code, this.#now);
    const { ids } = this.#now;
    let held = 0;
    for (const id of ids) if (this.#isHolding(id)) held++;
    for (let slot = 0; slot < ids.length; slot++) {
      const isLikeLast = slot > 0 && ids[slot] === ids[slot - 1];
      if (!isLikeLast) this.#expandTask(slot, held < this.#codes.bound.jobs, emit, fail);
    }
    this.#expandTime(emit);
  }

  describe(code: number): string {
    this.#codes.unpack(code, this.#now);
    return this.#codes
      .tasksOf(this.#now)
      .map((task) => `[${describeTask(task)}]`)
      .join(' ');
  }

  #expandTask(slot: number, isJobFree: boolean, emit: Emit, fail: Fail): void {
    const id = this.#now.ids[slot] ?? NO_TASK;
    if (id === NO_TASK) this.#emitWith(slot, this.#fresh, emit, 'ECS starts it');
    for (const { to, what, takesJob, fails } of this.#movesOf(id)) {
      if (takesJob === true && !isJobFree) continue;
      if (fails !== undefined) fail('safety', `${what}: ${fails}`, slot);
      this.#emitWith(slot, to, emit, what);
    }
  }

  #expandTime(emit: Emit): void {
    for (const [slot, now] of this.#now.ids.entries()) {
      const id = this.#laterOf(now);
      if (id === TIME_CANNOT_PASS) return;
      this.#next.ids[slot] = id;
    }
    this.#emit(-1, emit, 'six hours pass');
  }

  #emitWith(slot: number, id: number, emit: Emit, what: string): void {
    copyInto(this.#now, this.#next);
    this.#next.ids[slot] = id;
    this.#emit(slot, emit, what);
  }

  #emit(slot: number, emit: Emit, what: string): void {
    sortSlots(this.#next.ids);
    emit(this.#codes.pack(this.#next), what, slot);
  }

  #later(id: number): number {
    const task = this.#codes.kinds.at(id);
    if (task === undefined) return NO_TASK;
    const next = later(task, this.#rules);
    return next === undefined ? TIME_CANNOT_PASS : this.#codes.kinds.idOf(next);
  }
}

function knownMoves({ kinds }: PoolCodes, id: number, rules: Rules): readonly KnownMove[] {
  const task = kinds.at(id);
  if (task === undefined) return [];
  return movesOf(task, rules)
    .map((move) => ({ ...move, to: kinds.idOf(move.to) }))
    .filter(({ to, fails }) => to !== id || fails !== undefined);
}

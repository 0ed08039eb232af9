/**
 * The exploration of guards: tasks, jobs, a clock and a nonsense autoscaler. ECS may stop any
 * unprotected task and refuse any call, which covers every reading of DEPLOYMENT_BLOCKED
 * (docs/internals/aws.md §1). Tasks are interchangeable: a state is a sorted list of them.
 */
import { later, movesOf, type Rules } from './clock-moves.ts';
import type { Move } from './guard-step.ts';
import { Interned, remembered } from './interned.ts';
import { NO_TASK, type PoolBound, sortSlots } from './pool-state.ts';
import type { Emit, Fail, Model } from './search.ts';
import { describeTask, holdsJob, keyOf, type ModelTask, NEW_TASK } from './task.ts';

/** The most states of one task. */
const KINDS = 4096;
const TIME_CANNOT_PASS = -1;

type KnownMove = Pick<Move, 'what' | 'takesJob' | 'fails'> & { readonly to: number };

export class GuardsModel implements Model {
  readonly initial = 0;
  readonly #rules: Rules;
  readonly #jobs: number;
  readonly #kinds = new Interned<ModelTask | undefined>(keyOf, KINDS);
  readonly #fresh: number;
  readonly #movesOf: (id: number) => readonly KnownMove[];
  readonly #laterOf = remembered((id) => this.#later(id));
  readonly #isHolding = remembered((id) => {
    const task = this.#kinds.at(id);
    return task !== undefined && holdsJob(task);
  });
  readonly #now: number[];
  readonly #next: number[];

  constructor({ tasks, jobs }: PoolBound, rules: Rules) {
    this.#rules = rules;
    this.#jobs = jobs;
    this.#kinds.idOf(undefined);
    this.#fresh = this.#kinds.idOf(NEW_TASK);
    this.#movesOf = remembered((id) => knownMoves(this.#kinds, id, rules));
    this.#now = new Array<number>(tasks).fill(NO_TASK);
    this.#next = [...this.#now];
  }

  expand(code: number, emit: Emit, fail: Fail): void {
    const now = this.#now;
    unpack(code, now);
    let held = 0;
    for (const id of now) if (this.#isHolding(id)) held++;
    for (let slot = 0; slot < now.length; slot++) {
      const isLikeLast = slot > 0 && now[slot] === now[slot - 1];
      if (!isLikeLast) this.#expandTask(slot, held < this.#jobs, emit, fail);
    }
    this.#expandTime(emit);
  }

  describe(code: number): string {
    unpack(code, this.#now);
    return this.#now.map((id) => `[${describeTask(this.#kinds.at(id))}]`).join(' ');
  }

  #expandTask(slot: number, isJobFree: boolean, emit: Emit, fail: Fail): void {
    const id = this.#now[slot] ?? NO_TASK;
    if (id === NO_TASK) this.#emitWith(slot, this.#fresh, emit, 'ECS starts it');
    for (const { to, what, takesJob, fails } of this.#movesOf(id)) {
      if (takesJob === true && !isJobFree) continue;
      if (fails !== undefined) fail('safety', `${what}: ${fails}`, slot);
      this.#emitWith(slot, to, emit, what);
    }
  }

  #expandTime(emit: Emit): void {
    for (let slot = 0; slot < this.#now.length; slot++) {
      const id = this.#laterOf(this.#now[slot] ?? NO_TASK);
      if (id === TIME_CANNOT_PASS) return;
      this.#next[slot] = id;
    }
    emit(pack(this.#next), 'six hours pass', -1);
  }

  #emitWith(slot: number, id: number, emit: Emit, what: string): void {
    for (let i = 0; i < this.#now.length; i++) this.#next[i] = i === slot ? id : (this.#now[i] ?? NO_TASK);
    emit(pack(this.#next), what, slot);
  }

  #later(id: number): number {
    const task = this.#kinds.at(id);
    if (task === undefined) return NO_TASK;
    const next = later(task, this.#rules);
    return next === undefined ? TIME_CANNOT_PASS : this.#kinds.idOf(next);
  }
}

function knownMoves(kinds: Interned<ModelTask | undefined>, id: number, rules: Rules): readonly KnownMove[] {
  const task = kinds.at(id);
  if (task === undefined) return [];
  return movesOf(task, rules)
    .map((move) => ({ ...move, to: kinds.idOf(move.to) }))
    .filter(({ to, fails }) => to !== id || fails !== undefined);
}

/** Packs the sorted numbers of the tasks as digits of one number. */
function pack(ids: number[]): number {
  sortSlots(ids);
  let code = 0;
  for (const id of ids) code = code * KINDS + id;
  return code;
}

function unpack(code: number, ids: number[]): void {
  let rest = code;
  for (let i = ids.length - 1; i >= 0; i--) {
    const id = rest % KINDS;
    ids[i] = id;
    rest = (rest - id) / KINDS;
  }
}

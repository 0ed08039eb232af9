/**
 * The exploration of a pool: guards, daemons, coderd's rows, ECS's scheduler with its count and
 * deployments, and an autoscaler (nonsense or the product). ECS may accept or refuse any call. A
 * look of a guard that fails is left out. It is not the world of `lab/world/`, because a search
 * visits millions of states and must copy and compare each in microseconds.
 */
import type { Autoscaler } from './autoscalers.ts';
import type { Move } from './guard-step.ts';
import { remembered } from './interned.ts';
import { poolMovesOf, type TaskRules, withoutKey } from './pool-moves.ts';
import { copyInto, NO_TASK, type PoolCodes, type PoolState } from './pool-state.ts';
import { missingIn, type Scheduled, surplusIn } from './scheduler.ts';
import type { Emit, Fail, Judge, Model } from './search.ts';
import { holdsJob, isAtRisk, type ModelTask, NEW_TASK, UNPROTECTED } from './task.ts';

export type PoolRules = TaskRules & {
  readonly autoscaler: (codes: PoolCodes) => Autoscaler;
  /**
   * Whether a person, or an expiry, removes a protection while ECS and the autoscaler are idle. `late`: only
   * of a task whose daemon has registered, or that has been RUNNING for 15 minutes.
   */
  readonly hasOperator: boolean | 'late';
};

/** What the model derives from one task, computed once for each state of a task. */
type Kind = {
  readonly task: ModelTask | undefined;
  readonly moves: readonly (Omit<Move, 'to'> & { readonly to: number })[];
  readonly isHolding: boolean;
  readonly isOld: boolean;
  readonly scheduled?: Scheduled['revisions'][number];
  readonly isFree: boolean;
  readonly isAtRisk: boolean;
  readonly asOld: number;
  readonly withoutRow: number;
  readonly withoutLease: number;
};

export class PoolModel implements Model {
  readonly initial: number;
  readonly judge: Judge;
  readonly #codes: PoolCodes;
  readonly #hasOperator: boolean | 'late';
  readonly #autoscaler: Autoscaler;
  readonly #fresh: number;
  readonly #freshOld: number;
  readonly #kindOf: (id: number) => Kind;
  readonly #now: PoolState;
  readonly #next: PoolState;

  constructor(codes: PoolCodes, rules: PoolRules, judge: Judge) {
    this.judge = judge;
    this.#codes = codes;
    this.#hasOperator = rules.hasOperator;
    this.#autoscaler = rules.autoscaler(codes);
    this.#fresh = codes.kinds.idOf(NEW_TASK);
    this.#freshOld = codes.kinds.idOf({ ...NEW_TASK, revision: 'old' });
    this.#kindOf = remembered((id) => readKind(codes, id, rules));
    this.#now = codes.empty();
    this.#next = codes.empty();
    this.initial = codes.pack(this.#now);
  }

  expand(code: number, emit: Emit, fail: Fail): void {
    this.#codes.unpack(code, this.#now);
    const kinds = this.#now.ids.map(this.#kindOf);
    for (const [slot, kind] of kinds.entries()) this.#expandTask(slot, kind, emit, fail);
    this.#expandScheduler(kinds, emit, fail);
    this.#expandDeployment(kinds, emit);
    this.#expandJobs(kinds, emit);
    this.#expandKey(kinds, emit);
    if (this.#hasOperator !== false) this.#expandOperator(kinds, emit);
    this.#autoscaler.expand(this.#now, emit, fail);
  }

  describe(code: number): string {
    this.#codes.unpack(code, this.#now);
    return this.#codes.describe(this.#now) + this.#autoscaler.describe(this.#now.looksId);
  }

  #expandTask(slot: number, { moves }: Kind, emit: Emit, fail: Fail): void {
    for (const { to, what, takesJob, fails } of moves) {
      if (takesJob === true && this.#now.pending === 0) continue;
      if (fails !== undefined) fail('safety', `${what}: ${fails}`, slot);
      const next = this.#withTask(slot, to);
      if (takesJob === true) next.pending--;
      this.#emit(emit, what, slot);
    }
  }

  /**
   * ECS keeps the count with minimumHealthyPercent 0 and maximumPercent 100, and picks the worst
   * victims. During a deployment it may start tasks of either revision. After an early success it
   * may count old tasks or not (lab/world/ecs/rollout.ts).
   */
  #expandScheduler(kinds: readonly Kind[], emit: Emit, fail: Fail): void {
    const { desired, isDeploying } = this.#now;
    const revisions = kinds.flatMap(({ scheduled }) => scheduled ?? []);
    const isMissing = missingIn({ desired, revisions, countsOld: isDeploying }) > 0;
    const isSurplus = surplusIn({ desired, revisions, countsOld: true }) > 0;
    const hasOld = isDeploying || kinds.some(({ isOld }) => isOld);
    if (isMissing && !this.#now.isUnplaced) {
      this.#asNow().isUnplaced = true;
      this.#emit(emit, 'ECS cannot place a task', -1);
    }
    for (const [slot, kind] of kinds.entries()) {
      if (kind.task === undefined) {
        if (!isMissing) continue;
        this.#withTask(slot, this.#fresh).isUnplaced = false;
        this.#emit(emit, 'ECS starts it', slot);
        if (!hasOld) continue;
        this.#withTask(slot, this.#freshOld).isUnplaced = false;
        this.#emit(emit, 'ECS starts it with the old revision', slot);
      } else if (kind.isFree && (isSurplus || kind.isOld)) {
        if (kind.isAtRisk) fail('safety', 'ECS stops a task whose daemon holds a job or may get one', slot);
        this.#withTask(slot, NO_TASK);
        this.#emit(emit, 'ECS stops it', slot);
      }
    }
  }

  #expandDeployment(kinds: readonly Kind[], emit: Emit): void {
    // A deployment with early success completes as soon as one new task runs.
    const isOver =
      this.#now.desired === 0 || kinds.some(({ task, isOld }) => task?.ecs === 'running' && !isOld);
    if (this.#now.isDeploying && isOver) {
      this.#asNow().isDeploying = false;
      this.#emit(emit, 'the deployment is complete', -1);
    }
    // A deployment would stop a task whose protection a person has removed; the lease does not
    // cover that.
    if (kinds.some((kind) => kind.isFree && kind.isAtRisk)) return;
    const next = this.#asNow();
    next.isDeploying = true;
    for (const [slot, { asOld }] of kinds.entries()) next.ids[slot] = asOld;
    this.#emit(emit, 'a deployment begins', -1);
  }

  #expandJobs(kinds: readonly Kind[], emit: Emit): void {
    const held = kinds.filter(({ isHolding }) => isHolding).length;
    if (this.#now.pending + held >= this.#codes.bound.jobs) return;
    this.#asNow().pending++;
    this.#emit(emit, 'a job is submitted', -1);
  }

  #expandKey(kinds: readonly Kind[], emit: Emit): void {
    const next = this.#asNow();
    for (const [slot, { withoutRow }] of kinds.entries()) next.ids[slot] = withoutRow;
    this.#emit(emit, 'the provisioner key is deleted, and coderd forgets its daemons', -1);
  }

  /** While ECS and the autoscaler are idle: if ECS stops the task right then, it is the person's fault. */
  #expandOperator(kinds: readonly Kind[], emit: Emit): void {
    const { isDeploying, looksId, desired } = this.#now;
    const count = kinds.filter(({ task }) => task !== undefined).length;
    if (isDeploying || looksId !== 0 || count > desired || kinds.some(({ isOld }) => isOld)) return;
    for (const [slot, kind] of kinds.entries()) {
      if (kind.isFree || kind.isOld || !kind.isAtRisk) continue;
      if (this.#hasOperator === 'late' && kind.task?.row === 'young') continue;
      this.#withTask(slot, kind.withoutLease);
      this.#emit(emit, 'a person removes its protection', slot);
    }
  }

  #asNow(): PoolState {
    copyInto(this.#now, this.#next);
    return this.#next;
  }

  #withTask(slot: number, id: number): PoolState {
    const next = this.#asNow();
    next.ids[slot] = id;
    if (id === NO_TASK && next.looksId !== 0) next.looksId = this.#autoscaler.withoutTask(next.looksId, slot);
    return next;
  }

  #emit(emit: Emit, what: string, slot: number): void {
    const looksId = this.#autoscaler.afterStep(this.#next.looksId);
    if (looksId === 'not-now') return;
    this.#next.looksId = looksId;
    emit(this.#autoscaler.canonical(this.#next), what, slot);
  }
}

function readKind(codes: PoolCodes, id: number, rules: TaskRules): Kind {
  const { kinds } = codes;
  const task = kinds.at(id);
  const unchanged = { asOld: id, withoutRow: id, withoutLease: id };
  if (task === undefined)
    return { task, moves: [], isHolding: false, isOld: false, isFree: true, isAtRisk: false, ...unchanged };
  return {
    task,
    moves: poolMovesOf(task, rules).map((move) => ({ ...move, to: kinds.idOf(move.to) })),
    isHolding: holdsJob(task),
    isOld: task.revision === 'old',
    scheduled: { deploymentId: task.revision },
    isFree: task.protection === UNPROTECTED,
    isAtRisk: isAtRisk(task),
    asOld: kinds.idOf({ ...task, revision: 'old' }),
    withoutRow: kinds.idOf(withoutKey(task, rules)),
    withoutLease: kinds.idOf({ ...task, protection: UNPROTECTED }),
  };
}

/** One ECS service with its deployments, and the scheduler that keeps its tasks at the desired count. */
import type { EpochMs, ServiceArn } from '../../../lambda/decision/model/brands.ts';
import type { ServiceEvent } from '../../../lambda/decision/model/snapshot.ts';
import { invalidParameter } from '../base/aws-service.ts';
import type { Random } from '../base/random.ts';
import type { Planned, Timeline } from '../base/timeline.ts';
import { History } from './parts/history.ts';
import type { Latencies } from './parts/latencies.ts';
import type { Victims } from './placement.ts';
import type { WrongEcs } from './protection.ts';
import type { CleanupReading, RolloutReading } from './rollout.ts';
import { type ScheduledTask, scheduleTasks, surplusOf } from './schedule.ts';
import { type EcsTask, SCALING_REASON, type StopWhy, type TaskDefinition } from './task.ts';

export type SimulatedDeployment = {
  readonly id: string;
  readonly status: 'PRIMARY' | 'ACTIVE';
  readonly rolloutState: 'IN_PROGRESS' | 'COMPLETED' | 'FAILED';
  readonly definition: TaskDefinition;
  readonly desiredCount: number;
  readonly failedTasks: number;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
};

export type ServiceState = {
  readonly status: 'ACTIVE' | 'INACTIVE';
  readonly desiredCount: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly primary: SimulatedDeployment;
  /** Deployments that the primary one replaces, newest first. */
  readonly older: readonly SimulatedDeployment[];
  readonly events: readonly ServiceEvent[];
};

/** Whether the primary deployment has succeeded early and old tasks still exist. */
export function isCleaningUp({ primary, older }: ServiceState): boolean {
  return primary.rolloutState === 'COMPLETED' && older.length > 0;
}

export type ServiceIdentity = {
  readonly provider: string;
  readonly arn: ServiceArn;
  readonly name: string;
  readonly minimumHealthyPercent: number;
  readonly maximumPercent: number;
  /**
   * With a deferred clean-up; undefined: a deployment ends when no old task is left. The guide says that one healthy
   * task is needed even at 0. Here 0 means 0, which is the worse reading.
   */
  readonly earlySuccessPercent: number | undefined;
  readonly createdAt: EpochMs;
};

type ServiceEnvironment = {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly latencies: Latencies;
  readonly historyMs: number;
  readonly victims: Victims;
  readonly wrong: () => WrongEcs | undefined;
  readonly tellsScaleIn: () => boolean;
  readonly rollout: RolloutReading;
  readonly cleanup: CleanupReading;
  /** Creates a task of a deployment; returns undefined when Fargate's launch rate is used up. */
  readonly launch: (service: EcsService, deployment: SimulatedDeployment) => EcsTask | undefined;
};

const RETRY_LAUNCH_MS = 1_000;
/** Of the wrong ECS `protection-deployment` and `protection-10min`. */
const IGNORED_AFTER_MS = { deployment: 5 * 60_000, scaleIn: 10 * 60_000 } as const;
/** Consecutive failed starts before the scheduler backs off, and its delays (docs/internals/aws.md §2). */
const FAILURES_BEFORE_BACKOFF = 3;
const FIRST_BACKOFF_MS = 15_000;
const LONGEST_BACKOFF_MS = 27 * 60_000;
/** Most events that DescribeServices returns (docs/internals/aws.md §2). */
const EVENTS_KEPT = 100;
/** Until ECS repeats an event whose cause lasts (ECS developer guide, "Service event messages"). */
const EVENT_REPEATED_MS = 6 * 3_600_000;
/** What the event says of a provider with container instances (docs/internals/aws.md §2). */
const NO_INSTANCE = ' because no container instance met all of its requirements';
/** ECS refuses another deployment while this many have tasks (docs/internals/aws.md §2). */
const MOST_DEPLOYMENTS = 5;
/** The interval of retries while ECS cannot place tasks. */
const RETRY_PLACEMENT_MS = 20_000;
/** Failed starts until a rollback: half of the desired count, within these bounds. */
const BREAKER = { share: 0.5, least: 3, most: 200 } as const;

export class EcsService {
  readonly identity: ServiceIdentity;
  readonly states: History<ServiceState>;
  /** Its tasks whose desired status is RUNNING. */
  readonly tasks = new Set<EcsTask>();
  /** While set, tasks stop before RUNNING with this reason. */
  startFailure: string | undefined;
  /** While set, ECS cannot place tasks: it creates no task, only an event with this reason. */
  placementFailure: string | undefined;
  /** While false, the service writes no events. */
  tellsEvents = true;
  readonly #around: ServiceEnvironment;
  #failures = 0;
  #startsFrom = 0;
  /** How many tasks of the old revision ECS still has to start. */
  #owedOld = 0;
  /** The task definition to which the circuit breaker rolls back. */
  #completed: TaskDefinition | undefined;
  #act: { readonly at: number; readonly planned: Planned } | undefined;
  #eventCount = 0;
  #countChangedAt = 0;
  #hasToldProtected = false;
  /** The last event, and until when ECS does not repeat it. */
  #lastEvent: { readonly message: string; readonly until: number } | undefined;

  constructor(
    identity: ServiceIdentity,
    first: Pick<ServiceState, 'desiredCount' | 'tags'> & { readonly definition: TaskDefinition },
    around: ServiceEnvironment,
  ) {
    this.identity = identity;
    this.#around = around;
    this.states = new History(around.historyMs, around.timeline.now(), {
      status: 'ACTIVE',
      desiredCount: first.desiredCount,
      tags: first.tags,
      primary: this.#newDeployment(first.definition, first.desiredCount),
      older: [],
      events: [],
    });
    this.touch();
  }

  get state(): ServiceState {
    return this.states.latest;
  }

  /** How many old tasks ECS does not count against the desired count. */
  get uncounted(): number {
    const counts = !isCleaningUp(this.state) || this.#around.cleanup.counts !== false;
    return counts ? 0 : [...this.tasks].filter((task) => this.#isOld(task)).length;
  }

  /** Whether ECS starts no task now, whatever the desired count: it cannot place one, or waits after failed starts. */
  get startsNone(): boolean {
    return this.placementFailure !== undefined || this.#startsFrom > this.#now();
  }

  /** The deployments that DescribeServices lists. */
  listed(state: ServiceState): readonly SimulatedDeployment[] {
    const isWrong = this.#around.wrong() === 'deployment-reads';
    const isHidden = isWrong || (isCleaningUp(state) && this.#around.cleanup.lists === false);
    return isHidden ? [state.primary] : [state.primary, ...state.older];
  }

  /** UpdateService(desiredCount); it starts no deployment (docs/internals/aws.md §2). */
  setDesiredCount(desiredCount: number): void {
    const raise = desiredCount - this.state.desiredCount;
    const isRolling = this.state.primary.rolloutState === 'IN_PROGRESS' && this.state.older.length > 0;
    if (raise <= 0) this.#owedOld = 0;
    else if (isRolling && this.#around.rollout.scaleOut === 'both') this.#owedOld += Math.ceil(raise / 2);
    const primary = { ...this.state.primary, desiredCount, updatedAt: this.#now() };
    this.#hasToldProtected = false;
    this.#countChangedAt = this.#now();
    this.#change({ desiredCount, primary });
  }

  setTags(tags: Readonly<Record<string, string>>): void {
    this.#change({ tags });
  }

  get admitsDeployment(): boolean {
    return !this.#isFull && (!isCleaningUp(this.state) || this.#around.cleanup.admits !== false);
  }

  /** An older deployment is active until its tasks have stopped. */
  get #isFull(): boolean {
    const startedBy = new Set([...this.tasks].map(({ identity }) => identity.startedBy));
    return this.state.older.filter(({ id }) => startedBy.has(id)).length + 1 >= MOST_DEPLOYMENTS;
  }

  /** Starts a rolling deployment of another task definition, or of the same one again. */
  deploy(definition: TaskDefinition): void {
    const { primary } = this.state;
    if (this.#around.wrong() === 'deployment') return;
    if (this.#isFull)
      throw invalidParameter(
        `${MOST_DEPLOYMENTS} active deployments exist, unable to create new deployment.`,
      );
    if (!this.admitsDeployment)
      throw invalidParameter('The service is removing the tasks of an earlier deployment.');
    this.#replace(primary, definition);
  }

  #replace(replaced: SimulatedDeployment, definition: TaskDefinition): void {
    const { older, desiredCount } = this.state;
    this.#failures = 0;
    this.#startsFrom = 0;
    this.#owedOld = 0;
    this.#change({
      primary: this.#newDeployment(definition, desiredCount),
      older: [{ ...replaced, status: 'ACTIVE' }, ...older],
    });
  }

  /** DeleteService with force, in spite of protection (docs/how-it-works.md, "What is not prevented"). */
  delete(): void {
    this.#change({ status: 'INACTIVE', desiredCount: 0 });
    for (const task of [...this.tasks]) task.stop(this.#scheduler());
  }

  add(task: EcsTask): void {
    this.tasks.add(task);
  }

  taskChanged(task: EcsTask): void {
    const { lastStatus, stopCode } = task.state;
    if (lastStatus === 'RUNNING') this.#failures = 0;
    if (!task.isWanted && this.tasks.delete(task)) {
      if (this.#around.rollout.replacement === 'same' && this.#isOld(task) && !isScheduled(task))
        this.#owedOld++;
      if (stopCode === 'TaskFailedToStart') this.#startFailed(task);
    }
    this.touch();
  }

  /** Schedules a run of the scheduler after the latency `react`. */
  touch(): void {
    this.#actAfter(this.#around.random.whole(...this.#around.latencies.react));
  }

  #schedule(): void {
    if (this.state.status !== 'ACTIVE') return;
    const ignoresProtection = this.#ignoresProtection();
    const input = {
      desiredCount: this.state.desiredCount,
      primaryId: this.state.primary.id,
      minimumHealthyPercent: this.identity.minimumHealthyPercent,
      maximumPercent: this.identity.maximumPercent,
      tasks: [...this.tasks].map((task) => ({
        ...scheduledTask(task),
        ...(ignoresProtection && { isProtected: false }),
      })),
      owedOld: this.#owedOld,
      keepsStartingOld: this.#around.rollout.replacement === 'same',
      countsOld: !isCleaningUp(this.state) || this.#around.cleanup.counts,
    };
    const { stop, start, startOld } = scheduleTasks(input, this.#around);
    if (this.#around.tellsScaleIn())
      this.#tellScaleIn(stop, surplusOf(input, input.tasks) > stop.length && !this.#isSlow);
    for (const { task } of stop) task.stop(this.#scheduler());
    const { primary, older } = this.state;
    if (older[0] !== undefined) this.#owedOld -= this.#start(startOld, older[0]);
    this.#start(start, primary);
    this.#settle();
  }

  get #isSlow(): boolean {
    return this.#around.wrong() === 'protection-10min';
  }

  /** Acts again once it is time to ignore it. */
  #ignoresProtection(): boolean {
    const { primary, older } = this.state;
    const wrong = this.#around.wrong();
    if (wrong === 'protection') return true;
    const isOpen = wrong === 'protection-deployment' && older.length > 0;
    if (!isOpen && !this.#isSlow) return false;
    const waitMs = isOpen
      ? primary.createdAt + IGNORED_AFTER_MS.deployment - this.#now()
      : this.#countChangedAt + IGNORED_AFTER_MS.scaleIn - this.#now();
    if (waitMs > 0) this.#actAfter(waitMs);
    return waitMs <= 0;
  }

  /** docs/internals/aws.md §1 and §2 */
  #tellScaleIn(stopped: readonly { readonly task: EcsTask }[], isPrevented: boolean): void {
    const names = stopped.map(({ task }) => `(task ${task.identity.id})`).join(' ');
    if (stopped.length > 0) this.#addEvent(`has stopped ${stopped.length} running tasks: ${names}.`);
    if (isPrevented && !this.#hasToldProtected)
      this.#addEvent('was unable to scale in. Reason: tasks have task protection enabled.');
    this.#hasToldProtected ||= isPrevented;
  }

  /** Starts up to `count` tasks of a deployment, as the launch rate allows. Returns how many it started. */
  #start(count: number, deployment: SimulatedDeployment): number {
    const waitMs = this.#startsFrom - this.#now();
    if (count > 0 && this.placementFailure !== undefined) {
      const because = /^FARGATE/.test(this.identity.provider) ? '' : NO_INSTANCE;
      this.#addEventOnce(`was unable to place a task${because}. Reason: ${this.placementFailure}`);
      this.#actAfter(RETRY_PLACEMENT_MS);
      return 0;
    }
    const started: EcsTask[] = [];
    while (started.length < count && waitMs <= 0) {
      const task = this.#around.launch(this, deployment);
      if (task === undefined) break;
      started.push(task);
    }
    if (started.length > 0) this.#addStartedEvent(started);
    if (started.length < count) this.#actAfter(Math.max(waitMs, RETRY_LAUNCH_MS));
    return started.length;
  }

  #addStartedEvent(started: readonly EcsTask[]): void {
    this.#lastEvent = undefined;
    const names = started.map(({ identity }) => `(task ${identity.id})`).join(' ');
    this.#addEvent(`has started ${started.length} tasks: ${names}.`);
  }

  #addEventOnce(message: string): void {
    const now = this.#now();
    if (this.#lastEvent !== undefined && this.#lastEvent.message === message && now < this.#lastEvent.until)
      return;
    this.#lastEvent = { message, until: now + EVENT_REPEATED_MS };
    this.#addEvent(message);
  }

  #addEvent(text: string): void {
    if (!this.tellsEvents) return;
    const id = String(++this.#eventCount).padStart(32, '0');
    const message = `(service ${this.identity.name}) ${text}`;
    const events = [{ id, createdAt: this.#now(), message }, ...this.state.events];
    this.states.put(this.#now(), { ...this.state, events: events.slice(0, EVENTS_KEPT) });
  }

  /** Once enough tasks are healthy and no old task is left. With early success, old tasks may remain. */
  #settle(): void {
    const { primary, desiredCount, older } = this.state;
    const isOver = primary.rolloutState === 'COMPLETED';
    if (isOver && older.length === 0) return;
    const { earlySuccessPercent: percent } = this.identity;
    const isClean = ![...this.tasks].some((task) => this.#isOld(task));
    if (!isClean && (isOver || percent === undefined)) return;
    const needed = percent === undefined ? desiredCount : Math.ceil((desiredCount * percent) / 100);
    const healthyAt = isOver ? this.#now() : this.#healthyAt(needed);
    if (healthyAt === undefined) return;
    if (healthyAt > this.#now()) {
      this.#actAfter(healthyAt - this.#now());
      return;
    }
    this.#completed = primary.definition;
    if (isClean) this.#owedOld = 0;
    const completed = { ...primary, rolloutState: 'COMPLETED', updatedAt: this.#now() } as const;
    this.#change({ primary: isOver ? primary : completed, older: isClean ? [] : older });
  }

  /** When `count` tasks of the primary deployment are healthy; undefined while fewer have started. */
  #healthyAt(count: number): number | undefined {
    const fresh = [...this.tasks].filter((task) => !this.#isOld(task));
    const started = fresh.flatMap((task) => task.state.startedAt ?? []).sort((a, b) => a - b);
    if (started.length < count) return undefined;
    return count === 0 ? this.#now() : (started[count - 1] ?? 0) + this.#around.latencies.healthyMs;
  }

  #isOld(task: EcsTask): boolean {
    return task.identity.startedBy !== this.state.primary.id;
  }

  #startFailed(task: EcsTask): void {
    this.#failures++;
    const { primary } = this.state;
    if (!this.#isOld(task)) this.#change({ primary: { ...primary, failedTasks: primary.failedTasks + 1 } });
    const over = this.#failures - FAILURES_BEFORE_BACKOFF;
    if (over < 0) return;
    this.#startsFrom = this.#now() + Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** over);
    this.#breakCircuit();
  }

  /** With rollback. Only while a deployment is in progress, and not if its target is being deployed. */
  #breakCircuit(): void {
    const { primary, desiredCount } = this.state;
    const { share, least, most } = BREAKER;
    const threshold = Math.min(most, Math.max(least, Math.ceil(desiredCount * share)));
    const target = this.#completed;
    if (primary.rolloutState !== 'IN_PROGRESS' || this.#failures < threshold) return;
    if (target === undefined || target === primary.definition || this.#isFull) return;
    this.#replace({ ...primary, rolloutState: 'FAILED' }, target);
  }

  #actAfter(ms: number): void {
    const at = this.#now() + ms;
    if (this.#act !== undefined && this.#act.at <= at) return;
    this.#act?.planned.cancel();
    const planned = this.#around.timeline.after(ms, () => {
      this.#act = undefined;
      this.#schedule();
    });
    this.#act = { at, planned };
  }

  #change(change: Partial<ServiceState>): void {
    this.states.put(this.#now(), { ...this.state, ...change });
    this.touch();
  }

  #newDeployment(definition: TaskDefinition, desiredCount: number): SimulatedDeployment {
    const now = this.#now();
    const digits = Array.from({ length: 18 }, () => this.#around.random.whole(0, 9)).join('');
    return {
      id: `ecs-svc/1${digits}`,
      status: 'PRIMARY',
      rolloutState: 'IN_PROGRESS',
      definition,
      desiredCount,
      failedTasks: 0,
      createdAt: now,
      updatedAt: now,
    };
  }

  #scheduler(): StopWhy {
    const stoppedReason = `${SCALING_REASON} (deployment ${this.state.primary.id})`;
    return { stopCode: 'ServiceSchedulerInitiated', stoppedReason };
  }

  #now(): EpochMs {
    return this.#around.timeline.now();
  }
}

/** Whether ECS's scheduler chose to stop it; false if it ended by itself. */
const isScheduled = ({ state }: EcsTask): boolean => state.stoppedReason?.startsWith(SCALING_REASON) === true;

const scheduledTask = (task: EcsTask): ScheduledTask & { readonly task: EcsTask } => ({
  task,
  deploymentId: task.identity.startedBy,
  zone: task.identity.place.zone,
  isProtected: task.isProtected,
  isRunning: task.state.lastStatus === 'RUNNING',
  isBusy: task.isBusy,
  isWaiting: task.isWaiting,
});

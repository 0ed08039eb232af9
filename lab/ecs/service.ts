/** One ECS service with its deployments, and the scheduler that keeps its tasks at the desired count. */
import type { EpochMs, ServiceArn } from '../../lambda/core/brands.ts';
import type { ServiceEvent } from '../../lambda/core/snapshot.ts';
import type { Random } from '../random.ts';
import type { Planned, Timeline } from '../timeline.ts';
import { History } from './history.ts';
import type { Latencies } from './latencies.ts';
import type { Victims } from './placement.ts';
import { type ScheduledTask, scheduleTasks } from './schedule.ts';
import { type EcsTask, SCALING_REASON, type StopWhy, type TaskDefinition } from './task.ts';

export type Deployment = {
  readonly id: string;
  readonly status: 'PRIMARY' | 'ACTIVE';
  readonly rolloutState: 'IN_PROGRESS' | 'COMPLETED';
  readonly definition: TaskDefinition;
  readonly desiredCount: number;
  readonly failedTasks: number;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
};

/** What changes in a service's life. */
export type ServiceState = {
  readonly status: 'ACTIVE' | 'INACTIVE';
  readonly desiredCount: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly primary: Deployment;
  /** Deployments that the primary one replaces. */
  readonly older: readonly Deployment[];
  /** The newest first. */
  readonly events: readonly ServiceEvent[];
};

export type ServiceIdentity = {
  readonly arn: ServiceArn;
  readonly name: string;
  readonly minimumHealthyPercent: number;
  readonly maximumPercent: number;
  readonly createdAt: EpochMs;
};

type Surroundings = {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly latencies: Latencies;
  readonly historyMs: number;
  readonly victims: Victims;
  /** Creates a task of the primary deployment; undefined when Fargate's launch rate is used up. */
  readonly launch: (service: EcsService) => EcsTask | undefined;
};

const RETRY_LAUNCH_MS = 1_000;
/** Starts that fail one after another before the scheduler slows down, and how far it does (aws-facts §2). */
const FAILURES_BEFORE_BACKOFF = 3;
const FIRST_BACKOFF_MS = 15_000;
const LONGEST_BACKOFF_MS = 15 * 60_000;
/** DescribeServices returns so many events (aws-facts §2). */
const EVENTS_KEPT = 100;
/** An event is not repeated for so long while its cause lasts (ECS developer guide, "Service event messages"). */
const EVENT_REPEATED_MS = 6 * 3_600_000;
/** While ECS cannot place tasks, it tries again so often. */
const RETRY_PLACEMENT_MS = 20_000;

export class EcsService {
  readonly identity: ServiceIdentity;
  readonly states: History<ServiceState>;
  /** Its tasks whose desired status is RUNNING. */
  readonly tasks = new Set<EcsTask>();
  /** While set, tasks stop before RUNNING with this reason. */
  startFailure: string | undefined;
  /** While set, ECS cannot place tasks: there is no task record, only an event with this reason. */
  placementFailure: string | undefined;
  /** While false, nothing is told in events. */
  tellsEvents = true;
  readonly #around: Surroundings;
  #failures = 0;
  #startsFrom = 0;
  #act: { readonly at: number; readonly planned: Planned } | undefined;
  #said = 0;
  /** Until then an event that says the same again is left out. */
  #told: { readonly message: string; readonly until: number } | undefined;

  constructor(
    identity: ServiceIdentity,
    first: Pick<ServiceState, 'desiredCount' | 'tags'> & { readonly definition: TaskDefinition },
    around: Surroundings,
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

  /** UpdateService(desiredCount): no new deployment (aws-facts §2). */
  setDesiredCount(desiredCount: number): void {
    const primary = { ...this.state.primary, desiredCount, updatedAt: this.#now() };
    this.#change({ desiredCount, primary });
  }

  /** Whatever the tags were before. */
  setTags(tags: Readonly<Record<string, string>>): void {
    this.#change({ tags });
  }

  /** A rolling deployment of another task definition, or of the same one anew. */
  deploy(definition: TaskDefinition): void {
    const { primary, older, desiredCount } = this.state;
    this.#failures = 0;
    this.#startsFrom = 0;
    this.#change({
      primary: this.#newDeployment(definition, desiredCount),
      older: [{ ...primary, status: 'ACTIVE' }, ...older],
    });
  }

  /** DeleteService with force: protection holds nothing (design.md, "Not covered"). */
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
    if (!task.isWanted && this.tasks.delete(task) && stopCode === 'TaskFailedToStart')
      this.#startFailed(task);
    this.touch();
  }

  /** Has the scheduler look at the service soon. */
  touch(): void {
    this.#actAfter(this.#around.random.whole(...this.#around.latencies.react));
  }

  #schedule(): void {
    if (this.state.status !== 'ACTIVE') return;
    const { stop, start } = scheduleTasks(
      {
        desiredCount: this.state.desiredCount,
        primaryId: this.state.primary.id,
        minimumHealthyPercent: this.identity.minimumHealthyPercent,
        maximumPercent: this.identity.maximumPercent,
        tasks: [...this.tasks].map(sightOf),
      },
      this.#around,
    );
    for (const { task } of stop) task.stop(this.#scheduler());
    this.#start(start);
    this.#settle();
  }

  #start(count: number): void {
    const waitMs = this.#startsFrom - this.#now();
    if (count > 0 && this.placementFailure !== undefined) {
      this.#tellOnce(`was unable to place a task. Reason: ${this.placementFailure}`);
      this.#actAfter(RETRY_PLACEMENT_MS);
      return;
    }
    const started: EcsTask[] = [];
    while (started.length < count && waitMs <= 0) {
      const task = this.#around.launch(this);
      if (task === undefined) break;
      started.push(task);
    }
    if (started.length > 0) this.#tellStarts(started);
    if (started.length < count) this.#actAfter(Math.max(waitMs, RETRY_LAUNCH_MS));
  }

  #tellStarts(started: readonly EcsTask[]): void {
    this.#told = undefined;
    const names = started.map(({ identity }) => `(task ${identity.id})`).join(' ');
    this.#tell(`has started ${started.length} tasks: ${names}.`);
  }

  #tellOnce(message: string): void {
    const now = this.#now();
    if (this.#told !== undefined && this.#told.message === message && now < this.#told.until) return;
    this.#told = { message, until: now + EVENT_REPEATED_MS };
    this.#tell(message);
  }

  #tell(said: string): void {
    if (!this.tellsEvents) return;
    const id = String(++this.#said).padStart(32, '0');
    const message = `(service ${this.identity.name}) ${said}`;
    const events = [{ id, createdAt: this.#now(), message }, ...this.state.events];
    this.states.put(this.#now(), { ...this.state, events: events.slice(0, EVENTS_KEPT) });
  }

  /** A deployment is complete once nothing old is left and enough of its tasks have been RUNNING for long enough. */
  #settle(): void {
    const { primary, desiredCount, older } = this.state;
    if (primary.rolloutState === 'COMPLETED' && older.length === 0) return;
    const tasks = [...this.tasks];
    if (tasks.some((task) => task.identity.startedBy !== primary.id)) return;
    const started = tasks.flatMap((task) => task.state.startedAt ?? []).sort((a, b) => a - b);
    if (started.length < desiredCount) return;
    const healthyFrom = (started[desiredCount - 1] ?? 0) + this.#around.latencies.healthyMs;
    if (healthyFrom > this.#now()) this.#actAfter(healthyFrom - this.#now());
    else
      this.#change({ primary: { ...primary, rolloutState: 'COMPLETED', updatedAt: this.#now() }, older: [] });
  }

  #startFailed(task: EcsTask): void {
    this.#failures++;
    const { primary } = this.state;
    if (task.identity.startedBy === primary.id)
      this.#change({ primary: { ...primary, failedTasks: primary.failedTasks + 1 } });
    const over = this.#failures - FAILURES_BEFORE_BACKOFF;
    if (over < 0) return;
    this.#startsFrom = this.#now() + Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** over);
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

  #newDeployment(definition: TaskDefinition, desiredCount: number): Deployment {
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

const sightOf = (task: EcsTask): ScheduledTask & { readonly task: EcsTask } => ({
  task,
  deploymentId: task.identity.startedBy ?? '',
  zone: task.identity.place.zone,
  isProtected: task.isProtected,
  isRunning: task.state.lastStatus === 'RUNNING',
  isBusy: task.isBusy,
  isWaiting: task.isWaiting,
});

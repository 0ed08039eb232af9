/**
 * The life of one Fargate task (docs/internals/aws.md §2): PROVISIONING -> PENDING -> ACTIVATING -> RUNNING ->
 * DEACTIVATING -> STOPPING -> DEPROVISIONING -> STOPPED. SIGTERM follows a stop shortly, SIGKILL after
 * `stopTimeoutS`.
 */
import { type EpochMs, plusMs, type TaskArn } from '../../../lambda/decision/model/brands.ts';
import type { Random } from '../base/random.ts';
import type { Planned, Timeline } from '../base/timeline.ts';
import type { Container, StartContainer, TaskAgent, TaskTemplate } from './parts/container.ts';
import { History } from './parts/history.ts';
import { BOOT_SHARES, type Latencies } from './parts/latencies.ts';
import type { Place } from './placement.ts';

type LastStatus =
  | 'PROVISIONING'
  | 'PENDING'
  | 'ACTIVATING'
  | 'RUNNING'
  | 'DEACTIVATING'
  | 'STOPPING'
  | 'DEPROVISIONING'
  | 'STOPPED';

export type StopWhy = {
  readonly stopCode:
    | 'EssentialContainerExited'
    | 'InfrastructureHealth'
    | 'ServiceSchedulerInitiated'
    | 'SpotInterruption'
    | 'TaskFailedToStart'
    | 'TerminationNotice'
    | 'UserInitiated';
  readonly stoppedReason: string;
};

export type EcsTaskState = Partial<StopWhy> & {
  readonly lastStatus: LastStatus;
  readonly desiredStatus: 'RUNNING' | 'STOPPED';
  readonly createdAt: EpochMs;
  readonly pullStartedAt?: EpochMs;
  readonly pullStoppedAt?: EpochMs;
  readonly startedAt?: EpochMs;
  readonly stoppingAt?: EpochMs;
  readonly executionStoppedAt?: EpochMs;
  readonly stoppedAt?: EpochMs;
  readonly exitCode?: number;
  /** ECS's reason for the end of the container. */
  readonly containerReason?: string;
  /** Whether a person had removed its protection when ECS chose it; no API shows this. */
  readonly isBared?: boolean;
};

export type Protection = {
  readonly enabled: boolean;
  readonly expiresAt?: EpochMs;
  readonly byHand?: boolean;
};

export type TaskDefinition = {
  readonly arn: string;
  readonly family: string;
  readonly revision: number;
  readonly start: StartContainer;
  readonly template: TaskTemplate;
};

export const SIDECARS = ['none', 'running', 'unpulled'] as const;
export type Sidecar = (typeof SIDECARS)[number];

export type TaskIdentity = {
  readonly provider: string;
  readonly sidecar: Sidecar;
  readonly arn: TaskArn;
  readonly id: string;
  readonly definition: TaskDefinition;
  readonly place: Place;
  readonly serviceName: string;
  /** Those of its definition, as services of the stack give them. */
  readonly tags: Readonly<Record<string, string>>;
  /** The id of its deployment. */
  readonly startedBy: string;
};

type TaskEnvironment = {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly latencies: Latencies;
  readonly historyMs: number;
  /** The reason if the start fails before RUNNING; otherwise undefined. */
  readonly startFailure: () => string | undefined;
  /** Whether its container freezes as soon as it runs. */
  readonly freezes: () => boolean;
  /** Whether `stoppingAt` is the time at which ECS chose it to stop. */
  readonly tellsChoice: () => boolean;
  readonly onChange: (task: EcsTask) => void;
};

/** The beginning of stoppedReason when the scheduler stops a task for a scale-in or a deployment. */
export const SCALING_REASON = 'Scaling activity initiated by';

const CONTAINER_EXITED: StopWhy = {
  stopCode: 'EssentialContainerExited',
  stoppedReason: 'Essential container in task exited',
};
/** docs/internals/aws.md §2 */
const OUT_OF_MEMORY = 'OutOfMemoryError: Container killed due to memory usage';

const SIGKILLED = 137;
/** Its processes exist, and neither they nor its agent answer anything (docs/internals/aws.md §2). */
const FROZEN: Container = { terminate: () => {}, kill: () => {}, isBusy: () => false };
const UNPROTECTED: Protection = { enabled: false };

export class EcsTask {
  readonly identity: TaskIdentity;
  readonly states: History<EcsTaskState>;
  readonly protections: History<Protection>;
  readonly #around: TaskEnvironment;
  readonly #agent: TaskAgent;
  #container: Container | undefined;
  #toldToStop = false;
  #hasLackedMemory = false;
  #next: Planned | undefined;
  #expiry: { readonly at: EpochMs; readonly planned: Planned } | undefined;

  constructor(identity: TaskIdentity, agent: (task: EcsTask) => TaskAgent, around: TaskEnvironment) {
    this.identity = identity;
    this.#around = around;
    this.#agent = agent(this);
    const now = around.timeline.now();
    this.states = new History<EcsTaskState>(around.historyMs, now, {
      lastStatus: 'PROVISIONING',
      desiredStatus: 'RUNNING',
      createdAt: now,
    });
    this.protections = new History(around.historyMs, now, UNPROTECTED);
    this.#boot();
  }

  get state(): EcsTaskState {
    return this.states.latest;
  }

  get isProtected(): boolean {
    return this.protections.latest.enabled;
  }

  get isWanted(): boolean {
    return this.state.desiredStatus === 'RUNNING';
  }

  get isToldToStop(): boolean {
    return this.#toldToStop;
  }

  get isBusy(): boolean {
    return this.#container?.isBusy() ?? false;
  }

  get isWaiting(): boolean {
    return this.#container?.isWaiting?.() ?? false;
  }

  /** Undefined if its process has work, does not run, or does not report it. */
  get idleSince(): EpochMs | undefined {
    return this.#container?.idleSince?.();
  }

  protect(expiresAt: EpochMs): void {
    const wasProtected = this.isProtected;
    this.protections.put(this.#now(), { enabled: true, expiresAt });
    this.#expireAt(expiresAt);
    if (!wasProtected) this.#around.onChange(this);
  }

  unprotect(): void {
    this.#bare(UNPROTECTED);
  }

  disableByHand(): void {
    this.#bare({ enabled: false, byHand: true });
  }

  #bare(protection: Protection): void {
    if (!this.isProtected) return;
    this.protections.put(this.#now(), protection);
    this.#around.onChange(this);
  }

  /** SIGTERM shortly after, SIGKILL after the stop timeout. The caller checks the protection. */
  stop(why: StopWhy): void {
    if (!this.isWanted) return;
    const booted = this.state.lastStatus === 'RUNNING';
    const isBared = this.protections.latest.byHand === true;
    this.#change({
      ...why,
      isBared,
      desiredStatus: 'STOPPED',
      ...(booted && { lastStatus: 'DEACTIVATING' }),
      ...(this.#around.tellsChoice() && { stoppingAt: this.#now() }),
    });
    this.#then('signal', () => this.#terminate());
  }

  /** Terminates its process at once, from inside the task. An idle daemon gets no job in between. */
  end(): void {
    if (!this.isWanted || this.#container === undefined) return;
    this.#change({ desiredStatus: 'STOPPED', lastStatus: 'DEACTIVATING' });
    this.#terminate();
  }

  /** The kernel kills all processes, or with `killOne` one, and ECS shows it when the container ends. */
  runOutOfMemory(killOne?: () => void): void {
    const container = this.#container;
    if (container === undefined) return;
    if (killOne !== undefined) {
      this.#hasLackedMemory = true;
      killOne();
      return;
    }
    this.#toldToStop = true;
    const why = this.state.stopCode === undefined ? CONTAINER_EXITED : {};
    this.#deprovision({ ...why, exitCode: SIGKILLED, containerReason: OUT_OF_MEMORY });
    container.kill();
  }

  /** The host fails: all processes are gone at once, without a signal. */
  crash(why: StopWhy): void {
    if (this.state.lastStatus === 'DEPROVISIONING' || this.state.lastStatus === 'STOPPED') return;
    const container = this.#container;
    this.#toldToStop = true;
    this.#deprovision(this.state.stopCode === undefined ? why : {});
    container?.kill();
  }

  #boot(): void {
    const { random, latencies } = this.#around;
    const bootMs = random.whole(...latencies.boot);
    const interfaceMs = Math.round(BOOT_SHARES.network * bootMs);
    const pullMs = Math.round(BOOT_SHARES.imagePull * bootMs);
    this.#after(interfaceMs, () => {
      this.#change({ lastStatus: 'PENDING', pullStartedAt: this.#now() });
      this.#after(pullMs, () => this.#pulled(bootMs - interfaceMs - pullMs));
    });
  }

  #pulled(restMs: number): void {
    const failure = this.#around.startFailure();
    if (failure !== undefined) {
      this.#deprovision({ stopCode: 'TaskFailedToStart', stoppedReason: failure });
      return;
    }
    this.#change({ lastStatus: 'ACTIVATING', pullStoppedAt: this.#now() });
    this.#after(restMs, () => this.#run());
  }

  #run(): void {
    this.#change({ lastStatus: 'RUNNING', startedAt: this.#now() });
    this.#container = this.#around.freezes()
      ? FROZEN
      : this.identity.definition.start({
          taskArn: this.identity.arn,
          taskId: this.identity.id,
          privateIp: this.identity.place.privateIp,
          agent: this.#agent,
          exit: (code) => this.#exited(code),
        });
  }

  #terminate(): void {
    this.#toldToStop = true;
    if (this.#container === undefined) {
      this.#deprovision({});
      return;
    }
    this.#change({ lastStatus: 'STOPPING', stoppingAt: this.state.stoppingAt ?? this.#now() });
    this.#after(this.identity.definition.template.stopTimeoutS * 1000, () => {
      this.#container?.kill();
      this.#exited(SIGKILLED);
    });
    this.#container.terminate();
  }

  #exited(exitCode: number): void {
    if (this.#container === undefined) return;
    const why = this.state.stopCode === undefined ? CONTAINER_EXITED : {};
    const reason = this.#hasLackedMemory ? { containerReason: OUT_OF_MEMORY } : {};
    this.#deprovision({ exitCode, ...why, ...reason });
  }

  #deprovision(change: Partial<EcsTaskState>): void {
    const now = this.#now();
    const stoppingAt = this.state.stoppingAt ?? now;
    const executed = this.#container === undefined ? {} : { executionStoppedAt: now };
    this.#container = undefined;
    this.#expiry?.planned.cancel();
    this.#change({
      lastStatus: 'DEPROVISIONING',
      desiredStatus: 'STOPPED',
      stoppingAt,
      ...executed,
      ...change,
    });
    this.#then('stop', () => this.#change({ lastStatus: 'STOPPED', stoppedAt: this.#now() }));
  }

  /** Plans at most one expiry for a task. An expiry that comes too early plans the next one. */
  #expireAt(at: EpochMs): void {
    if (this.#expiry !== undefined && this.#expiry.at <= at) return;
    this.#expiry?.planned.cancel();
    this.#expiry = { at, planned: this.#around.timeline.after(at - this.#now(), () => this.#expire()) };
  }

  #expire(): void {
    this.#expiry = undefined;
    const { expiresAt } = this.protections.latest;
    if (expiresAt === undefined) return;
    if (expiresAt > this.#now()) this.#expireAt(expiresAt);
    else this.unprotect();
  }

  #change(change: Partial<EcsTaskState>): void {
    this.states.put(this.#now(), { ...this.state, ...change });
    this.#around.onChange(this);
  }

  #then(latency: 'signal' | 'stop', run: () => void): void {
    this.#after(this.#around.random.whole(...this.#around.latencies[latency]), run);
  }

  /** Plans the next step of the task, and replaces an earlier plan. */
  #after(ms: number, run: () => void): void {
    this.#next?.cancel();
    this.#next = this.#around.timeline.after(ms, run);
  }

  #now(): EpochMs {
    return this.#around.timeline.now();
  }
}

/** When a protection of `minutes` that begins now ends. */
export const expiryOf = (now: EpochMs, minutes: number): EpochMs => plusMs(now, minutes * 60_000);

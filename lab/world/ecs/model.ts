/**
 * A model of ECS (docs/internals/aws.md §1 and §2) on virtual time: services, their tasks and task
 * protection. It has the current state; api.ts shows it through the API, with a lag.
 *
 * A fault is an option if it holds for the whole run, a method if it happens at one time, and a
 * public field if a test turns it on and off.
 */
import {
  type EpochMs,
  lastPart,
  plusMs,
  poolOfPart,
  type ServiceArn,
  type TaskArn,
} from '../../../lambda/decision/model/brands.ts';
import { POOL_TAG, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { AwsError, type Endless, invalidParameter } from '../base/aws-service.ts';
import type { Random } from '../base/random.ts';
import type { Timeline } from '../base/timeline.ts';
import { type AgentFaults, taskAgent } from './agent.ts';
import { BARE_TEMPLATE, type StartContainer, type TaskTemplate } from './parts/container.ts';
import type { History } from './parts/history.ts';
import { FARGATE, type Latencies } from './parts/latencies.ts';
import { emptiestZone, Subnets, type Victims } from './placement.ts';
import {
  type BlockedTasks,
  type DeploymentBlocked,
  EARLIER_ENDS,
  isBlocked,
  type ProtectionFailure,
  type RuleReading,
  type ServiceView,
  WRONG_REFUSALS,
  type WrongEcs,
} from './protection.ts';
import type { CleanupReading, RolloutReading } from './rollout.ts';
import { EcsService, isCleaningUp, type SimulatedDeployment } from './service.ts';
import { EcsTask, expiryOf, type Sidecar, type TaskDefinition, type TaskIdentity } from './task.ts';
import { type BucketName, Throttle } from './throttle.ts';

export type EcsOptions = {
  readonly timeline: Timeline;
  readonly random: Random;
  /** @default the known values of Fargate */
  readonly latencies?: Partial<Latencies> | undefined;
  /** A read sees an entity as it was up to so long ago; a later one may see an older state. @default 0 */
  readonly readLagMs?: number | undefined;
  /** How long the states of tasks and services are kept for reports, in milliseconds. @default readLagMs */
  readonly historyMs?: number | undefined;
  /** Whether AWS's request buckets apply. @default true */
  readonly throttling?: boolean | undefined;
  /** @default 'all' */
  readonly deploymentBlocked?: DeploymentBlocked | undefined;
  /** @default 'all' */
  readonly blockedTasks?: BlockedTasks | undefined;
  /** Whether a protection of a task that ECS has chosen to stop, without effect. @default 'taken' */
  readonly lateLease?: 'taken' | 'refused' | undefined;
  /** @default 'random' */
  readonly victims?: Victims | undefined;
  readonly rollout?: RolloutReading | undefined;
  readonly cleanup?: CleanupReading | undefined;
  /** The container that GuardDuty adds; `unpulled`: the execution role may not pull it. @default 'none' */
  readonly sidecar?: Sidecar | undefined;
  readonly onStopped?: ((task: EcsTask) => void) | undefined;
};

export type NewService = {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly definition: TaskDefinition;
  /** The name of its capacity provider. @default 'FARGATE' */
  readonly provider?: string | undefined;
  /** @default 1, as CloudFormation does */
  readonly desiredCount?: number | undefined;
  /** @default 0 */
  readonly minimumHealthyPercent?: number | undefined;
  /** @default 100 */
  readonly maximumPercent?: number | undefined;
  /** With a deferred clean-up. @default none: a deployment ends when no old task is left */
  readonly earlySuccessPercent?: number | undefined;
  /** Its ARN has the old format, without the cluster, so that no policy on the cluster's services allows reads. */
  readonly hasShortArn?: boolean;
};

const ARN_PREFIX = 'arn:aws:ecs:eu-central-1:123456789012';
const ZONES = ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'];
/** Stopped tasks stay visible for an hour (docs/internals/aws.md §2). */
const VISIBLE_MS = 60 * 60_000;

export class EcsModel {
  readonly clusterName = 'Stack-Cluster-AbC123';
  readonly clusterArn = `${ARN_PREFIX}:cluster/${this.clusterName}`;
  readonly latencies: Latencies;
  /** The names of the cluster's capacity providers. */
  capacityProviders: readonly string[] = ['FARGATE', 'FARGATE_SPOT'];
  /** While true, no agent endpoint answers, so guards cannot look. */
  agentsDown = false;
  agentFaults: AgentFaults = { failing: 0, losing: 0 };
  /** For these UpdateTaskProtection refuses the whole call, without an answer for the other tasks. */
  readonly refusingTasks = new Set<string>();
  /** Ids of tasks and names of services whose rows lack what their readers need; of tasks also the protection. */
  readonly unreadable = new Set<string>();
  /** Operations whose list never ends. */
  readonly endlessLists = new Map<string, Endless>();
  /** Names of services that no list has, although they run. */
  readonly unlisted = new Set<string>();
  /** Operations that end with an error of AWS's own. */
  readonly failing = new Set<string>();
  /** While set, AWS takes back this share of the new tasks on Spot, so long after their start. */
  reclaims: { readonly share: number; readonly afterMs: readonly [from: number, to: number] } | undefined;
  /** This share of the tasks freezes as soon as it runs. */
  freezing = 0;
  /** What this ECS does otherwise than `autoscaler prove` assumes. */
  wrong: WrongEcs | undefined;
  /** Whether services tell in events which tasks a scale-in stops, and that protected ones prevent it. */
  tellsScaleIn = false;
  /** Whether tasks tell when their image was pulled. */
  tellsPulls = true;
  /** Tags of tasks that a person has set, by `<task id> <key>`. */
  readonly taskTags = new Map<string, string>();
  /** Whether DescribeTasks with tags needs a permission that the autoscaler lacks (docs/internals/aws.md §2, "Requests"). */
  refusesTagsOfTasks = false;
  /** Ids of tasks that ECS no longer knows. */
  readonly forgotten = new Set<string>();
  /** Services, by name, that Application Auto Scaling keeps within bounds. */
  readonly scalableTargets = new Map<string, { readonly min: number; readonly max: number }>();
  readonly #options: EcsOptions;
  readonly #throttle: Throttle;
  readonly #subnets: Subnets;
  readonly #services = new Map<string, EcsService>();
  readonly #tasks = new Map<string, EcsTask>();
  readonly #revisions = new Map<string, number>();
  readonly #definitions = new Map<string, TaskDefinition>();
  readonly #running = new Set<EcsTask>();
  readonly #startFailures = new Map<TaskDefinition, string>();
  readonly #throttledCalls = new Map<string, number>();
  #launched = 0;
  #peak = 0;

  constructor(options: EcsOptions) {
    this.#options = options;
    this.latencies = { ...FARGATE, ...options.latencies };
    this.#throttle = new Throttle(() => this.now());
    this.#subnets = new Subnets(ZONES, options.random);
  }

  now(): EpochMs {
    return this.#options.timeline.now();
  }

  get timeline(): Timeline {
    return this.#options.timeline;
  }

  get random(): Random {
    return this.#options.random;
  }

  /** The value that a read sees; undefined if it was made within the read lag. */
  seen<T>(history: History<T>): T | undefined {
    const lagMs = this.#options.readLagMs ?? 0;
    return lagMs === 0 ? history.latest : history.at(plusMs(this.now(), -this.random.between(0, lagMs)));
  }

  admits(bucket: BucketName): boolean {
    return this.#options.throttling === false || this.#throttle.take(bucket);
  }

  /** Throttles the next calls of this operation of the API, whatever is left in the buckets. */
  throttleNext(operation: string, calls: number): void {
    this.#throttledCalls.set(operation, calls);
  }

  throttles(operation: string): boolean {
    const calls = this.#throttledCalls.get(operation) ?? 0;
    if (calls > 0) this.#throttledCalls.set(operation, calls - 1);
    return calls > 0;
  }

  services(): readonly EcsService[] {
    return [...this.#services.values()];
  }

  /** The service of this name. @throws AwsError ServiceNotFoundException */
  service(name: string): EcsService {
    const service = this.#services.get(name);
    if (service === undefined) throw new AwsError('ServiceNotFoundException', 'Service not found.');
    return service;
  }

  /** @throws AwsError ServiceNotFoundException or ServiceNotActiveException */
  activeService(name: string): EcsService {
    const service = this.service(name);
    if (service.state.status !== 'ACTIVE')
      throw new AwsError('ServiceNotActiveException', 'Service was not ACTIVE.');
    return service;
  }

  tasks(): readonly EcsTask[] {
    return [...this.#tasks.values()];
  }

  findTask(task: string): EcsTask | undefined {
    return this.#tasks.get(lastPart(task));
  }

  /** The task as the API knows it. */
  knownTask(task: string): EcsTask | undefined {
    return this.forgotten.has(lastPart(task)) ? undefined : this.findTask(task);
  }

  /** Tasks RUNNING now, created so far, and the most that were RUNNING at one time. */
  counts(): { readonly running: number; readonly launched: number; readonly peak: number } {
    return { running: this.#running.size, launched: this.#launched, peak: this.#peak };
  }

  registerTaskDefinition(
    family: string,
    start: StartContainer,
    template: TaskTemplate = BARE_TEMPLATE,
  ): TaskDefinition {
    const revision = (this.#revisions.get(family) ?? 0) + 1;
    this.#revisions.set(family, revision);
    const arn = `${ARN_PREFIX}:task-definition/${family}:${revision}`;
    const definition = { arn, family, revision, start, template };
    this.#definitions.set(arn, definition);
    return definition;
  }

  /** Finds a task definition by ARN, by `family:revision`, or the latest one of a family. */
  findTaskDefinition(named: string): TaskDefinition | undefined {
    const name = lastPart(named);
    const revision = name.includes(':') ? name : `${name}:${this.#revisions.get(name) ?? 0}`;
    return this.#definitions.get(`${ARN_PREFIX}:task-definition/${revision}`);
  }

  createService(spec: NewService): EcsService {
    const identity = {
      arn: `${ARN_PREFIX}:service/${spec.hasShortArn ? '' : `${this.clusterName}/`}${spec.name}` as ServiceArn,
      name: spec.name,
      minimumHealthyPercent: spec.minimumHealthyPercent ?? 0,
      maximumPercent: spec.maximumPercent ?? 100,
      earlySuccessPercent: spec.earlySuccessPercent,
      provider: spec.provider ?? 'FARGATE',
      createdAt: this.now(),
    };
    const { definition, tags = {}, desiredCount = 1 } = spec;
    const first = { definition, tags, desiredCount };
    const service = new EcsService(identity, first, {
      ...this.#around(),
      victims: this.#options.victims ?? 'random',
      wrong: () => this.wrong,
      tellsScaleIn: () => this.tellsScaleIn,
      rollout: this.#options.rollout ?? {},
      cleanup: this.#options.cleanup ?? {},
      launch: (of, deployment) => this.#launchFor(of, deployment),
    });
    this.#services.set(spec.name, service);
    return service;
  }

  deleteService(name: string): void {
    this.service(name).delete();
  }

  deploy(name: string, definition: TaskDefinition): void {
    this.activeService(name).deploy(definition);
  }

  setDesiredCount(name: string, desiredCount: number): EcsService {
    const service = this.activeService(name);
    service.setDesiredCount(desiredCount);
    return service;
  }

  protect(task: string, minutes: number): ProtectionFailure | undefined {
    const found = this.#protectable(task);
    if (typeof found === 'string') return found;
    if (!found.isWanted && this.#options.lateLease === 'refused') return 'TASK_NOT_VALID';
    if (found.isWanted && this.#isBlocked(found))
      return (this.wrong && WRONG_REFUSALS[this.wrong]) ?? 'DEPLOYMENT_BLOCKED';
    const endsAt = expiryOf(this.now(), minutes);
    const before = found.isProtected ? (found.protections.latest.expiresAt ?? 0) : 0;
    const earlier = endsAt < before && this.wrong ? EARLIER_ENDS[this.wrong] : undefined;
    if (earlier === 0) found.unprotect();
    else if (earlier !== undefined) found.protect(expiryOf(this.now(), earlier));
    else found.protect(this.wrong === 'end' ? (Math.max(endsAt, before) as EpochMs) : endsAt);
    return undefined;
  }

  /**
   * Whether a blocked deployment keeps each new task of the service from its lease. Protected tasks above
   * the desired count do so too, but a higher count ends that.
   */
  deploymentRefusesLeases(name: string): boolean {
    const service = this.service(name);
    const view = { ...this.#protectionsOf(service), desiredCount: Number.POSITIVE_INFINITY };
    return isBlocked({ isProtected: false, startedBy: view.primaryId }, view, this.#reading());
  }

  unprotect(task: string): ProtectionFailure | undefined {
    const found = this.#protectable(task);
    if (typeof found === 'string') return found;
    found.unprotect();
    return undefined;
  }

  /** AWS reclaims a Spot task: SIGTERM, then 120 s. Protection does not prevent it. */
  spotInterruption(task: string): void {
    this.#mustFind(task).stop({
      stopCode: 'SpotInterruption',
      stoppedReason: 'Your Spot Task was interrupted.',
    });
  }

  /** The host of a task fails; all processes on it are gone. */
  hostFailure(task: string): void {
    this.#mustFind(task).crash({
      stopCode: 'InfrastructureHealth',
      stoppedReason: 'Task stopped due to a failure of the underlying infrastructure',
    });
  }

  /** Protection does not prevent it. The kernel kills all processes, or only that of `killOne`. */
  outOfMemory(task: string, killOne?: () => void): void {
    this.#mustFind(task).runOutOfMemory(killOne);
  }

  stopTask(task: string): void {
    this.#mustFind(task).stop({ stopCode: 'UserInitiated', stoppedReason: 'Task stopped by user' });
  }

  /** The service replaces the task. Protection does not prevent it (docs/internals/aws.md §1, §2). */
  retireHost(
    task: string,
    stopCode: 'ServiceSchedulerInitiated' | 'TerminationNotice',
    stoppedReason = 'ECS is performing maintenance on the underlying infrastructure hosting the task.',
  ): void {
    this.#mustFind(task).stop({ stopCode, stoppedReason });
  }

  /**
   * Does not exist in ECS: a task ends itself without a replacement, as TerminateInstanceInAutoScalingGroup does with
   * ShouldDecrementDesiredCapacity. On ECS these are two steps: in between the scheduler starts another task or
   * stops a busy one.
   */
  endTask(task: string): void {
    this.#mustFind(task).end();
  }

  disableByHand(task: string): void {
    this.#mustFind(task).disableByHand();
  }

  /** Makes the service's tasks stop before RUNNING, until it is called without a reason. */
  failStarts(service: string, reason?: string): void {
    this.service(service).startFailure = reason;
  }

  /** Makes ECS unable to place the service's tasks, until it is called without a reason. */
  failPlacement(service: string, reason?: string): void {
    const found = this.service(service);
    found.placementFailure = reason;
    found.touch();
  }

  /** Makes tasks of this revision stop before RUNNING. */
  failRevision(definition: TaskDefinition, reason: string): void {
    this.#startFailures.set(definition, reason);
  }

  #protectable(task: string): EcsTask | ProtectionFailure {
    const found = this.findTask(task);
    const lastStatus = found?.state.lastStatus ?? 'STOPPED';
    const isGone = lastStatus === 'STOPPED' || lastStatus === 'DEPROVISIONING';
    return found === undefined || isGone ? 'MISSING' : found;
  }

  #isBlocked(task: EcsTask): boolean {
    const service = this.service(task.identity.serviceName);
    return isBlocked(protectionView(task), this.#protectionsOf(service), this.#reading());
  }

  #protectionsOf({ state, tasks }: EcsService): ServiceView {
    return {
      desiredCount: state.desiredCount,
      primaryId: state.primary.id,
      tasks: [...tasks].map(protectionView),
      cleanup: isCleaningUp(state) ? (this.#options.cleanup ?? {}) : undefined,
    };
  }

  #reading(): RuleReading {
    return {
      calls: this.#options.deploymentBlocked ?? 'all',
      tasks: this.#options.blockedTasks ?? 'all',
    };
  }

  #mustFind(task: string): EcsTask {
    const found = this.findTask(task);
    if (found === undefined) throw invalidParameter('The referenced task was not found.');
    return found;
  }

  #launchFor(service: EcsService, deployment: SimulatedDeployment): EcsTask | undefined {
    if (!this.admits('fargate-launch')) return undefined;
    const places = [...service.tasks].map((task) => task.identity.place);
    const zone = emptiestZone(ZONES, places, this.random);
    const { name, provider } = service.identity;
    const { definition } = deployment;
    const id = this.random.hex(32);
    const identity: TaskIdentity = {
      id,
      arn: `${ARN_PREFIX}:task/${this.clusterName}/${id}` as TaskArn,
      definition,
      place: this.#subnets.take(zone ?? ''),
      serviceName: name,
      tags: tagsOfTasks(service.state.tags),
      provider,
      sidecar: this.#options.sidecar ?? 'none',
      startedBy: deployment.id,
    };
    const task = new EcsTask(identity, (it) => taskAgent(this, it), {
      ...this.#around(),
      startFailure: () => service.startFailure ?? this.#startFailures.get(definition),
      tellsChoice: () => this.wrong === 'stopping-at',
      freezes: () => this.freezing > 0 && this.random.next() < this.freezing,
      onChange: (changed) => this.#taskChanged(changed, service),
    });
    this.#tasks.set(id, task);
    this.#launched++;
    service.add(task);
    return task;
  }

  #taskChanged(task: EcsTask, service: EcsService): void {
    service.taskChanged(task);
    const isRunning = task.state.lastStatus === 'RUNNING';
    if (isRunning && !this.#running.has(task)) this.#mayReclaim(task);
    if (isRunning) this.#running.add(task);
    else this.#running.delete(task);
    this.#peak = Math.max(this.#peak, this.#running.size);
    if (task.state.lastStatus === 'STOPPED') this.#retire(task);
  }

  #mayReclaim({ identity: { id, provider } }: EcsTask): void {
    const { reclaims, random } = this;
    if (provider !== 'FARGATE_SPOT' || reclaims === undefined || random.next() >= reclaims.share) return;
    this.timeline.after(random.between(...reclaims.afterMs), () => {
      if (this.findTask(id)?.isWanted) this.spotInterruption(id);
    });
  }

  #retire(task: EcsTask): void {
    this.#subnets.free(task.identity.place);
    this.#options.onStopped?.(task);
    this.timeline.after(VISIBLE_MS, () => this.#tasks.delete(task.identity.id));
  }

  #around() {
    const { timeline, random, readLagMs = 0, historyMs = 0 } = this.#options;
    return { timeline, random, latencies: this.latencies, historyMs: Math.max(readLagMs, historyMs) };
  }
}

const protectionView = (task: EcsTask) => ({
  isProtected: task.isProtected,
  startedBy: task.identity.startedBy,
});

/** The stack gives the task definition these tags, and its service gives them to each new task. */
function tagsOfTasks(tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { [POOL_TAG]: pool, [STACK_TAG]: stack } = tags;
  return {
    ...(pool !== undefined && { [POOL_TAG]: poolOfPart(pool) }),
    ...(stack !== undefined && { [STACK_TAG]: stack }),
  };
}

/**
 * ECS as a look sees it, made directly from the simulator's model. It equals the answers of
 * `simulator/ecs/api.ts` as the autoscaler's adapter reads them.
 */
import type { DesiredCounts } from '../../../lambda/adapters/ecs/desired-counts.ts';
import { MANY_SERVICES, STOPPED_READ } from '../../../lambda/adapters/ecs/ecs.ts';
import {
  type EpochMs,
  lastPart,
  type ServiceArn,
  type TaskArn,
} from '../../../lambda/decision/model/brands.ts';
import { POOL_TAG } from '../../../lambda/decision/model/service-tags.ts';
import type {
  EcsDeployment,
  Protection,
  Reading,
  Service,
  Task,
} from '../../../lambda/decision/model/snapshot.ts';
import { placementEvents } from '../../../lambda/decision/supply/placement.ts';
import type { Ecs, Refusal } from '../../../lambda/look/ports.ts';
import type { EcsModel } from '../../../simulator/ecs/model.ts';
import type { EcsService, SimulatedDeployment } from '../../../simulator/ecs/service.ts';
import type { EcsTask, EcsTaskState } from '../../../simulator/ecs/task.ts';
import type { OnCall } from './on-call.ts';

const PAGE = 100;
const SERVICES_A_CALL = 10;
/** Minutes of the two protections that the adapter sets. */
const ASK_MINUTES = 1380;
const PROTECT_MINUTES = 30;
const PENDING: ReadonlySet<string> = new Set(['PROVISIONING', 'PENDING', 'ACTIVATING']);

/**
 * The port of one invocation: it lists the services once. Reads see the present state, without a
 * lag.
 */
export class EcsPort implements Ecs {
  readonly cluster: string;
  readonly #model: EcsModel;
  readonly #onCall: OnCall;
  readonly #counts: DesiredCounts;
  #hasListed = false;

  constructor(
    model: EcsModel,
    { onCall, counts }: { readonly onCall: OnCall; readonly counts: DesiredCounts },
  ) {
    this.cluster = model.clusterName;
    this.#model = model;
    this.#onCall = onCall;
    this.#counts = counts;
  }

  async services(now?: EpochMs): Promise<Reading<Service>> {
    const services = this.#model.services().filter(({ state: { tags } }) => tags[POOL_TAG] !== undefined);
    const pages = this.#hasListed ? 0 : pagesOf(services.length, PAGE);
    this.#hasListed = true;
    this.#onCall('ecs', pages + pagesOf(services.length, SERVICES_A_CALL));
    const tasks = Map.groupBy(this.#model.tasks(), ({ identity: { serviceName } }) => serviceName);
    const items = services.map((it) => serviceOf(it, tasks.get(it.identity.name) ?? []));
    return {
      status: 'ok',
      items: now === undefined ? items : items.map((item) => this.#counts.compare(item, now)),
    };
  }

  async tasks(services: readonly Service[]): Promise<Reading<Task>> {
    const isMany = services.length > MANY_SERVICES;
    const lists = new Map(services.map(({ serviceName }) => [serviceName, newLists()]));
    const whole = newLists();
    for (const task of this.#model.tasks()) {
      const own = lists.get(task.identity.serviceName ?? '');
      if (own !== undefined) list(task, isMany ? whole : own);
    }
    const listed = (isMany ? [whole] : [...lists.values()]).flatMap(({ RUNNING, STOPPED }) => [
      RUNNING,
      STOPPED,
    ]);
    const found = listed.flat();
    const pages = listed.reduce((sum, tasks) => sum + pagesOf(tasks.length, PAGE), 0);
    this.#onCall('ecs', pages + Math.ceil(found.length / PAGE));
    return { status: 'ok', items: found };
  }

  async protections(tasks: readonly TaskArn[]): Promise<Reading<Protection>> {
    this.#onCall('ecs', Math.ceil(tasks.length / PAGE));
    const items = tasks.flatMap((taskArn) => {
      const task = this.#model.findTask(taskArn);
      if (task === undefined || task.state.lastStatus === 'STOPPED') return [];
      const { enabled, expiresAt } = task.protections.latest;
      const expiry = enabled && expiresAt !== undefined ? { expirationDate: expiresAt } : {};
      return { taskArn, protectionEnabled: enabled, ...expiry };
    });
    return { status: 'ok', items };
  }

  async setDesired(service: ServiceArn, count: number): Promise<void> {
    this.#onCall('ecs', 1);
    this.#counts.willSet(service, count);
    this.#model.setDesiredCount(lastPart(service), count);
  }

  requestDrain(tasks: readonly TaskArn[]): Promise<readonly Refusal[]> {
    return this.#protectFor(tasks, ASK_MINUTES);
  }

  protect(tasks: readonly TaskArn[]): Promise<readonly Refusal[]> {
    return this.#protectFor(tasks, PROTECT_MINUTES);
  }

  async #protectFor(tasks: readonly TaskArn[], minutes: number): Promise<readonly Refusal[]> {
    this.#onCall('ecs', 1);
    return tasks.flatMap((task) => {
      const reason = this.#model.protect(task, minutes);
      return reason === undefined ? [] : { task, reason };
    });
  }
}

/** An empty list takes one page too. */
const pagesOf = (items: number, page: number): number => Math.max(1, Math.ceil(items / page));

function serviceOf({ identity, state }: EcsService, tasks: readonly EcsTask[]): Service {
  const counts = new Map<string | undefined, Counts>();
  for (const task of tasks) count(counts, task);
  const deployments = [state.primary, ...state.older];
  return {
    serviceArn: identity.arn,
    serviceName: identity.name,
    status: state.status,
    desiredCount: state.desiredCount,
    ...sumOf([...counts.values()]),
    taskDefinition: state.primary.definition.arn,
    deployments: deployments.map((deployment) => deploymentOf(deployment, counts.get(deployment.id))),
    events: placementEvents(state.events),
    tags: Object.entries(state.tags).map(([key, value]) => ({ key, value })),
  };
}

type Counts = { runningCount: number; pendingCount: number };

function count(counts: Map<string | undefined, Counts>, { identity: { startedBy }, state }: EcsTask): void {
  const sum = counts.get(startedBy) ?? { runningCount: 0, pendingCount: 0 };
  if (state.lastStatus === 'RUNNING') sum.runningCount++;
  if (PENDING.has(state.lastStatus)) sum.pendingCount++;
  counts.set(startedBy, sum);
}

function sumOf(counts: readonly Counts[]): Counts {
  return {
    runningCount: counts.reduce((sum, { runningCount }) => sum + runningCount, 0),
    pendingCount: counts.reduce((sum, { pendingCount }) => sum + pendingCount, 0),
  };
}

function deploymentOf(deployment: SimulatedDeployment, counts: Counts | undefined): EcsDeployment {
  return {
    id: deployment.id,
    status: deployment.status,
    taskDefinition: deployment.definition.arn,
    desiredCount: deployment.status === 'PRIMARY' ? deployment.desiredCount : 0,
    ...(counts ?? { runningCount: 0, pendingCount: 0 }),
    rolloutState: deployment.rolloutState,
    createdAt: deployment.createdAt,
  };
}

type Lists = Readonly<Record<EcsTaskState['desiredStatus'], Task[]>>;

const newLists = (): Lists => ({ RUNNING: [], STOPPED: [] });

function list(task: EcsTask, lists: Lists): void {
  const { desiredStatus } = task.state;
  if (desiredStatus === 'RUNNING' || lists.STOPPED.length < STOPPED_READ)
    lists[desiredStatus].push(knownTask(task));
}

const known = new WeakMap<EcsTaskState, Task>();

/** An EcsTaskState is immutable, and most tasks are read many times in the same state. */
function knownTask(task: EcsTask): Task {
  const found = known.get(task.state);
  if (found !== undefined) return found;
  const made = taskOf(task);
  known.set(task.state, made);
  return made;
}

function taskOf({ identity, state }: EcsTask): Task {
  const { definition, place } = identity;
  const hasInterface = state.lastStatus !== 'PROVISIONING';
  return {
    taskArn: identity.arn,
    group:
      identity.serviceName === undefined ? `family:${definition.family}` : `service:${identity.serviceName}`,
    lastStatus: state.lastStatus,
    desiredStatus: state.desiredStatus,
    taskDefinitionArn: definition.arn,
    startedBy: identity.startedBy,
    availabilityZone: place.zone,
    capacityProviderName: 'FARGATE',
    createdAt: state.createdAt,
    pullStartedAt: state.pullStartedAt,
    pullStoppedAt: state.pullStoppedAt,
    startedAt: state.startedAt,
    stoppingAt: state.stoppingAt,
    stoppedAt: state.stoppedAt,
    stopCode: state.stopCode,
    stoppedReason: state.stoppedReason,
    containers: [
      {
        name: 'provisioner',
        exitCode: state.exitCode,
        reason: state.containerReason,
        networkInterfaces: hasInterface ? [{ privateIpv4Address: place.privateIp }] : [],
      },
    ],
  };
}

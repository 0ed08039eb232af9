/** Formats tasks, services and protections as the AWS SDK returns them: AWS's field names, times as dates. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { ServiceEvent } from '../../../lambda/decision/model/snapshot.ts';
import { KeptRows } from '../base/kept-rows.ts';
import type { EcsService, ServiceState, SimulatedDeployment } from './service.ts';
import type { EcsTask, EcsTaskState, Protection } from './task.ts';

export type TaskView = { readonly task: EcsTask; readonly state: EcsTaskState };

const PENDING = new Set(['PROVISIONING', 'PENDING', 'ACTIVATING']);
/** The status before the network interface is attached. */
const WITHOUT_INTERFACE = 'PROVISIONING';

/** With the tags and without. */
const services = { withTags: new KeptRows<ServiceState>(), bare: new KeptRows<ServiceState>() };

export function wireService(
  clusterArn: string,
  service: EcsService,
  given: { readonly state: ServiceState; readonly tasks: readonly TaskView[]; readonly withTags?: boolean },
) {
  const { state, withTags = false } = given;
  const counts = countsByDeployment(given.tasks);
  return services[withTags ? 'withTags' : 'bare'].of(state, [JSON.stringify([...counts])], () => ({
    ...serviceAnswer(clusterArn, service, state, counts),
    ...(withTags && wireTags(state)),
  }));
}

function serviceAnswer(clusterArn: string, service: EcsService, state: ServiceState, counts: CountsById) {
  const { identity } = service;
  return {
    serviceArn: identity.arn,
    serviceName: identity.name,
    clusterArn,
    status: state.status,
    desiredCount: state.desiredCount,
    ...sumOf([...counts.values()]),
    capacityProviderStrategy: [{ capacityProvider: identity.provider, weight: 1, base: 0 }],
    platformVersion: 'LATEST',
    platformFamily: 'Linux',
    taskDefinition: state.primary.definition.arn,
    deploymentConfiguration: {
      minimumHealthyPercent: identity.minimumHealthyPercent,
      maximumPercent: identity.maximumPercent,
      ...wireEarlySuccess(identity.earlySuccessPercent),
    },
    deployments: service
      .listed(state)
      .map((deployment) => wireDeployment(deployment, counts.get(deployment.id) ?? NO_TASKS)),
    events: state.events.map(wireEvent),
    createdAt: date(identity.createdAt),
    schedulingStrategy: 'REPLICA',
    availabilityZoneRebalancing: 'DISABLED',
    enableECSManagedTags: false,
    propagateTags: 'NONE',
  };
}

export const wireTags = ({ tags }: Pick<ServiceState, 'tags'>) => ({
  tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
});

const tasks = new KeptRows<EcsTaskState>();

export function wireTask(clusterArn: string, task: EcsTask, state: EcsTaskState) {
  return tasks.of(state, [], () => taskAnswer(clusterArn, task, state));
}

function taskAnswer(clusterArn: string, task: EcsTask, state: EcsTaskState) {
  const { identity } = task;
  return {
    taskArn: identity.arn,
    clusterArn,
    taskDefinitionArn: identity.definition.arn,
    group: `service:${identity.serviceName}`,
    startedBy: identity.startedBy,
    availabilityZone: identity.place.zone,
    capacityProviderName: identity.provider,
    launchType: 'FARGATE',
    platformVersion: '1.4.0',
    lastStatus: state.lastStatus,
    desiredStatus: state.desiredStatus,
    connectivity: 'CONNECTED',
    stopCode: state.stopCode,
    stoppedReason: state.stoppedReason,
    ...wireTimes(state),
    attachments: state.lastStatus === WITHOUT_INTERFACE ? [] : [wireAttachment(task, state)],
    containers: [...wireSidecar(task, state), wireContainer(task, state)],
    tags: [],
  };
}

const protections = new KeptRows<EcsTask>();

export function wireProtection(task: EcsTask, protection: Protection) {
  const { enabled, expiresAt } = protection;
  return protections.of(task, [protection], () => ({
    taskArn: task.identity.arn,
    protectionEnabled: enabled,
    expirationDate: enabled ? date(expiresAt) : undefined,
  }));
}

function wireEarlySuccess(healthyPercent: number | undefined) {
  if (healthyPercent === undefined) return {};
  return { earlySuccessCriteria: { enable: true, healthyPercent, sourceServiceRevisionCleanup: 'DEFERRED' } };
}

function wireDeployment(deployment: SimulatedDeployment, counts: Counts) {
  return {
    id: deployment.id,
    status: deployment.status,
    taskDefinition: deployment.definition.arn,
    desiredCount: deployment.status === 'PRIMARY' ? deployment.desiredCount : 0,
    ...counts,
    failedTasks: deployment.failedTasks,
    rolloutState: deployment.rolloutState,
    rolloutStateReason: `ECS deployment ${deployment.id} ${deployment.rolloutState.toLowerCase().replace('_', ' ')}.`,
    createdAt: date(deployment.createdAt),
    updatedAt: date(deployment.updatedAt),
  };
}

type Counts = { readonly runningCount: number; readonly pendingCount: number };
type CountsById = ReadonlyMap<string, Counts>;

const NO_TASKS: Counts = { runningCount: 0, pendingCount: 0 };

function countsByDeployment(tasks: readonly TaskView[]): CountsById {
  const counts = new Map<string, Counts>();
  for (const { task, state } of tasks) {
    const { startedBy } = task.identity;
    const isRunning = state.lastStatus === 'RUNNING';
    const own = { runningCount: Number(isRunning), pendingCount: Number(PENDING.has(state.lastStatus)) };
    counts.set(startedBy, sumOf([counts.get(startedBy) ?? NO_TASKS, own]));
  }
  return counts;
}

function sumOf(counts: readonly Counts[]): Counts {
  return {
    runningCount: sum(counts, ({ runningCount }) => runningCount),
    pendingCount: sum(counts, ({ pendingCount }) => pendingCount),
  };
}

const wireEvent = ({ createdAt, ...event }: ServiceEvent) => ({ ...event, createdAt: date(createdAt) });

function wireTimes(state: EcsTaskState) {
  return {
    createdAt: date(state.createdAt),
    pullStartedAt: date(state.pullStartedAt),
    pullStoppedAt: date(state.pullStoppedAt),
    startedAt: date(state.startedAt),
    stoppingAt: date(state.stoppingAt),
    executionStoppedAt: date(state.executionStoppedAt),
    stoppedAt: date(state.stoppedAt),
  };
}

function wireAttachment({ identity: { id, place } }: EcsTask, state: EcsTaskState) {
  return {
    id: `${id.slice(0, 8)}-${id.slice(8, 12)}-4${id.slice(13, 16)}-a${id.slice(17, 20)}-${id.slice(20)}`,
    type: 'ElasticNetworkInterface',
    status: state.lastStatus === 'STOPPED' ? 'DELETED' : 'ATTACHED',
    details: [
      { name: 'subnetId', value: place.subnetId },
      { name: 'networkInterfaceId', value: place.interfaceId },
      { name: 'macAddress', value: place.macAddress },
      { name: 'privateIPv4Address', value: place.privateIp },
    ],
  };
}

function wireContainer({ identity: { arn, id, place } }: EcsTask, state: EcsTaskState) {
  const { lastStatus, exitCode, containerReason } = state;
  return {
    containerArn: arn.replace(':task/', ':container/'),
    taskArn: arn,
    name: 'provisioner',
    runtimeId: state.startedAt === undefined ? undefined : `${id}-0123456789`,
    lastStatus: PENDING.has(lastStatus) || lastStatus === 'STOPPED' ? lastStatus : 'RUNNING',
    exitCode,
    reason: containerReason,
    networkInterfaces: lastStatus === WITHOUT_INTERFACE ? [] : [{ privateIpv4Address: place.privateIp }],
  };
}

/** docs/internals/aws.md §2: ECS stops it after the provisioner, and it exits as it likes. */
function wireSidecar({ identity }: EcsTask, { lastStatus, startedAt }: EcsTaskState) {
  if (identity.sidecar === 'none') return [];
  const isUnpulled = identity.sidecar === 'unpulled' && startedAt !== undefined;
  const hasEnded = lastStatus === 'STOPPED' && startedAt !== undefined;
  return [
    {
      name: `aws-guardduty-agent-${identity.id.slice(0, 6)}`,
      lastStatus: isUnpulled ? 'STOPPED' : lastStatus,
      exitCode: hasEnded && !isUnpulled ? 137 : undefined,
      reason: isUnpulled ? UNPULLED : undefined,
      networkInterfaces: [],
    },
  ];
}

const UNPULLED =
  'CannotPullContainerError: pull image manifest has been retried 1 time(s): failed to resolve ref 323658145986.dkr.ecr.eu-central-1.amazonaws.com/aws-guardduty-agent-fargate:v1.5.0-Fg_arm64';

function date(time: EpochMs): Date;
function date(time: EpochMs | undefined): Date | undefined;
function date(time: EpochMs | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time);
}

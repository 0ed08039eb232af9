/**
 * Formats tasks, services and protections as the ECS API does: AWS's field names, times in epoch
 * seconds.
 */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { EcsService, ServiceState, SimulatedDeployment } from './service.ts';
import type { EcsTask, EcsTaskState, Protection } from './task.ts';

/** A task with the state that the read sees. */
export type TaskView = { readonly task: EcsTask; readonly state: EcsTaskState };

const PENDING = new Set(['PROVISIONING', 'PENDING', 'ACTIVATING']);
/** The status before the network interface is attached. */
const WITHOUT_INTERFACE = 'PROVISIONING';

export function wireService(
  clusterArn: string,
  service: EcsService,
  state: ServiceState,
  tasks: readonly TaskView[],
) {
  const { identity } = service;
  return {
    serviceArn: identity.arn,
    serviceName: identity.name,
    clusterArn,
    status: state.status,
    desiredCount: state.desiredCount,
    ...countsOf(tasks),
    capacityProviderStrategy: [{ capacityProvider: 'FARGATE', weight: 1, base: 0 }],
    platformVersion: 'LATEST',
    platformFamily: 'Linux',
    taskDefinition: state.primary.definition.arn,
    deploymentConfiguration: {
      minimumHealthyPercent: identity.minimumHealthyPercent,
      maximumPercent: identity.maximumPercent,
      ...wireEarlySuccess(identity.earlySuccessPercent),
    },
    deployments: service.listed(state).map((deployment) => wireDeployment(deployment, tasks)),
    events: state.events.map(({ createdAt, ...event }) => ({ ...event, createdAt: seconds(createdAt) })),
    createdAt: seconds(identity.createdAt),
    schedulingStrategy: 'REPLICA',
    availabilityZoneRebalancing: 'DISABLED',
    enableECSManagedTags: false,
    propagateTags: 'NONE',
  };
}

export const wireTags = (tags: Readonly<Record<string, string>>) =>
  Object.entries(tags).map(([key, value]) => ({ key, value }));

export function wireTask(clusterArn: string, task: EcsTask, state: EcsTaskState) {
  const { identity } = task;
  return {
    taskArn: identity.arn,
    clusterArn,
    taskDefinitionArn: identity.definition.arn,
    group:
      identity.serviceName === undefined
        ? `family:${identity.definition.family}`
        : `service:${identity.serviceName}`,
    startedBy: identity.startedBy,
    availabilityZone: identity.place.zone,
    capacityProviderName: 'FARGATE',
    launchType: 'FARGATE',
    platformVersion: '1.4.0',
    lastStatus: state.lastStatus,
    desiredStatus: state.desiredStatus,
    connectivity: 'CONNECTED',
    stopCode: state.stopCode,
    stoppedReason: state.stoppedReason,
    ...wireTimes(state),
    attachments: state.lastStatus === WITHOUT_INTERFACE ? [] : [wireAttachment(task, state)],
    containers: [wireContainer(task, state)],
  };
}

export function wireProtection(task: EcsTask, { enabled, expiresAt }: Protection) {
  return {
    taskArn: task.identity.arn,
    protectionEnabled: enabled,
    expirationDate: enabled ? seconds(expiresAt) : undefined,
  };
}

function wireEarlySuccess(healthyPercent: number | undefined) {
  if (healthyPercent === undefined) return {};
  return { earlySuccessCriteria: { enable: true, healthyPercent, sourceServiceRevisionCleanup: 'DEFERRED' } };
}

function wireDeployment(deployment: SimulatedDeployment, tasks: readonly TaskView[]) {
  return {
    id: deployment.id,
    status: deployment.status,
    taskDefinition: deployment.definition.arn,
    desiredCount: deployment.status === 'PRIMARY' ? deployment.desiredCount : 0,
    ...countsOf(tasks.filter(({ task }) => task.identity.startedBy === deployment.id)),
    failedTasks: deployment.failedTasks,
    rolloutState: deployment.rolloutState,
    rolloutStateReason: `ECS deployment ${deployment.id} ${deployment.rolloutState.toLowerCase().replace('_', ' ')}.`,
    createdAt: seconds(deployment.createdAt),
    updatedAt: seconds(deployment.updatedAt),
  };
}

function countsOf(tasks: readonly TaskView[]) {
  return {
    runningCount: tasks.filter(({ state }) => state.lastStatus === 'RUNNING').length,
    pendingCount: tasks.filter(({ state }) => PENDING.has(state.lastStatus)).length,
  };
}

function wireTimes(state: EcsTaskState) {
  return {
    createdAt: seconds(state.createdAt),
    pullStartedAt: seconds(state.pullStartedAt),
    pullStoppedAt: seconds(state.pullStoppedAt),
    startedAt: seconds(state.startedAt),
    stoppingAt: seconds(state.stoppingAt),
    executionStoppedAt: seconds(state.executionStoppedAt),
    stoppedAt: seconds(state.stoppedAt),
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

function seconds(time: EpochMs): number;
function seconds(time: EpochMs | undefined): number | undefined;
function seconds(time: EpochMs | undefined): number | undefined {
  return time === undefined ? undefined : time / 1000;
}

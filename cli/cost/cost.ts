/**
 * Computes what a deployment costs a month, line by line, from its configuration, the prices of
 * us-east-1 and the assumptions below. It is an estimate: use it to find the large items and to
 * compare configurations.
 */

import type { DeployedPool, Deployment } from '../../lambda/config/rules/deployment.ts';
import { partsOn, secretsOf } from '../../lambda/config/rules/deployment.ts';
import { servicesOf } from '../../lambda/config/rules/deployment-rules.ts';
import { sum } from '../../lambda/decision/model/collections.ts';
import { MINUTE_MS, MONTH_HOURS } from '../../lambda/decision/model/units.ts';
import { priceOf } from '../../lambda/decision/settings/prices.ts';
import { leastOf } from '../../lambda/decision/settings/settings-in-force.ts';
import { PRICES } from './aws-prices.ts';
import { BUILDS, buildHours, type Load, taskHours, WORK_DAY_MINUTES, WORK_HOURS } from './task-hours.ts';

/** No builds: only floors and schedules cost money. */
export const QUIET: Load = { share: 0 };
/** A day on which people build all the time. */
export const BUSY: Load = { share: 0.35 };

/** Assumptions that the configuration does not contain. */
export const ASSUMED = {
  /** GB that a task downloads for each hour in which it builds: image, providers, modules. */
  gbPerBusyTaskHour: 0.5,
  /** GB that a look downloads. */
  gbPerLook: 0.0001,
  /** Milliseconds between looks in working hours with `looks.every: auto`. */
  autoMs: 10_000,
  /** Billed seconds of one look. */
  lookS: 0.5,
  /** Requests with which Lambda waits for messages of the queue: five connections, for 20 s each. */
  pollsPerMinute: 15,
  /** Sending, receiving and deleting a message. */
  requestsPerMessage: 3,
  /** Calls of a look for the tasks and their protections, besides those for lists. */
  callsForTasks: 2,
  /** GB of log for a look, and the same again for each pool. */
  logGbPerLook: 0.000_002,
  /** Nearly all of it is coder's. The guard's lines about usage are 0.00001 GB in such an hour. */
  logGbPerBusyTaskHour: 0.002,
} as const;

/** Resources that every stack has. A test compares these numbers with the template. */
export const MADE = {
  zones: 2,
  endpoints: 5,
  metrics: 5,
  activityMetrics: 5,
  waitMetrics: 6,
  metricsPerPool: 3,
  alarms: 12,
} as const;

/** Dollars a month for all interface endpoints in all zones. */
export const ENDPOINTS_MONTH = MADE.endpoints * MADE.zones * MONTH_HOURS * PRICES.endpointHour;

export type CostLine = { readonly what: keyof ReturnType<typeof dollarsOf>; readonly dollars: number };

/** Dollars a month for each line, including lines of zero, so that you can compare two deployments. */
export function costOf(deployment: Deployment, wanted: Load): readonly CostLine[] {
  const lines = Object.entries(dollarsOf(deployment, withinMaxTasks(deployment, wanted)));
  return lines.map(([what, dollars]) => ({ what: what as CostLine['what'], dollars }));
}

function dollarsOf(deployment: Deployment, load: Load) {
  const { pools, aws } = deployment;
  const usage = usageOf(deployment, load);
  return {
    'Fargate tasks': sum(pools, (pool) => costOfTasks(pool, load)),
    'NAT gateways': costOfNat(deployment, usage),
    'traffic between zones': costBetweenZones(deployment, usage),
    'interface endpoints': aws.network.endpoints ? ENDPOINTS_MONTH : 0,
    Lambda: costOfLambda(deployment, usage),
    metrics: costOfMetrics(deployment, load),
    alarms: aws.alarms.enabled ? alarmsOf(deployment) * PRICES.alarmMonth : 0,
    logs: costOfLogs(deployment, usage),
    'Secrets Manager': costOfSecrets(deployment) + costOfManagedKeys(deployment),
    KMS: aws.kmsKey === undefined ? 0 : PRICES.keyMonth,
    'Scheduler, SQS, SNS, SSM': costOfInvocations(usage) + costOfRecord(load),
  };
}

/** Dollars a month for the events that CloudTrail makes of the autoscaler's calls to AWS, where other services bill them. */
export function costOfEvents(deployment: Deployment, load: Load) {
  const { looks } = usageOf(deployment, load);
  const services = sum(deployment.pools, servicesOf);
  const lists = deployment.aws.cluster === undefined ? 1 : services;
  // the list of secrets once a minute, that of services every ten, and the token every five
  const others = INVOCATIONS * 1.1 + MONTH_HOURS * 12;
  const calls = looks * (Math.ceil(services / 10) + 2 * lists + ASSUMED.callsForTasks) + others;
  return { calls, guardDuty: calls * PRICES.guardDutyEvent, secondTrail: calls * PRICES.trailEvent };
}

/** The sum of all lines, in dollars a month. */
export function totalOf(lines: readonly CostLine[]): number {
  return sum(lines, ({ dollars }) => dollars);
}

/** Dollars a month of the autoscaler itself: all lines but those of tasks and of the network. */
export function ownDollars(deployment: Deployment, load: Load): number {
  return totalOf(costOf(deployment, load).filter(({ what }) => !/tasks|NAT|zones|endpoints/.test(what)));
}

/** The load of this many builds on a working day, divided over the pools in proportion to their `max`. */
export function loadOf({ pools, limits }: Deployment, buildsPerDay: number): Load {
  const max = Math.min(limits.maxTasks, sumOfMax(pools));
  return { share: max === 0 ? 0 : (buildsPerDay * BUILDS.minutes) / WORK_DAY_MINUTES / max };
}

/**
 * Dollars a month for a fleet of fixed size: this many tasks of a pool around the clock, and
 * nothing else.
 */
export function costOfStaticFleet(pool: DeployedPool, tasks: number): number {
  return (tasks * MONTH_HOURS * priceOf({ ...pool, spot: false })) / 1e6;
}

/**
 * The number of billed alarms. The quotas of on-demand and Spot vCPUs have one alarm each, and
 * the key function has one.
 */
export function alarmsOf({ pools, managedKeys }: Deployment): number {
  const keys = managedKeys !== undefined;
  const capacities = (['on-demand', 'spot'] as const).filter((kind) => partsOn(kind, pools).length > 0);
  return MADE.alarms + capacities.length + (keys ? 1 : 0);
}

/** Reduces the load if the pools' `max` add up to more than `maxTasks`. */
function withinMaxTasks({ pools, limits }: Deployment, { share }: Load): Load {
  const max = sumOfMax(pools);
  return { share: max > limits.maxTasks ? (share * limits.maxTasks) / max : share };
}

function sumOfMax(pools: readonly DeployedPool[]): number {
  return sum(pools, (pool) => (pool.retiring ? 0 : pool.max));
}

type Usage = {
  readonly looks: number;
  /** Task-hours in which a task builds. */
  readonly busyTaskHours: number;
};

const INVOCATIONS = MONTH_HOURS * 60;

function usageOf({ pools, looks }: Deployment, load: Load): Usage {
  const busyMinutes = load.share > 0 ? WORK_HOURS * 60 : 0;
  const everyMs = looks.everyMs === 'auto' ? ASSUMED.autoMs : looks.everyMs;
  return {
    looks: INVOCATIONS - busyMinutes + busyMinutes * (MINUTE_MS / everyMs),
    busyTaskHours: sum(pools, (pool) => buildHours(pool, load)),
  };
}

function costOfTasks(pool: DeployedPool, load: Load): number {
  const storage = (pool.ephemeralStorage - 20) * PRICES.storageGbHour;
  return taskHours(pool, load) * (priceOf(pool) / 1e6 + storage);
}

/** An existing VPC costs nothing here, because its egress is already paid for. */
function costOfNat({ aws }: Deployment, usage: Usage): number {
  if (aws.network.vpc !== undefined) return 0;
  const hours = aws.network.natGateways * MONTH_HOURS * (PRICES.natGatewayHour + PRICES.publicIpv4Hour);
  return hours + egressGb(aws, usage) * PRICES.natGatewayGb;
}

/** Tasks and function are in all zones alike, and a zone without a NAT gateway uses that of another one. */
function costBetweenZones({ aws }: Deployment, usage: Usage): number {
  if (aws.network.vpc !== undefined) return 0;
  const crossing = 1 - aws.network.natGateways / MADE.zones;
  return crossing * egressGb(aws, usage) * PRICES.betweenZonesGb;
}

function egressGb(aws: Deployment['aws'], { looks, busyTaskHours }: Usage): number {
  return busyTaskHours * ASSUMED.gbPerBusyTaskHour + (aws.function.inVpc ? looks * ASSUMED.gbPerLook : 0);
}

/** Each look is an invocation: messages start those that the schedule does not. */
function costOfLambda({ aws }: Deployment, { looks }: Usage): number {
  const look = (ASSUMED.lookS * aws.function.memory * PRICES.lambdaGbSecond) / 1024;
  return looks * (look + PRICES.lambdaRequest);
}

/** AWS bills a metric for the hours in which it gets a value: those of activity and waits while there is any. */
function costOfMetrics({ aws, pools }: Deployment, load: Load): number {
  const ofPools = aws.metrics.perPool ? pools.length * MADE.metricsPerPool : 0;
  const work = load.share > 0 ? WORK_HOURS / MONTH_HOURS : 0;
  const active = pools.some((pool) => leastOf(pool, undefined) > 0) ? 1 : work;
  const metrics = MADE.metrics + ofPools + MADE.activityMetrics * active + MADE.waitMetrics * work;
  return metrics * PRICES.metricMonth;
}

function costOfLogs({ aws, pools }: Deployment, { looks, busyTaskHours }: Usage): number {
  const gb = looks * ASSUMED.logGbPerLook * (1 + pools.length) + busyTaskHours * ASSUMED.logGbPerBusyTaskHour;
  return gb * (PRICES.logsGb + (aws.logs.retentionDays / 30) * PRICES.logsGbMonth);
}

/**
 * The function reads the token every five minutes, and lists the pools' secrets every minute. The
 * reads of starting tasks cost almost nothing.
 */
function costOfSecrets({ coder, pools, managedKeys }: Deployment): number {
  const refs = [coder.token, managedKeys?.token ?? [], secretsOf(pools)].flat();
  const names = new Set(refs.map(({ secret }) => secret));
  return names.size * PRICES.secretMonth + MONTH_HOURS * (12 + 60) * PRICES.secretCall;
}

/** A sweep of the key function, with its calls to Secrets Manager. */
const SWEEP = {
  everyHours: 0.25,
  seconds: 2,
  memoryGb: 0.25,
  /** Its token and the list of secrets. */
  calls: 2,
  /** The description of the secret, and the keys of two versions. */
  callsPerPool: 3,
} as const;

/** The secrets of the managed keys, and the sweeps of the key function with all their calls. */
export function costOfManagedKeys({ pools, managedKeys }: Deployment): number {
  if (managedKeys === undefined) return 0;
  const managed = pools.filter(({ auth }) => auth.kind === 'managed').length;
  const calls = (SWEEP.calls + SWEEP.callsPerPool * managed) * PRICES.secretCall;
  const run = SWEEP.seconds * SWEEP.memoryGb * PRICES.lambdaGbSecond + PRICES.lambdaRequest;
  return managed * PRICES.secretMonth + (MONTH_HOURS / SWEEP.everyHours) * (calls + run);
}

/** The function writes the record at most once a minute, while builds come. */
function costOfRecord({ share }: Load): number {
  const writes = share > 0 ? WORK_HOURS * 60 : 0;
  return PRICES.parameterMonth + writes * PRICES.parameterCall;
}

/** The queue of undelivered invocations and the topic cost nothing without errors and alarms. */
function costOfInvocations({ looks }: Usage): number {
  const messages = (looks - INVOCATIONS) * ASSUMED.requestsPerMessage;
  const queue = (messages + INVOCATIONS * ASSUMED.pollsPerMinute) * PRICES.sqsRequest;
  return INVOCATIONS * PRICES.scheduleRun + queue;
}

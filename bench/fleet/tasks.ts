/**
 * Generates ECS tasks and their daemons, in the states of a busy deployment
 * (docs/internals/architecture.md, "The lease").
 */

import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import type { Random } from '../../simulator/base/random.ts';
import { type FleetJob, makeJob } from './jobs.ts';
import type { FleetPool } from './pools.ts';

const ARN = 'arn:aws:ecs:eu-central-1:123456789012';
export const CLUSTER = 'fleet';
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export type TaskState = 'busy' | 'idle' | 'leaving' | 'left' | 'starting' | 'stopped';

/** One task, its protection, and its daemon and jobs as coderd lists them. */
export type FleetMember = {
  readonly pool: FleetPool;
  readonly task: ReturnType<typeof makeTask>;
  readonly protection: ReturnType<typeof makeProtection>;
  readonly daemon?: ReturnType<typeof makeDaemon>;
  readonly running?: FleetJob;
  readonly previous?: FleetJob;
};

export type Surroundings = {
  readonly takenAt: number;
  readonly random: Random;
  readonly organizationId: (name: string) => string;
};

const iso = (time: number): string => new Date(time).toISOString();

export const serviceArn = ({ serviceName }: FleetPool): string => `${ARN}:service/${CLUSTER}/${serviceName}`;
export const definitionArn = ({ serviceName }: FleetPool, revision: number): string =>
  `${ARN}:task-definition/${serviceName.replace('Service', 'Task')}:${revision}`;

/** A random state of a task with a daemon. Most are busy. */
export function pickState(random: Random): TaskState {
  const share = random.next();
  if (share < 0.75) return 'busy';
  if (share < 0.9) return 'idle';
  return share < 0.96 ? 'leaving' : 'left';
}

/** A task in this state, with its daemon and the jobs of the daemon. */
export function makeMember(pool: FleetPool, state: TaskState, given: Surroundings): FleetMember {
  const id = given.random.hex(32);
  const task = makeTask({ pool, id, state }, given);
  const protection = makeProtection(task.taskArn, state, given);
  if (state === 'starting' || state === 'stopped') return { pool, task, protection };
  const daemonId = given.random.uuid();
  const running = state === 'busy' || state === 'leaving' ? runningJob(pool, daemonId, given) : undefined;
  const previous = given.random.next() < 0.9 ? previousJob(pool, daemonId, given) : undefined;
  const jobs = { running, previous };
  return {
    pool,
    task,
    protection,
    daemon: makeDaemon({ pool, id: daemonId, name: `${pool.name}-${id}`, state, ...jobs }, given),
    ...(running === undefined ? {} : { running }),
    ...(previous === undefined ? {} : { previous }),
  };
}

type TaskFacts = { readonly pool: FleetPool; readonly id: string; readonly state: TaskState };

function makeTask({ pool, id, state }: TaskFacts, { random, takenAt }: Surroundings) {
  const arn = `${ARN}:task/${CLUSTER}/${id}`;
  const createdAt = takenAt - (state === 'starting' ? 40 * SECOND : random.between(20 * MINUTE, 10 * HOUR));
  const ip = `10.0.${random.whole(0, 255)}.${random.whole(0, 255)}`;
  const lastStatus = state === 'starting' ? 'PENDING' : state === 'stopped' ? 'STOPPED' : 'RUNNING';
  return {
    taskArn: arn,
    clusterArn: `${ARN}:cluster/${CLUSTER}`,
    taskDefinitionArn: definitionArn(pool, random.next() < 0.1 ? 1 : 2),
    group: `service:${pool.serviceName}`,
    startedBy: 'ecs-svc/1234567890123456789',
    availabilityZone: 'eu-central-1a',
    capacityProviderName: 'FARGATE',
    launchType: 'FARGATE',
    lastStatus,
    desiredStatus: state === 'stopped' ? 'STOPPED' : 'RUNNING',
    createdAt: iso(createdAt),
    ...(state === 'starting' ? {} : { startedAt: iso(createdAt + 30 * SECOND) }),
    ...(state === 'stopped' ? stoppedFields(takenAt - random.between(MINUTE, 50 * MINUTE)) : {}),
    containers: [
      {
        containerArn: arn.replace(':task/', ':container/'),
        taskArn: arn,
        name: 'provisioner',
        lastStatus,
        ...(state === 'stopped' ? { exitCode: 0 } : {}),
        networkInterfaces: [{ privateIpv4Address: ip }],
      },
    ],
  };
}

function stoppedFields(stoppedAt: number) {
  return {
    stoppedAt: iso(stoppedAt),
    stopCode: 'ServiceSchedulerInitiated',
    stoppedReason: 'Scaling activity initiated by (deployment ecs-svc/1234567890123456789)',
  };
}

function makeProtection(taskArn: string, state: TaskState, { random, takenAt }: Surroundings) {
  const hours = state === 'leaving' ? random.between(1, 22) : random.between(30, 47);
  const isProtected = state === 'busy' || state === 'idle' || state === 'leaving';
  if (!isProtected) return { taskArn, protectionEnabled: false };
  return { taskArn, protectionEnabled: true, expirationDate: iso(takenAt + hours * HOUR) };
}

function runningJob(pool: FleetPool, workerId: string, { random, takenAt, organizationId }: Surroundings) {
  const startedAt = takenAt - random.between(SECOND, 20 * MINUTE);
  const times = { createdAt: startedAt - random.between(SECOND, 5 * MINUTE), startedAt };
  return makeJob({ ...pool, organizationId: organizationId(pool.organization), workerId, ...times }, random);
}

function previousJob(pool: FleetPool, workerId: string, { random, takenAt, organizationId }: Surroundings) {
  const completedAt = takenAt - random.between(20 * MINUTE * random.next(), 20 * MINUTE);
  const times = { createdAt: completedAt - 10 * MINUTE, startedAt: completedAt - 5 * MINUTE, completedAt };
  return makeJob({ ...pool, organizationId: organizationId(pool.organization), workerId, ...times }, random);
}

type DaemonFacts = {
  readonly pool: FleetPool;
  readonly id: string;
  readonly name: string;
  readonly state: TaskState;
  readonly running: FleetJob | undefined;
  readonly previous: FleetJob | undefined;
};

function makeDaemon(facts: DaemonFacts, { random, takenAt, organizationId }: Surroundings) {
  const { pool, id, name, state, running, previous } = facts;
  const isOffline = state === 'left';
  return {
    id,
    organization_id: organizationId(pool.organization),
    key_id: random.uuid(),
    created_at: iso(takenAt - 10 * HOUR),
    last_seen_at: iso(takenAt - (isOffline ? 10 * MINUTE : random.between(0, 60 * SECOND))),
    name,
    version: 'v2.30.0',
    api_version: '1.14',
    provisioners: ['terraform'],
    tags: normalizeTags(pool.tags),
    key_name: pool.name,
    status: isOffline ? 'offline' : running === undefined ? 'idle' : 'busy',
    current_job: refTo(running),
    previous_job: refTo(previous),
  };
}

function refTo(job: FleetJob | undefined) {
  if (job === undefined) return null;
  const { id, status, metadata } = job;
  const { template_name, template_icon, template_display_name } = metadata;
  return { id, status, template_name, template_icon, template_display_name };
}

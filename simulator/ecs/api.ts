/**
 * The operations of the ECS API that the autoscaler's role may call, with their limits
 * (docs/internals/aws.md §1 and §2), and those that only a person may call. A read sees each entity
 * as it was up to the model's read lag ago.
 */

import { z } from 'zod';
import { lastPart } from '../../lambda/decision/model/brands.ts';
import { DEFINITIONS } from './definitions.ts';
import type { EcsModel } from './model.ts';
import { checkCount, type Operation, operation } from './operation.ts';
import { DEFAULT_MINUTES, MAX_MINUTES } from './protection.ts';
import { AwsError, type Caller, clusterNotFound, invalidParameter, throttled } from './requests/errors.ts';
import { pageOf } from './requests/paging.ts';
import type { BucketName } from './requests/throttle.ts';
import { TAGGING } from './tagging.ts';
import type { EcsTask, EcsTaskState } from './task.ts';
import { type TaskView, wireProtection, wireService, wireTask } from './wire.ts';

const inCluster = { cluster: z.string().optional() };
const paged = { maxResults: z.number().optional(), nextToken: z.string().optional() };

const OPERATIONS: Readonly<Record<string, Operation>> = {
  ListServices: inThisCluster('service-read', z.object({ ...inCluster, ...paged }), listServices),
  DescribeServices: inThisCluster(
    'service-read',
    z.object({ ...inCluster, services: z.array(z.string()), include: z.array(z.string()).optional() }),
    describeServices,
  ),
  ListTasks: inThisCluster(
    'cluster-resource-read',
    z.object({
      ...inCluster,
      ...paged,
      serviceName: z.string().optional(),
      family: z.string().optional(),
      startedBy: z.string().optional(),
      desiredStatus: z.string().optional(),
    }),
    listTasks,
  ),
  DescribeTasks: inThisCluster(
    'cluster-resource-read',
    z.object({ ...inCluster, tasks: z.array(z.string()) }),
    describeTasks,
  ),
  GetTaskProtection: inThisCluster(
    'task-protection',
    z.object({ ...inCluster, tasks: z.array(z.string()).optional() }),
    getTaskProtection,
  ),
  UpdateTaskProtection: inThisCluster(
    'task-protection',
    z.object({
      ...inCluster,
      tasks: z.array(z.string()),
      protectionEnabled: z.boolean(),
      expiresInMinutes: z.number().optional(),
    }),
    updateTaskProtection,
  ),
  UpdateService: inThisCluster(
    'service-modify',
    z.looseObject({ ...inCluster, service: z.string(), desiredCount: z.number().optional() }),
    updateService,
  ),
};

/** The operations that only a person may call. */
const OPERATIONS_OF_PEOPLE: Readonly<Record<string, Operation>> = {
  ...OPERATIONS,
  ...TAGGING,
  ...DEFINITIONS,
};

/** Calls one operation by its name. */
export function callEcs(model: EcsModel, name: string, body: unknown, caller: Caller = 'autoscaler'): object {
  const allowed = caller === 'person' ? OPERATIONS_OF_PEOPLE : OPERATIONS;
  const run = Object.hasOwn(allowed, name) ? allowed[name] : undefined;
  if (run === undefined)
    throw new AwsError(
      'AccessDeniedException',
      `User: arn:aws:sts::123456789012:assumed-role/${caller}/session is not authorized to perform: ecs:${name} because no identity-based policy allows the ecs:${name} action`,
    );
  if (model.throttles(name)) throw throttled();
  return run(model, body);
}

type InCluster = { readonly cluster?: string | undefined };

/** Checks the cluster first, as AWS does. */
function inThisCluster<T extends InCluster>(
  bucket: BucketName,
  schema: z.ZodType<T>,
  run: (model: EcsModel, request: T) => object,
): Operation {
  return operation(bucket, schema, (model, request) => {
    const { cluster = 'default' } = request;
    if (cluster !== model.clusterName && cluster !== model.clusterArn) throw clusterNotFound();
    return run(model, request);
  });
}

function listServices(model: EcsModel, request: z.infer<z.ZodObject<typeof paged>>) {
  const seen = model.services().filter((it) => model.seen(it.states)?.status === 'ACTIVE');
  const { items, ...next } = pageOf(
    seen.map((it) => it.identity.arn),
    request,
    { fallback: 10 },
  );
  return { serviceArns: items, ...next };
}

function describeServices(
  model: EcsModel,
  request: { services: readonly string[]; include?: readonly string[] | undefined },
) {
  checkCount('Services', request.services, 10);
  const byName = new Map(model.services().map((service) => [service.identity.name, service]));
  const tasks = Map.groupBy(tasksSeen(model), ({ task }) => task.identity.serviceName);
  const services: object[] = [];
  const failures: object[] = [];
  for (const named of request.services) {
    const service = byName.get(lastPart(named));
    const state = service && model.seen(service.states);
    if (service === undefined || state === undefined) {
      failures.push(missing(fullArn(model, 'service', named)));
      continue;
    }
    services.push(
      wireService(model.clusterArn, service, {
        state,
        tasks: tasks.get(service.identity.name) ?? [],
        withTags: request.include?.includes('TAGS') ?? false,
      }),
    );
  }
  return { services, failures };
}

type ListTasksRequest = z.infer<z.ZodObject<typeof paged>> & {
  readonly serviceName?: string | undefined;
  readonly family?: string | undefined;
  readonly startedBy?: string | undefined;
  readonly desiredStatus?: string | undefined;
};

function listTasks(model: EcsModel, request: ListTasksRequest) {
  const { serviceName, family, startedBy, desiredStatus = 'RUNNING' } = request;
  const service = serviceName === undefined ? undefined : model.service(lastPart(serviceName)).identity.name;
  if (!['RUNNING', 'PENDING', 'STOPPED'].includes(desiredStatus))
    throw invalidParameter('desiredStatus must be one of RUNNING, PENDING, STOPPED.');
  if (startedBy !== undefined && (serviceName ?? family) !== undefined)
    throw invalidParameter('startedBy must be the only filter.');
  const isWanted = ({ identity }: EcsTask, state: EcsTaskState): boolean =>
    state.desiredStatus === desiredStatus &&
    (service ?? identity.serviceName) === identity.serviceName &&
    (family ?? identity.definition.family) === identity.definition.family &&
    (startedBy ?? identity.startedBy) === identity.startedBy;
  const arns: string[] = [];
  for (const task of model.tasks()) {
    const state = model.seen(task.states);
    if (state !== undefined && isWanted(task, state)) arns.push(task.identity.arn);
  }
  const { items, ...next } = pageOf(arns, request, { fallback: 100 });
  return { taskArns: items, ...next };
}

function describeTasks(model: EcsModel, request: { readonly tasks: readonly string[] }) {
  checkCount('Tasks', request.tasks, 100);
  const found = request.tasks.map((named) => {
    const task = model.findTask(named);
    const state = task && model.seen(task.states);
    if (task === undefined || state === undefined) return { failure: missing(fullArn(model, 'task', named)) };
    return { task: wireTask(model.clusterArn, task, state) };
  });
  return {
    tasks: found.flatMap(({ task }) => task ?? []),
    failures: found.flatMap(({ failure }) => failure ?? []),
  };
}

function getTaskProtection(model: EcsModel, request: { readonly tasks?: readonly string[] | undefined }) {
  const { tasks = [] } = request;
  checkCount('Tasks', tasks, 100);
  return protectionAnswer(model, tasks, (task) => {
    const seen = model.seen(task.states);
    if (seen === undefined || seen.lastStatus === 'STOPPED') return 'MISSING';
    return task.identity.serviceName === undefined ? 'TASK_NOT_VALID' : undefined;
  });
}

function updateTaskProtection(
  model: EcsModel,
  request: {
    readonly tasks: readonly string[];
    readonly protectionEnabled: boolean;
    readonly expiresInMinutes?: number | undefined;
  },
) {
  const { tasks, protectionEnabled, expiresInMinutes = DEFAULT_MINUTES } = request;
  checkCount('Tasks', tasks, 10);
  if (!Number.isInteger(expiresInMinutes) || expiresInMinutes < 1 || expiresInMinutes > MAX_MINUTES)
    throw invalidParameter(`expiresInMinutes must be between 1 and ${MAX_MINUTES}.`);
  if (tasks.some((named) => model.refusingTasks.has(lastPart(named))))
    throw invalidParameter('The request contains a task that can not be protected.');
  return protectionAnswer(
    model,
    tasks,
    ({ identity: { id } }) => (protectionEnabled ? model.protect(id, expiresInMinutes) : model.unprotect(id)),
    'now',
  );
}

const DETAILS: Readonly<Record<string, string>> = {
  DEPLOYMENT_BLOCKED:
    "Can't set task protection as one or more protected tasks are preventing the service deployment from reaching a steady state.",
  TASK_NOT_VALID: 'The specified task is not part of an Amazon ECS service.',
};

/**
 * The answer of a protection operation. A write returns the current state, a read the lagging one.
 */
function protectionAnswer(
  model: EcsModel,
  tasks: readonly string[],
  refuse: (task: EcsTask) => string | undefined,
  view: 'now' | 'lagging' = 'lagging',
) {
  const protectedTasks: object[] = [];
  const failures: object[] = [];
  for (const named of tasks) {
    const task = model.findTask(named);
    const reason = task === undefined ? 'MISSING' : refuse(task);
    const protection = task && (view === 'now' ? task.protections.latest : model.seen(task.protections));
    if (task !== undefined && reason === undefined && protection !== undefined)
      protectedTasks.push(wireProtection(task, protection));
    else {
      const arn = fullArn(model, 'task', named);
      failures.push({ arn, reason: reason ?? 'MISSING', detail: DETAILS[reason ?? 'MISSING'] });
    }
  }
  return { protectedTasks, failures };
}

const UPDATABLE = new Set(['cluster', 'service', 'desiredCount']);

function updateService(
  model: EcsModel,
  request: { readonly service: string; readonly desiredCount?: number | undefined },
) {
  const { desiredCount } = request;
  const other = Object.keys(request).find((field) => !UPDATABLE.has(field));
  if (other !== undefined)
    throw new AwsError(
      'AccessDeniedException',
      `updating ${other}: this world only has desiredCount updated`,
    );
  const service = model.activeService(lastPart(request.service));
  if (desiredCount !== undefined) {
    if (!Number.isInteger(desiredCount) || desiredCount < 0)
      throw invalidParameter('desiredCount cannot be negative.');
    model.setDesiredCount(service.identity.name, desiredCount);
  }
  const tasks = tasksSeen(model).filter(({ task }) => task.identity.serviceName === service.identity.name);
  return { service: wireService(model.clusterArn, service, { state: service.state, tasks }) };
}

function tasksSeen(model: EcsModel): readonly TaskView[] {
  return model.tasks().flatMap((task) => {
    const state = model.seen(task.states);
    return state === undefined ? [] : { task, state };
  });
}

const missing = (arn: string) => ({ arn, reason: 'MISSING' });

function fullArn(model: EcsModel, kind: 'service' | 'task', named: string): string {
  const prefix = model.clusterArn.replace(':cluster/', `:${kind}/`);
  return named.startsWith('arn:') ? named : `${prefix}/${named}`;
}

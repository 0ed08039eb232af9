/**
 * What the autoscaler's role may call of ECS, with its limits (docs/internals/aws.md §1 and §2), and what only a
 * person may call. A read sees each entity as it was up to the model's read lag ago.
 */
import { z } from 'zod';
import { lastPart } from '../../../lambda/decision/model/brands.ts';
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import { AwsError, type AwsService, EVERYBODY, invalidParameter, pageOf } from '../base/aws-service.ts';
import type { EcsModel } from './model.ts';
import { checkCount, clusterNotFound, type EcsOperation, operation, throttled } from './operation.ts';
import { DESCRIPTIONS, TAGGING } from './people.ts';
import { DEFAULT_MINUTES, MAX_MINUTES } from './protection.ts';
import { type EcsTask, type EcsTaskState, expiryOf } from './task.ts';
import type { BucketName } from './throttle.ts';
import { type TaskView, wireProtection, wireService, wireTags, wireTask } from './wire.ts';

const cluster = z.string().optional();
const names = z.array(z.string());
const paged = { cluster, maxResults: z.number().optional(), nextToken: z.string().optional() };

const listServicesRequest = z.object(paged);
const describeServicesRequest = z.object({ cluster, services: names, include: names.optional() });
const listTasksRequest = z.object({
  ...paged,
  serviceName: z.string().optional(),
  desiredStatus: z.string().default('RUNNING'),
});
const describeTasksRequest = z.object({ cluster, tasks: names, include: names.optional() });
const getTaskProtectionRequest = z.object({ cluster, tasks: names.default([]) });
const updateTaskProtectionRequest = z.object({
  cluster,
  tasks: names,
  protectionEnabled: z.boolean(),
  expiresInMinutes: z.number().default(DEFAULT_MINUTES),
});
// biome-ignore lint/plugin: to refuse fields that this world does not know; they are AWS's words
const updateServiceRequest = z.looseObject({
  cluster,
  service: z.string(),
  desiredCount: z.number().optional(),
  forceNewDeployment: z.boolean().optional(),
});

export const ECS: AwsService<EcsModel> = {
  service: 'ecs',
  operations: {
    ListServices: inThisCluster('service-read', listServicesRequest, listServices),
    DescribeServices: inThisCluster('service-read', describeServicesRequest, describeServices),
    ListTasks: inThisCluster('cluster-resource-read', listTasksRequest, listTasks),
    DescribeTasks: inThisCluster('cluster-resource-read', describeTasksRequest, describeTasks),
    GetTaskProtection: inThisCluster('task-protection', getTaskProtectionRequest, getTaskProtection),
    UpdateTaskProtection: inThisCluster('task-protection', updateTaskProtectionRequest, updateTaskProtection),
    UpdateService: inThisCluster('service-modify', updateServiceRequest, updateService),
    ...TAGGING,
    ...DESCRIPTIONS,
  },
  refuse: (model, { name }) => {
    if (model.throttles(name)) throw throttled();
    if (model.failing.has(name))
      throw new AwsError('ServerException', 'Service Unavailable. Please try again later.');
  },
  endless: { token: 'nextToken', of: (model, name) => model.endlessLists.get(name) },
};

/** Checks the cluster first, as AWS does. */
function inThisCluster<T extends z.ZodType<{ readonly cluster?: string | undefined }>>(
  bucket: BucketName,
  schema: T,
  run: (model: EcsModel, request: z.output<T>) => object,
): EcsOperation {
  return operation({ bucket, callers: EVERYBODY, schema }, (model, request) => {
    const { cluster = 'default' } = request;
    if (cluster !== model.clusterName && cluster !== model.clusterArn) throw clusterNotFound();
    return run(model, request);
  });
}

function listServices(model: EcsModel, request: z.output<typeof listServicesRequest>) {
  const seen = model
    .services()
    .filter((it) => model.seen(it.states)?.status === 'ACTIVE' && !model.unlisted.has(it.identity.name));
  const { items, ...next } = pageOf(
    seen.map((it) => it.identity.arn),
    request,
    { fallback: 10 },
  );
  return { serviceArns: items, ...next };
}

function describeServices(model: EcsModel, request: z.output<typeof describeServicesRequest>) {
  checkCount('Services', request.services, 10);
  const short = request.services.find((named) => /:service\/[^/]+$/.test(named));
  if (short !== undefined)
    throw new AwsError(
      'AccessDeniedException',
      `not authorized to perform: ecs:DescribeServices on resource: ${short}`,
    );
  const byName = new Map(model.services().map((service) => [service.identity.name, service]));
  const tasks = Map.groupBy(tasksSeen(model), ({ task }) => task.identity.serviceName);
  const services: object[] = [];
  const failures: object[] = [];
  for (const named of request.services) {
    const service = byName.get(lastPart(named));
    const state = service && model.seen(service.states);
    if (service === undefined || state === undefined || model.unlisted.has(service.identity.name)) {
      failures.push(missing(fullArn(model, 'service', named)));
      continue;
    }
    const row = wireService(model.clusterArn, service, {
      state,
      tasks: tasks.get(service.identity.name) ?? [],
      withTags: request.include?.includes('TAGS') ?? false,
    });
    services.push(model.unreadable.has(service.identity.name) ? { ...row, desiredCount: undefined } : row);
  }
  return { services, failures };
}

function listTasks(model: EcsModel, request: z.output<typeof listTasksRequest>) {
  const { serviceName, desiredStatus } = request;
  const service = serviceName === undefined ? undefined : model.service(lastPart(serviceName)).identity.name;
  if (!['RUNNING', 'PENDING', 'STOPPED'].includes(desiredStatus))
    throw invalidParameter('desiredStatus must be one of RUNNING, PENDING, STOPPED.');
  const isWanted = ({ identity }: EcsTask, state: EcsTaskState): boolean =>
    state.desiredStatus === desiredStatus && (service ?? identity.serviceName) === identity.serviceName;
  const arns: string[] = [];
  for (const task of model.tasks()) {
    const state = model.seen(task.states);
    if (model.forgotten.has(task.identity.id)) continue;
    if (state !== undefined && isWanted(task, state)) arns.push(task.identity.arn);
  }
  const { items, ...next } = pageOf(arns, request, { fallback: 100 });
  return { taskArns: items, ...next };
}

function describeTasks(model: EcsModel, request: z.output<typeof describeTasksRequest>) {
  checkCount('Tasks', request.tasks, 100);
  const withTags = request.include?.includes('TAGS') ?? false;
  if (withTags && model.refusesTagsOfTasks)
    throw new AwsError('AccessDeniedException', 'not authorized to perform: ecs:ListTagsForResource');
  const found = request.tasks.map((named) => {
    const task = model.knownTask(named);
    const state = task && model.seen(task.states);
    if (task === undefined || state === undefined) return { failure: missing(fullArn(model, 'task', named)) };
    const row = wireTask(model.clusterArn, task, state);
    const told = model.tellsPulls ? row : { ...row, pullStartedAt: undefined, pullStoppedAt: undefined };
    const shown = withTags ? { ...told, ...wireTags(task.identity) } : told;
    return { task: model.unreadable.has(task.identity.id) ? { ...shown, lastStatus: undefined } : shown };
  });
  return {
    tasks: found.flatMap(({ task }) => task ?? []),
    failures: found.flatMap(({ failure }) => failure ?? []),
  };
}

function getTaskProtection(model: EcsModel, { tasks }: z.output<typeof getTaskProtectionRequest>) {
  checkCount('Tasks', tasks, 100);
  return protectionAnswer(model, tasks, (task) => {
    if (model.wrong === 'protection-reads') return 'TASK_NOT_VALID';
    const seen = model.seen(task.states);
    return seen === undefined || seen.lastStatus === 'STOPPED' ? 'MISSING' : undefined;
  });
}

function updateTaskProtection(model: EcsModel, request: z.output<typeof updateTaskProtectionRequest>) {
  const { tasks, protectionEnabled, expiresInMinutes } = request;
  checkCount('Tasks', tasks, 10);
  if (!Number.isInteger(expiresInMinutes) || expiresInMinutes < 1 || expiresInMinutes > MAX_MINUTES)
    throw invalidParameter(`expiresInMinutes must be between 1 and ${MAX_MINUTES}.`);
  if (tasks.some((named) => model.refusingTasks.has(lastPart(named))))
    throw invalidParameter('The request contains a task that can not be protected.');
  const { protectedTasks, failures } = protectionAnswer(
    model,
    tasks,
    ({ identity: { id } }) => (protectionEnabled ? model.protect(id, expiresInMinutes) : model.unprotect(id)),
    'now',
  );
  const expirationDate = new Date(expiryOf(model.now(), expiresInMinutes));
  const isWrong = model.wrong === 'end-answer';
  return {
    protectedTasks: isWrong ? protectedTasks.map((row) => ({ ...row, expirationDate })) : protectedTasks,
    failures,
  };
}

const DETAILS: Readonly<Record<string, string>> = {
  DEPLOYMENT_BLOCKED:
    "Can't set task protection as one or more protected tasks are preventing the service deployment from reaching a steady state.",
  TASK_NOT_VALID: 'The specified task is not part of an Amazon ECS service.',
};

/** The answer of a protection operation. A write returns the current state, a read the lagging one. */
function protectionAnswer(
  model: EcsModel,
  tasks: readonly string[],
  refuse: (task: EcsTask) => string | undefined,
  view: 'now' | 'lagging' = 'lagging',
) {
  const protectedTasks: object[] = [];
  const failures: object[] = [];
  for (const named of tasks) {
    const task = model.knownTask(named);
    const reason = task === undefined ? 'MISSING' : refuse(task);
    const protection = task && (view === 'now' ? task.protections.latest : model.seen(task.protections));
    if (task !== undefined && reason === undefined && protection !== undefined) {
      const row = wireProtection(task, protection);
      const isBroken = view === 'lagging' && model.unreadable.has(task.identity.id);
      protectedTasks.push(isBroken ? { ...row, protectionEnabled: undefined } : row);
    } else {
      const arn = fullArn(model, 'task', named);
      failures.push({ arn, reason: reason ?? 'MISSING', detail: ownValue(DETAILS, reason ?? 'MISSING') });
    }
  }
  return { protectedTasks, failures };
}

const UPDATABLE = new Set(['cluster', 'service', 'desiredCount', 'forceNewDeployment']);

function updateService(model: EcsModel, request: z.output<typeof updateServiceRequest>) {
  const { desiredCount } = request;
  const other = Object.keys(request).find((field) => !UPDATABLE.has(field));
  if (other !== undefined)
    throw new AwsError(
      'AccessDeniedException',
      `updating ${other}: this world has only desiredCount updated, and deployments forced`,
    );
  const service = model.activeService(lastPart(request.service));
  if (desiredCount !== undefined) {
    if (!Number.isInteger(desiredCount) || desiredCount < 0)
      throw invalidParameter('desiredCount cannot be negative.');
    model.setDesiredCount(service.identity.name, desiredCount);
  }
  if (request.forceNewDeployment) model.deploy(service.identity.name, service.state.primary.definition);
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

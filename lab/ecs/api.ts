/**
 * The operations of the ECS API that the autoscaler's role may call, with their limits (aws-facts §§1-2): a request's body in,
 * an answer's body out, or an AwsError. Reads see each entity as it was up to the model's read lag ago.
 */
import { z } from 'zod';
import { AwsError, clusterNotFound, invalidParameter, throttled } from './errors.ts';
import type { EcsModel } from './model.ts';
import { pageOf } from './paging.ts';
import { DEFAULT_MINUTES, MAX_MINUTES } from './protection.ts';
import type { EcsTask } from './task.ts';
import type { BucketName } from './throttle.ts';
import { type TaskSight, wireProtection, wireService, wireTags, wireTask } from './wire.ts';

const inCluster = { cluster: z.string().optional() };
const paged = { maxResults: z.number().optional(), nextToken: z.string().optional() };

const OPERATIONS = {
  ListServices: operation('service-read', z.object({ ...inCluster, ...paged }), listServices),
  DescribeServices: operation(
    'service-read',
    z.object({ ...inCluster, services: z.array(z.string()), include: z.array(z.string()).optional() }),
    describeServices,
  ),
  ListTasks: operation(
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
  DescribeTasks: operation(
    'cluster-resource-read',
    z.object({ ...inCluster, tasks: z.array(z.string()) }),
    describeTasks,
  ),
  GetTaskProtection: operation(
    'task-protection',
    z.object({ ...inCluster, tasks: z.array(z.string()).optional() }),
    getTaskProtection,
  ),
  UpdateTaskProtection: operation(
    'task-protection',
    z.object({
      ...inCluster,
      tasks: z.array(z.string()),
      protectionEnabled: z.boolean(),
      expiresInMinutes: z.number().optional(),
    }),
    updateTaskProtection,
  ),
  UpdateService: operation(
    'service-modify',
    z.looseObject({ ...inCluster, service: z.string(), desiredCount: z.number().optional() }),
    updateService,
  ),
} satisfies Record<string, Operation>;

/** Calls one operation by its name, as the task role or the autoscaler would. */
export function callEcs(model: EcsModel, name: string, body: unknown): object {
  if (!isOperation(name))
    throw new AwsError(
      'AccessDeniedException',
      `User: arn:aws:sts::123456789012:assumed-role/autoscaler/lambda is not authorized to perform: ecs:${name} because no identity-based policy allows the ecs:${name} action`,
    );
  return OPERATIONS[name](model, body);
}

type Operation = (model: EcsModel, body: unknown) => object;
type InCluster = { readonly cluster?: string | undefined };

function isOperation(name: string): name is keyof typeof OPERATIONS {
  return Object.hasOwn(OPERATIONS, name);
}

/** Throttle first, then the shape, then the cluster, as AWS does. */
function operation<T extends InCluster>(
  bucket: BucketName,
  schema: z.ZodType<T>,
  run: (model: EcsModel, request: T) => object,
): Operation {
  return (model, body) => {
    if (!model.admits(bucket)) throw throttled();
    const request = schema.safeParse(body);
    if (!request.success) throw new AwsError('SerializationException', z.prettifyError(request.error));
    const { cluster = 'default' } = request.data;
    if (cluster !== model.clusterName && cluster !== model.clusterArn) throw clusterNotFound();
    return run(model, request.data);
  };
}

function listServices(model: EcsModel, request: z.infer<z.ZodObject<typeof paged>>) {
  const seen = model.services().filter((it) => it.states.at(model.readTime())?.status === 'ACTIVE');
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
    const state = service?.states.at(model.readTime());
    if (service === undefined || state === undefined) {
      failures.push(missing(fullArn(model, 'service', named)));
      continue;
    }
    const wire = wireService(model.clusterArn, service, state, tasks.get(service.identity.name) ?? []);
    const tags = request.include?.includes('TAGS') ? { tags: wireTags(service.identity.tags) } : {};
    services.push({ ...wire, ...tags });
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
  const wanted = ({ task: { identity }, state }: TaskSight): boolean =>
    state.desiredStatus === desiredStatus &&
    (service ?? identity.serviceName) === identity.serviceName &&
    (family ?? identity.definition.family) === identity.definition.family &&
    (startedBy ?? identity.startedBy) === identity.startedBy;
  const arns = tasksSeen(model)
    .filter(wanted)
    .map(({ task }) => task.identity.arn);
  const { items, ...next } = pageOf(arns, request, { fallback: 100 });
  return { taskArns: items, ...next };
}

function describeTasks(model: EcsModel, request: { readonly tasks: readonly string[] }) {
  checkCount('Tasks', request.tasks, 100);
  const found = request.tasks.map((named) => {
    const task = model.findTask(named);
    const state = task?.states.at(model.readTime());
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
    const seen = task.states.at(model.readTime());
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

/** A write answers what is now, a read what it sees. */
function protectionAnswer(
  model: EcsModel,
  tasks: readonly string[],
  refuse: (task: EcsTask) => string | undefined,
  sight: 'now' | 'lagging' = 'lagging',
) {
  const protectedTasks: object[] = [];
  const failures: object[] = [];
  for (const named of tasks) {
    const task = model.findTask(named);
    const reason = task === undefined ? 'MISSING' : refuse(task);
    const time = sight === 'now' ? model.now() : model.readTime();
    const protection = task?.protections.at(time);
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
  return { service: wireService(model.clusterArn, service, service.state, tasks) };
}

function tasksSeen(model: EcsModel): readonly TaskSight[] {
  return model.tasks().flatMap((task) => {
    const state = task.states.at(model.readTime());
    return state === undefined ? [] : { task, state };
  });
}

function checkCount(what: string, names: readonly string[], most: number): void {
  if (names.length === 0) throw invalidParameter(`${what} cannot be empty.`);
  if (names.length > most) throw invalidParameter(`${what} can have at most ${most} items.`);
}

const lastPart = (named: string): string => named.slice(named.lastIndexOf('/') + 1);
const missing = (arn: string) => ({ arn, reason: 'MISSING' });

function fullArn(model: EcsModel, kind: 'service' | 'task', named: string): string {
  const prefix = model.clusterArn.replace(':cluster/', `:${kind}/`);
  return named.startsWith('arn:') ? named : `${prefix}/${named}`;
}

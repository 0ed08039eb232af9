/**
 * The adapter for one ECS cluster: it reads services, tasks and protections, and has the only two
 * writes. One adapter serves all looks of a process, and lists services rarely: DescribeServices tells
 * their state in each look.
 *
 * Calls run in parallel and stay within AWS's bucket of 100 cluster reads, refilled with 20 a
 * second (docs/internals/aws.md §2). In a shared cluster tasks are listed by service, so other
 * services cost nothing. In a cluster of the stack's own, or for many services, lists of the whole
 * cluster take fewer calls, and show tasks of pools whose service no list has.
 */
import {
  DescribeServicesCommand,
  DescribeTasksCommand,
  type ECSClient,
  ECSServiceException,
  GetTaskProtectionCommand,
  ListServicesCommand,
  ListTasksCommand,
  type TaskField,
  UpdateServiceCommand,
  UpdateTaskProtectionCommand,
} from '@aws-sdk/client-ecs';
import * as z from 'zod';
import type { EpochMs, ServiceArn, TaskArn } from '../../decision/model/brands.ts';
import { batchesOf, partition } from '../../decision/model/collections.ts';
import { isForeign, isOwn, POOL_TAG, tagOf } from '../../decision/model/service-tags.ts';
import type { Protection, Reading, Service, Task } from '../../decision/model/snapshot.ts';
import { MANY_SERVICES, MINUTE_MS, SERVICES_A_CALL, TASKS_A_CALL } from '../../decision/model/units.ts';
import { placementEvents } from '../../decision/supply/placement.ts';
import type { Ecs, NamedService, Refusal } from '../../look/ports.ts';
import { ECS_READINGS } from '../../look/reading-names.ts';
import { describeAwsError, THROTTLES } from '../shared/aws-calls.ts';
import { readPages } from '../shared/pages.ts';
import { joinRows, type Rows, readingOfRows } from '../shared/rows.ts';
import { describeSchemaMismatch } from '../shared/schema-mismatch.ts';
import { NO_POOL, protectionRows, serviceRows, taskRows } from './schemas.ts';

/** The group of a task begins with it, and ends with the name of the service. */
const SERVICE = 'service:';
const PAGE = 100;
/** The most stopped tasks to read from a list: a crash loop leaves thousands an hour. */
const STOPPED_READ = 300;
/** How long the list of services is kept: longer if nothing shows that it lacks one. */
const SERVICES_KEPT_MS = { whole: 10 * MINUTE_MS, lacking: MINUTE_MS } as const;
const STOPPED_KEPT_MS = MINUTE_MS;
/** Of the tasks of a whole cluster: 30,000 tasks. A look has no time for more. */
const MOST_PAGES_OF_CLUSTER = 300;
/** 23 h, the drain request (docs/internals/architecture.md, "The lease"): longer than any build. */
const ASK_MINUTES = 1380;
/** Of a task without a guard, renewed while it may have a job. A spare task stays for so long at most. */
const PROTECT_MINUTES = 30;

/** ECS tags no service with an ARN of the old format, and no policy of ours has one (docs/internals/aws.md §2). */
const LONG_ARN = /:service\/[^/]+\/[^/]+$/;

type Scope = { readonly serviceName?: string };
type Listed = Pick<Rows<string>, 'items' | 'incomplete'>;
type Signal = AbortSignal | undefined;
type DesiredStatus = 'RUNNING' | 'STOPPED';

type StoppedTasks = {
  readonly arns: readonly string[];
  readonly at: number;
  readonly services: string;
  /** Tasks that ran in the last look, and those that are gone and that no list of stopped ones has shown yet. */
  readonly seen: ReadonlySet<string>;
};

type EcsOptions = {
  /** The stack of this deployment. @default unknown: every service with a pool tag may belong to it */
  readonly stack?: string | undefined;
  /** Whether the stack made the cluster, so that hardly anything else runs in it. @default false */
  readonly ownsCluster?: boolean | undefined;
  /** Parses answers of ECS. @default with the schema alone */
  readonly parse?: Parse;
};

type Parse = <T extends z.ZodType>(schema: T, value: unknown) => z.ZodSafeParseResult<z.output<T>>;

export class EcsError extends Error {
  override readonly name = 'EcsError';
}

export class EcsAdapter implements Ecs {
  readonly cluster: string;
  readonly stack: string | undefined;
  readonly ownsCluster: boolean;
  readonly #client: ECSClient;
  /** AWS's time, from the latest DescribeServices answer. */
  #answeredAt: EpochMs | undefined;
  readonly #parseWith: Parse;
  #arns: Promise<Listed> | undefined;
  #listedAt = Number.NEGATIVE_INFINITY;
  #keptMs: number = SERVICES_KEPT_MS.lacking;
  /** The groups of listed services that are no pool's. */
  readonly #others = new Set<string>();
  /** By the function's clock. Undefined: not in a look. */
  #lookedAt: EpochMs | undefined;
  #stopped: StoppedTasks | undefined;

  constructor(client: ECSClient, cluster: string, options: EcsOptions = {}) {
    this.#client = client;
    this.cluster = cluster;
    this.stack = options.stack;
    this.ownsCluster = options.ownsCluster ?? false;
    this.#parseWith = options.parse ?? ((schema, value) => schema.safeParse(value));
  }

  async services(
    signal?: AbortSignal,
    now?: EpochMs,
    pools: readonly string[] = [],
  ): Promise<Reading<Service>> {
    this.#lookedAt = now;
    this.#answeredAt = undefined;
    const services = await this.#readServices(pools, signal);
    return this.#answeredAt === undefined ? services : { ...services, takenAt: this.#answeredAt };
  }

  #readServices(pools: readonly string[], signal: Signal): Promise<Reading<Service>> {
    return reading(ECS_READINGS.services(this), async () => {
      const { items: arns, incomplete } = await this.#listServices(signal);
      const parts = await Promise.all(
        batchesOf(arns, SERVICES_A_CALL).map((batch) => this.#describeServices(batch, signal)),
      );
      // a late reading must not replace what a later look has seen
      signal?.throwIfAborted();
      const rows = joinRows(parts);
      const leftOut = rows.leftOut.filter(({ of }) => of !== NO_POOL);
      const [tagged, others] = partition(rows.items, (service) => tagOf(service, POOL_TAG) !== undefined);
      for (const { serviceName } of others) this.#others.add(SERVICE + serviceName);
      const active = tagged.filter(
        (service) => service.status === 'ACTIVE' && !isForeign(service, this.stack),
      );
      const served = new Set(active.map((service) => tagOf(service, POOL_TAG)));
      const isWhole = incomplete === undefined && pools.every((pool) => served.has(pool));
      this.#keptMs = SERVICES_KEPT_MS[isWhole ? 'whole' : 'lacking'];
      // later looks describe only services of pools
      if (leftOut.length === 0)
        this.#arns = Promise.resolve({ items: tagged.map(({ serviceArn }) => serviceArn), incomplete });
      return { items: tagged, leftOut, incomplete };
    });
  }

  tasks(services: readonly NamedService[], signal?: AbortSignal): Promise<Reading<Task>> {
    return reading(ECS_READINGS.tasks(this), async () => {
      const names = services.map(({ serviceName }) => serviceName);
      const { items: arns, incomplete } = await this.#listTasksOf(names, signal);
      const parts = await Promise.all(
        batchesOf(arns, TASKS_A_CALL).map((batch) => this.#describeTasks(batch, signal)),
      );
      const groups = new Set(names.map((name) => SERVICE + name));
      const { items, leftOut } = joinRows(parts);
      const [own, others] = partition(items, ({ group = '' }) => groups.has(group));
      return {
        items: [...own, ...(await this.#ofUnlistedPools(others, signal))],
        leftOut: leftOut.filter(({ of }) => of === undefined || groups.has(of)),
        incomplete,
      };
    });
  }

  /**
   * Of tasks in other groups: those of this stack's pools whose service no list has. Only tags tell whose they are.
   * If ECS does not give them, there are none: such tasks only count against limits.
   */
  async #ofUnlistedPools(tasks: readonly Task[], signal: Signal): Promise<readonly Task[]> {
    const unexplained = tasks.filter(
      ({ group = '', desiredStatus }) =>
        group.startsWith(SERVICE) && !this.#others.has(group) && desiredStatus === 'RUNNING',
    );
    if (unexplained.length > 0) this.#keptMs = SERVICES_KEPT_MS.lacking;
    try {
      const parts = await Promise.all(
        batchesOf(unexplained, TASKS_A_CALL).map((batch) =>
          this.#describeTasks(
            batch.map(({ taskArn }) => taskArn),
            signal,
            ['TAGS'],
          ),
        ),
      );
      return joinRows(parts).items.filter(({ tags = [] }) => isOwn({ tags }, this.stack));
    } catch {
      return [];
    }
  }

  protections(tasks: readonly TaskArn[], signal?: AbortSignal): Promise<Reading<Protection>> {
    return reading(ECS_READINGS.protections(this), async () => {
      const parts = await Promise.all(
        batchesOf(tasks, TASKS_A_CALL).map((batch) => this.#readProtections(batch, signal)),
      );
      return joinRows(parts);
    });
  }

  async setDesired(service: ServiceArn, count: number): Promise<void> {
    const command = new UpdateServiceCommand({ cluster: this.cluster, service, desiredCount: count });
    await writing(() => this.#client.send(command));
  }

  requestDrain(tasks: readonly TaskArn[]): Promise<readonly Refusal[]> {
    return writing(() => this.#protectFor(tasks, ASK_MINUTES));
  }

  protect(tasks: readonly TaskArn[]): Promise<readonly Refusal[]> {
    return writing(() => this.#protectFor(tasks, PROTECT_MINUTES));
  }

  /** ECS may refuse a whole call because of one task. Then each task gets its own call. */
  async #protectFor(tasks: readonly TaskArn[], minutes: number): Promise<readonly Refusal[]> {
    try {
      return await this.#protectTogether(tasks, minutes);
    } catch (cause) {
      if (tasks.length < 2 || !isRefusal(cause)) throw cause;
      const refusals = await Promise.all(tasks.map((task) => this.#protectOne(task, minutes)));
      if (refusals.every((refused) => refused.length > 0)) throw cause;
      return refusals.flat();
    }
  }

  async #protectOne(task: TaskArn, minutes: number): Promise<readonly Refusal[]> {
    try {
      return await this.#protectTogether([task], minutes);
    } catch (cause) {
      const { name: reason, message: detail } = cause instanceof Error ? cause : new Error(String(cause));
      return [{ task, reason, detail }];
    }
  }

  async #protectTogether(tasks: readonly TaskArn[], minutes: number): Promise<readonly Refusal[]> {
    const { failures = [] } = await this.#client.send(
      new UpdateTaskProtectionCommand({
        cluster: this.cluster,
        tasks: [...tasks],
        protectionEnabled: true,
        expiresInMinutes: minutes,
      }),
    );
    return failures.map(({ arn, reason, detail }) => ({
      task: (arn ?? 'unknown') as TaskArn,
      reason: reason ?? 'no reason',
      detail,
    }));
  }

  #listServices(signal: Signal): Promise<Listed> {
    const now = this.#lookedAt;
    if (now !== undefined && Math.abs(now - this.#listedAt) >= this.#keptMs) {
      this.#arns = undefined;
      this.#listedAt = now;
    }
    this.#arns ??= this.#listAllServices(signal).catch((cause) => {
      this.#arns = undefined;
      throw cause;
    });
    return this.#arns;
  }

  async #listAllServices(signal: Signal): Promise<Listed> {
    const { items, incomplete } = await readPages(
      'ListServices',
      async (nextToken) => {
        const command = new ListServicesCommand({ cluster: this.cluster, maxResults: PAGE, nextToken });
        const page = await this.#client.send(command, within(signal));
        return { items: page.serviceArns ?? [], next: page.nextToken };
      },
      { signal },
    );
    return { items: [...new Set(items)].filter((arn) => LONG_ARN.test(arn)), incomplete };
  }

  async #describeServices(services: readonly string[], signal: Signal): Promise<Rows<Service>> {
    const command = new DescribeServicesCommand({
      cluster: this.cluster,
      services: [...services],
      include: ['TAGS'],
    });
    command.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        this.#answeredAt = dateOf(result.response);
        return result;
      },
      { step: 'deserialize' },
    );
    const answer = await this.#client.send(command, within(signal));
    const { items, leftOut } = this.#parse('DescribeServices', serviceRows, answer.services);
    const withEvents = (service: Service) => ({ ...service, events: placementEvents(service.events ?? []) });
    const told = new Set([
      ...items.map(({ serviceArn }) => `${serviceArn}`),
      ...leftOut.map(({ row }) => row),
    ]);
    for (const { arn, reason } of answer.failures ?? []) if (arn && reason === 'MISSING') told.add(arn);
    const untold = services.filter((arn) => !told.has(arn));
    return {
      items: items.map(withEvents),
      leftOut: [...leftOut, ...untold.map((row) => ({ row, why: 'ECS listed it and did not describe it' }))],
    };
  }

  /** Stopped tasks are listed again after a minute, for other services, and until they have each task that is gone. */
  async #listTasksOf(names: readonly string[], signal: Signal): Promise<Listed> {
    const each = names.map((serviceName) => ({ serviceName }));
    const isShort = names.length > 0 && (this.ownsCluster || names.length > MANY_SERVICES);
    const running = await this.#listAll(isShort ? [{}] : each, 'RUNNING', signal);
    const [now, last, services] = [this.#lookedAt, this.#stopped, names.join()];
    const gone = last?.seen.difference(new Set([...running.items, ...last.arns])) ?? new Set();
    const isRecent = last !== undefined && now !== undefined && Math.abs(now - last.at) < STOPPED_KEPT_MS;
    const kept = isRecent && last.services === services && gone.size === 0 ? last : undefined;
    const { items: arns, incomplete }: Listed =
      kept === undefined ? await this.#listStopped(each, isShort, signal) : { items: kept.arns };
    // an incomplete list is read again
    const at = incomplete === undefined ? (kept?.at ?? now) : undefined;
    const seen = new Set([...running.items, ...gone]);
    this.#stopped = { arns, at: at ?? Number.NEGATIVE_INFINITY, services, seen };
    return {
      items: [...new Set([...running.items, ...arns])],
      incomplete: running.incomplete ?? incomplete,
    };
  }

  /** Of the whole cluster; by service if it has more than are read, so that no pool's tasks hide those of another. */
  async #listStopped(services: readonly Scope[], isShort: boolean, signal: Signal): Promise<Listed> {
    const all = isShort ? await this.#listTasks({}, 'STOPPED', signal) : undefined;
    const isWhole = all !== undefined && all.items.length < STOPPED_READ;
    return isWhole ? all : this.#listAll(services, 'STOPPED', signal);
  }

  async #listAll(scopes: readonly Scope[], desiredStatus: DesiredStatus, signal: Signal): Promise<Listed> {
    const lists = await Promise.all(scopes.map((scope) => this.#listTasks(scope, desiredStatus, signal)));
    return {
      items: lists.flatMap(({ items }) => items),
      incomplete: lists.find(({ incomplete }) => incomplete !== undefined)?.incomplete,
    };
  }

  /** Desired status RUNNING includes the tasks that are still starting (docs/internals/aws.md §2). */
  #listTasks(scope: Scope, desiredStatus: DesiredStatus, signal: Signal): Promise<Listed> {
    const { cluster } = this;
    return readPages(
      'ListTasks',
      async (nextToken) => {
        const command = new ListTasksCommand({
          cluster,
          ...scope,
          desiredStatus,
          maxResults: PAGE,
          nextToken,
        });
        const page = await this.#client.send(command, within(signal));
        return { items: page.taskArns ?? [], next: page.nextToken };
      },
      {
        signal,
        most: scope.serviceName === undefined ? MOST_PAGES_OF_CLUSTER : undefined,
        isEnough: ({ length }) => desiredStatus === 'STOPPED' && length >= STOPPED_READ,
      },
    );
  }

  async #describeTasks(tasks: readonly string[], signal: Signal, include?: TaskField[]): Promise<Rows<Task>> {
    const command = new DescribeTasksCommand({ cluster: this.cluster, tasks: [...tasks], include });
    const answer = await this.#client.send(command, within(signal));
    return this.#parse('DescribeTasks', taskRows, answer.tasks);
  }

  /** ECS returns tasks that have stopped since in `failures[]`. They have no protection to report. */
  async #readProtections(tasks: readonly TaskArn[], signal: Signal): Promise<Rows<Protection>> {
    const command = new GetTaskProtectionCommand({ cluster: this.cluster, tasks: [...tasks] });
    const answer = await this.#client.send(command, within(signal));
    return this.#parse('GetTaskProtection', protectionRows, answer.protectedTasks);
  }

  #parse<T extends z.ZodType>(operation: string, schema: T, value: unknown): z.output<T> {
    const result = this.#parseWith(schema, value);
    if (result.success) return result.data;
    throw new EcsError(
      `the answer of ${operation} has an unexpected format: ${describeSchemaMismatch(result.error, value)}`,
      { cause: result.error },
    );
  }
}

const within = (signal: Signal) => (signal === undefined ? {} : { abortSignal: signal });

/** The `Date` header of an HTTP answer. */
function dateOf(response: unknown): EpochMs | undefined {
  const { data } = answerSchema.safeParse(response);
  const date = Date.parse(data?.headers.date ?? '');
  return Number.isNaN(date) ? undefined : (date as EpochMs);
}

const answerSchema = z.object({ headers: z.object({ date: z.string() }) });

/** Whether ECS refused the call, so a call for fewer tasks may succeed. Throttling does not count. */
export function isRefusal(cause: unknown): cause is ECSServiceException {
  return cause instanceof ECSServiceException && !THROTTLES.has(cause.name);
}

/** Runs one reading. Does not throw: an error becomes the status and the error message. */
async function reading<T>(what: string, read: () => Promise<Rows<T>>): Promise<Reading<T>> {
  try {
    return readingOfRows(what, await read());
  } catch (cause) {
    const { reason, isForbidden } = describeAwsError(cause);
    return { status: isForbidden ? 'forbidden' : 'failed', error: `${what}: ${reason}`, items: [] };
  }
}

/** Runs one write. The message of its error begins with the code that AWS sent. */
async function writing<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw new EcsError(describeAwsError(cause).reason, { cause });
  }
}

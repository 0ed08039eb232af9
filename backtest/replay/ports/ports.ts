/**
 * The ports of a look on a simulated world, without HTTP or JSON. The lists of jobs and
 * daemons, which every look reads, come directly from the models, so a week takes seconds. Each
 * look has the same plan as over HTTP (test/backtest/ports.test.ts).
 */
import { CoderdAdapter } from '../../../lambda/adapters/coderd/coderd.ts';
import { type ReadingRequest, reading } from '../../../lambda/adapters/coderd/http/reading.ts';
import type { EpochMs, JobId, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { batchesOf } from '../../../lambda/decision/model/collections.ts';
import type { BuildInfo, Daemon, Job, Reading } from '../../../lambda/decision/model/snapshot.ts';
import type { Coderd, Organization, Ports } from '../../../lambda/look/ports.ts';
import type { StockLearner } from '../../../lambda/look/stock/stock-learner.ts';
import type { VirtualScheduler } from '../../../simulator/base/virtual-scheduler.ts';
import type { CoderdModel } from '../../../simulator/coderd/model.ts';
import { NoAnswer } from '../../../simulator/coderd/routes/in-process.ts';
import type { DaemonRecord } from '../../../simulator/coderd/tables/daemons.ts';
import { isOffline } from '../../../simulator/coderd/tables/daemons.ts';
import type { JobRecord } from '../../../simulator/coderd/tables/jobs.ts';
import { inProcessPorts } from '../../../simulator/in-process/ports.ts';
import type { World } from '../../../simulator/world.ts';
import { VirtualCoderd } from './coderd-http.ts';
import type { OnCall } from './on-call.ts';

export type PortsOptions = {
  readonly world: World;
  readonly scheduler: VirtualScheduler;
  readonly isCoderdDown: () => boolean;
  readonly onCall: OnCall;
  /** @default a new one */
  readonly stock?: StockLearner;
  readonly record?: Ports['record'];
};

/**
 * Returns a function that gives the ports of each invocation. They share the memory of a warm
 * function.
 */
export function virtualPorts({ world, scheduler, ...options }: PortsOptions): () => Ports {
  const { isCoderdDown, onCall, stock, record } = options;
  return inProcessPorts(world, {
    ...{ scheduler, stock, record },
    coderd: new CoderdPort(world.coderd, { isCoderdDown, onCall }),
    ecs: async (answer) => {
      onCall('ecs', 1);
      return answer();
    },
  });
}

const IDS_A_REQUEST = 100;

/**
 * Makes the lists of jobs and daemons here. Reads all other lists through the autoscaler's own
 * adapter.
 */
class CoderdPort implements Coderd {
  readonly #model: CoderdModel;
  readonly #seldom: CoderdAdapter;
  readonly #http: VirtualCoderd;

  constructor(model: CoderdModel, options: Pick<PortsOptions, 'isCoderdDown' | 'onCall'>) {
    this.#model = model;
    this.#http = new VirtualCoderd(model, async (answer) => {
      options.onCall('coderd', 1);
      if (options.isCoderdDown()) throw new NoAnswer('the world has an outage');
      return answer();
    });
    this.#seldom = new CoderdAdapter(this.#http);
  }

  buildInfo(): Promise<Reading<BuildInfo>> {
    return this.#seldom.buildInfo();
  }

  organizations(): Promise<Reading<Organization>> {
    return this.#seldom.organizations();
  }

  jobs({ id, name }: Organization): Promise<Reading<Job>> {
    return this.#listed({ what: `listing provisioner jobs of organization "${name}"`, limit: 0 }, () => {
      const listed: Job[] = [];
      for (const job of this.#model.openJobs())
        if (job.organizationId === id && job.status !== 'canceling') listed.push(this.#jobOf(job));
      return listed;
    });
  }

  daemons({ id, name }: Organization): Promise<Reading<Daemon>> {
    return this.#listed({ what: `listing provisioner daemons of organization "${name}"`, limit: 0 }, () =>
      this.#daemonsOf(id),
    );
  }

  jobsByIds({ name }: Organization, ids: readonly JobId[]): Promise<Reading<Job>> {
    return reading({ what: `reading previous jobs of organization "${name}"` }, async () => {
      const parts = await Promise.all(
        batchesOf(ids, IDS_A_REQUEST).map((batch) => this.#http.getMade(() => this.#jobsNamed(batch))),
      );
      return { value: parts.flatMap(({ value }) => value), date: parts[0]?.date };
    });
  }

  forecast(...given: Parameters<Coderd['forecast']>): ReturnType<Coderd['forecast']> {
    return this.#seldom.forecast(...given);
  }

  recentJobs(...given: Parameters<Coderd['recentJobs']>): ReturnType<Coderd['recentJobs']> {
    return this.#seldom.recentJobs(...given);
  }

  knowsEnd(...given: Parameters<Coderd['knowsEnd']>): boolean {
    return this.#seldom.knowsEnd(...given);
  }

  /** The simulated token does not expire. */
  async tokenExpiry(): Promise<undefined> {
    return undefined;
  }

  /** The simulated license is always there. */
  async license(): Promise<undefined> {
    return undefined;
  }

  #listed<T>(request: ReadingRequest, make: () => readonly T[]): Promise<Reading<T>> {
    return reading(request, () => this.#http.getMade(make));
  }

  #jobsNamed(ids: readonly JobId[]): readonly Job[] {
    return ids.flatMap((id) => {
      const job = this.#model.job(id);
      return job === undefined ? [] : this.#jobOf(job);
    });
  }

  #jobOf(job: JobRecord): Job {
    const { workerId } = job;
    const tells = (what: 'tellsWorkerNames' | 'tellsTransitions'): boolean => this.#model.version.does(what);
    const worker = workerId && tells('tellsWorkerNames') ? this.#model.daemon(workerId)?.name : undefined;
    return jobOf(job, {
      worker_name: worker,
      workspace_build_transition: tells('tellsTransitions') ? job.transition : undefined,
    });
  }

  #daemonsOf(organizationId: OrganizationId): readonly Daemon[] {
    const now = this.#model.timeline.now();
    const listed: Daemon[] = [];
    for (const daemon of this.#model.recentDaemons())
      if (daemon.organizationId === organizationId) listed.push(...this.#rowsOf(daemon, now));
    return listed;
  }

  /** One row for each current job, as the join of coderd's SQL query gives them. */
  #rowsOf(daemon: DaemonRecord, now: EpochMs): readonly Daemon[] {
    const known = this.#offline.get(daemon);
    if (known !== undefined && known.last_seen_at === daemon.lastSeenAt) return [known];
    const { current, previous } = this.#model.jobsOf(daemon);
    const offline = isOffline(daemon, now);
    if (current.length > 0) return current.map((job) => rowOf(daemon, 'busy', { job, previous }));
    const row = rowOf(daemon, offline ? 'offline' : 'idle', { job: undefined, previous });
    if (offline) this.#offline.set(daemon, row);
    return [row];
  }

  /**
   * Rows of offline daemons without a job, which are most of a list. They change only when coderd
   * sees the daemon again.
   */
  readonly #offline = new WeakMap<DaemonRecord, Daemon>();
}

type Jobs = { readonly job: JobRecord | undefined; readonly previous: JobRecord | undefined };

function rowOf(daemon: DaemonRecord, status: 'offline' | 'idle' | 'busy', { job, previous }: Jobs): Daemon {
  return {
    id: daemon.id,
    organization_id: daemon.organizationId,
    key_id: daemon.keyId,
    key_name: daemon.keyName,
    created_at: daemon.createdAt,
    last_seen_at: daemon.lastSeenAt,
    name: daemon.name,
    version: daemon.version,
    tags: daemon.tags,
    status,
    current_job: refOf(job),
    previous_job: refOf(previous),
  };
}

type ToldSince = {
  readonly worker_name: string | undefined;
  readonly workspace_build_transition: string | undefined;
};

/** The second argument is what older servers do not tell. */
function jobOf(job: JobRecord, { worker_name, workspace_build_transition }: ToldSince): Job {
  const { startedAt, completedAt, canceledAt, workerId, workspace, template } = job;
  return {
    id: job.id,
    created_at: job.createdAt,
    started_at: startedAt,
    completed_at: completedAt,
    canceled_at: canceledAt,
    error: job.error === undefined ? undefined : job.failedBy === 'hung-reaper' ? 'hung' : 'other',
    status: job.status,
    worker_id: workerId,
    worker_name,
    organization_id: job.organizationId,
    initiator_id: job.initiatorId,
    tags: job.tags,
    type: job.type,
    metadata: {
      template_id: template.id,
      template_name: template.name,
      ...(workspace === undefined ? {} : { workspace_id: workspace.id, workspace_name: workspace.name }),
      workspace_build_transition,
    },
  };
}

const refOf = (job: JobRecord | undefined) => (job === undefined ? null : { id: job.id, status: job.status });

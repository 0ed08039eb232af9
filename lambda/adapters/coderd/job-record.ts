/**
 * What the looks of this process saw of recent jobs, and the latest build of each workspace: a lower bound. It
 * sends no request, as a list of all statuses makes coderd read every job (docs/internals/coder.md §1).
 */
import type { JobId, OrganizationId } from '../../decision/model/brands.ts';
import type { Job, Reading, Workspace } from '../../decision/model/snapshot.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../decision/model/units.ts';
import type { SeenJobs } from '../../look/ports.ts';
import { NewestJobs } from './newest-jobs.ts';

const KEPT_MS = 7 * DAY_MS;
/** The clocks of two servers differ. A job that seems to be created later than this has a wrong time. */
const CLOCK_SKEW_MS = HOUR_MS;
const LIMITS = { perTagSet: 500, inAll: 20_000 };

type OrganizationRecord = {
  readonly jobs: NewestJobs;
  /** The reading whose builds are in `jobs` already. */
  workspaces?: Reading<Workspace> | undefined;
};

export class RememberedJobs {
  readonly #organizations = new Map<OrganizationId, OrganizationRecord>();

  recentJobs(organizationId: OrganizationId, seen: SeenJobs): Reading<Job> {
    const { now } = seen;
    const record = this.#organizations.get(organizationId) ?? { jobs: new NewestJobs(LIMITS) };
    this.#organizations.set(organizationId, record);
    addAll(record, seen);
    const items = record.jobs.items();
    return { status: 'ok', takenAt: now, items };
  }

  /** Adds earlier builds of a workspace. `recentJobs` forgets those that are too old. */
  addBuilds(workspace: Workspace, builds: readonly Workspace['latest_build'][]): void {
    const jobs = this.#organizations.get(workspace.organization_id)?.jobs;
    for (const latest_build of builds) {
      const job = latestJob({ ...workspace, latest_build });
      const known = job && jobs?.get(job.id);
      if (job !== undefined) jobs?.put(known === undefined ? job : merged(known, job));
    }
  }

  knowsEnd(organizationId: OrganizationId, id: JobId): boolean {
    const job = this.#organizations.get(organizationId)?.jobs.get(id);
    // the latest build of a workspace says that it failed, and not why
    return job?.completed_at != null && (job.status !== 'failed' || job.error != null);
  }

  gone(organizationId: OrganizationId, open: Reading<Job>): readonly JobId[] {
    const { status, takenAt: now = 0, items } = open;
    const known = this.#organizations.get(organizationId)?.jobs.items() ?? [];
    if (status !== 'ok' || known.length === 0) return [];
    const isOpen = new Set(items.map(({ id }) => id));
    const waitedMs = ({ created_at }: Job): number => now - created_at;
    return known
      .filter((job) => waitedMs(job) >= MAY_FAIL_AFTER_MS && waitedMs(job) <= ASKED_FOR_MS)
      .filter((job) => stageOf(job) === 0 && !isOpen.has(job.id))
      .map(({ id }) => id);
  }
}

/** coderd fails a job that has been pending for half an hour (docs/internals/coder.md §5); clocks may differ. */
const MAY_FAIL_AFTER_MS = HOUR_MS / 2 - MINUTE_MS;
/** A storm lasts longer: coderd fails ten jobs a minute. A job that coderd does not know any more is asked for so long. */
const ASKED_FOR_MS = 2 * HOUR_MS;

/** Adds what a look saw. Open jobs come last: each look lists them, workspaces may be older. */
function addAll(record: OrganizationRecord, { jobs, previousJobs, workspaces, now }: SeenJobs): void {
  const span = { from: now - KEPT_MS, until: now + CLOCK_SKEW_MS };
  const add = (job: Job): void => {
    if (!(job.created_at >= span.from && job.created_at <= span.until)) return;
    const known = record.jobs.get(job.id);
    record.jobs.put(known === undefined ? job : merged(known, job));
  };
  record.jobs.keepCreated(span);
  if (workspaces !== undefined && workspaces !== record.workspaces)
    for (const workspace of workspaces.items) {
      const job = latestJob(workspace);
      if (job !== undefined) add(job);
    }
  record.workspaces = workspaces ?? record.workspaces;
  previousJobs.items.forEach(add);
  jobs.items.forEach(add);
}

/** The job of the workspace's latest build. Undefined if its id, its tags or its time is unknown. */
function latestJob({ id, organization_id, template_id, latest_build: build }: Workspace): Job | undefined {
  const { job } = build;
  const created_at = job.created_at ?? build.created_at;
  if (job.id == null || job.tags == null || created_at == null) return undefined;
  return {
    id: job.id,
    created_at,
    started_at: job.started_at,
    completed_at: job.completed_at,
    worker_id: job.worker_id,
    status: job.status,
    organization_id,
    initiator_id: build.initiator_id,
    tags: job.tags,
    type: 'workspace_build',
    reason: build.reason,
    metadata: { workspace_id: id, template_id, workspace_build_transition: build.transition },
  };
}

const FIELDS = [
  'started_at',
  'completed_at',
  'canceled_at',
  'error',
  'worker_id',
  'worker_name',
  'initiator_id',
  'reason',
] as const satisfies readonly (keyof Job)[];
const METADATA = [
  'workspace_id',
  'workspace_name',
  'template_id',
  'template_name',
  'workspace_build_transition',
] as const satisfies readonly (keyof NonNullable<Job['metadata']>)[];

/**
 * A field that is seen replaces the known one, a missing field nothing. coderd never changes `created_at`, tags
 * and type. Without news the result is the known object.
 */
function merged(known: Job, seen: Job): Job {
  // An older list may still show a completed job as running.
  const status = stageOf(seen) < stageOf(known) ? known.status : seen.status;
  if (status === known.status && !hasNews(known, seen)) return known;
  return {
    ...known,
    ...present(seen, FIELDS),
    status,
    metadata: { ...known.metadata, ...present(seen.metadata ?? {}, METADATA) },
  };
}

function hasNews(known: Job, seen: Job): boolean {
  return (
    FIELDS.some((field) => seen[field] != null && seen[field] !== known[field]) ||
    METADATA.some(
      (field) => seen.metadata?.[field] != null && seen.metadata[field] !== known.metadata?.[field],
    )
  );
}

function present<T extends object, K extends keyof T>(item: T, fields: readonly K[]): Partial<Pick<T, K>> {
  const found: Partial<Pick<T, K>> = {};
  for (const field of fields) if (item[field] != null) found[field] = item[field];
  return found;
}

/** How far a job has come: created, started, completed. */
function stageOf({ started_at, completed_at }: Job): number {
  if (completed_at != null) return 2;
  return started_at == null ? 0 : 1;
}

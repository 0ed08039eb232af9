/**
 * The builds that died with their tasks, from the stopped tasks that ECS still lists and the last
 * job of each task's daemon. Terraform was cut off in these builds, so coderd has no state of what
 * they did. What the readings do not show is left out, or said to be unknown.
 */
import { isoTime, plusMs, poolOfPart } from '../model/brands.ts';
import { by, unique } from '../model/collections.ts';
import type { DeadBuild, Finding } from '../model/plan.ts';
import type { Daemon, Job, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { MINUTE_MS } from '../model/units.ts';
import { isKnownVersion } from '../model/version.ts';
import { taskId } from '../supply/rows/daemons.ts';
import type { PoolView } from '../supply/supply.ts';
import {
  causeOfDeath,
  coderdTimeOf,
  type EndedTask,
  hasDiedWith,
  isEnded,
  lastJobOf,
  type OpenJobs,
  reasonOfDeath,
  type ToCoderdTime,
  wasKilled,
} from './death.ts';

type Suspect = {
  readonly task: EndedTask;
  /** The name that a guard gives its daemon. */
  readonly name: string;
  readonly daemon: Daemon | undefined;
};
type Suspected = {
  readonly view: PoolView;
  readonly organization: OrganizationReadings;
  readonly suspects: readonly Suspect[];
};
type Look = { readonly snapshot: Snapshot; readonly toCoderdTime: ToCoderdTime };

/** Derives the findings about builds that died, and about tasks whose builds are unknown. */
export function deadBuildFindings(supply: readonly PoolView[], snapshot: Snapshot): readonly Finding[] {
  const ended = unique(snapshot.ecs.tasks.items.filter(isEnded), ({ taskArn }) => taskArn);
  if (ended.length === 0) return [];
  const look = { snapshot, toCoderdTime: coderdTimeOf(snapshot) };
  const byGroup = Map.groupBy(ended, ({ group }) => group ?? '');
  const pools = supply.flatMap((view) => suspectsOf(view, byGroup));
  const byOrganization = Map.groupBy(pools, ({ organization }) => organization);
  const known = new Map([...byOrganization].map(([of, its]) => [of, knownJobs(of, its)]));
  return pools.flatMap(({ view, organization, suspects }) => {
    const jobs = known.get(organization);
    const judged = jobs === undefined ? [] : suspects.map((it) => judge(it, { organization, jobs, look }));
    return [...deaths(view, organization, judged), ...unknowns(view, judged)];
  });
}

function suspectsOf(
  view: PoolView,
  byGroup: ReadonlyMap<string, readonly EndedTask[]>,
): readonly Suspected[] {
  const { organization, index, service, tags, pool } = view;
  const name = poolOfPart(pool.name);
  const expected = { pool: name, tags, hasGuard: false };
  const suspects = (byGroup.get(`service:${service?.serviceName ?? ''}`) ?? [])
    .map((task) => ({
      task,
      name: `${name}-${taskId(task)}`,
      daemon: index?.ofTask(task, expected).daemon,
    }))
    .filter((suspect) => isSuspect(suspect));
  return organization === undefined || suspects.length === 0 ? [] : [{ view, organization, suspects }];
}

/** `died`: the build that died with the task. `isUnknown`: nobody can say whether there is one. */
type Judged = { readonly task: EndedTask; readonly died: Job | undefined; readonly isUnknown: boolean };

type Evidence = {
  readonly organization: OrganizationReadings;
  readonly jobs: KnownJobs;
  readonly look: Look;
};

function judge(suspect: Suspect, { organization, jobs, look }: Evidence): Judged {
  const { task, daemon } = suspect;
  const known = workersOf(suspect).flatMap((id) => [...(jobs.ofWorker.get(id)?.values() ?? [])]);
  const last = lastJobOf(task, { daemon, jobs: known }, look.toCoderdTime);
  const witnesses = { daemon, open: jobs, toCoderdTime: look.toCoderdTime };
  const hasDied = last !== undefined && isBuild(last) && hasDiedWith(task, last, witnesses);
  const isUnknown = daemon === undefined && last === undefined && isTraceless(task, organization, look);
  return { task, died: hasDied ? last : undefined, isUnknown };
}

function deaths(
  { pool }: PoolView,
  organization: OrganizationReadings,
  judged: readonly Judged[],
): readonly Finding[] {
  const builds = judged
    .flatMap(({ task, died }) => (died === undefined ? [] : [deadBuild(task, died, organization)]))
    .toSorted(by(({ stoppedAt }) => -Date.parse(stoppedAt), 'job'));
  if (builds.length === 0) return [];
  return [{ code: 'build-died-with-task', pool: pool.name, organization: organization.name, builds }];
}

function unknowns({ pool }: PoolView, judged: readonly Judged[]): readonly Finding[] {
  const tasks = judged.filter(({ isUnknown }) => isUnknown).map(({ task }) => task.taskArn);
  return tasks.length === 0 ? [] : [{ code: 'build-of-task-unknown', pool: pool.name, tasks: tasks.sort() }];
}

/** Imports and dry runs of templates create nothing in the cloud. */
const isBuild = ({ type }: Job): boolean => type === 'workspace_build';

/** Most tasks leave after a job that succeeded. These need no further reading. */
function isSuspect({ task, daemon }: Suspect): boolean {
  if (daemon === undefined) return wasKilled(task);
  return daemon.current_job != null || daemon.previous_job?.status === 'failed';
}

/** What its jobs may have as worker: the id of the daemon, and its name. */
function workersOf({ name, daemon }: Suspect): readonly string[] {
  return daemon === undefined ? [name] : [daemon.id, name];
}

/** The jobs of one organization that matter. */
type KnownJobs = OpenJobs & {
  /** By what `workersOf` gives, then by job id. */
  readonly ofWorker: ReadonlyMap<string, ReadonlyMap<string, Job>>;
};

function knownJobs(
  { jobs, previousJobs, recentJobs }: OrganizationReadings,
  pools: readonly Suspected[],
): KnownJobs {
  const workers = pools.flatMap(({ suspects }) => suspects.flatMap(workersOf));
  const ofWorker = new Map(workers.map((id) => [id, new Map<string, Job>()]));
  const add = (job: Job, worker: string | null | undefined): void => {
    const own = worker == null ? undefined : ofWorker.get(worker);
    const known = own?.get(job.id);
    // the latest build of a workspace says that it failed, and not why
    const isNews = known?.completed_at == null || (known.error == null && job.completed_at != null);
    if (isNews) own?.set(job.id, job);
  };
  for (const list of [recentJobs?.items ?? [], jobs.items, previousJobs.items])
    for (const job of list) {
      if (job.worker_id == null) continue;
      add(job, job.worker_id);
      add(job, job.worker_name);
    }
  return { ofWorker, ids: new Set(jobs.items.map(({ id }) => id)), takenAt: jobs.takenAt ?? 0 };
}

function deadBuild(task: EndedTask, job: Job, { workspaces }: OrganizationReadings): DeadBuild {
  const { workspace_id, workspace_name, template_id, template_name, workspace_build_transition } =
    job.metadata ?? {};
  const workspace = workspaces?.items.find(({ id }) => id === workspace_id);
  const latest = workspace?.latest_build;
  return {
    job: job.id,
    workspace: workspace_name || workspace?.name || null,
    workspaceId: workspace_id ?? null,
    owner: workspace?.owner_name ?? null,
    transition: workspace_build_transition ?? (latest?.job.id === job.id ? latest.transition : null) ?? null,
    template: template_name || template_id || null,
    startedAt: isoTime(job.started_at ?? job.created_at),
    stoppedAt: isoTime(task.stoppedAt),
    task: taskId(task),
    cause: causeOfDeath(task),
    reason: reasonOfDeath(task),
  };
}

/** A daemon registers within this time. */
const REGISTERED_MS = 5 * MINUTE_MS;
/** coderd lists a daemon for an hour after it was last seen. */
const LISTED_MS = 50 * MINUTE_MS;

/** Whether coderd would list its daemon, unless somebody has deleted the row. */
function isTraceless(
  { startedAt, stoppedAt }: EndedTask,
  { daemons }: OrganizationReadings,
  { snapshot, toCoderdTime }: Look,
): boolean {
  const listedUntil = toCoderdTime(plusMs(stoppedAt, LISTED_MS));
  const isWhole = daemons.status === 'ok' && isKnownVersion(snapshot.coder.buildInfo?.version);
  return isWhole && stoppedAt - startedAt >= REGISTERED_MS && snapshot.takenAt < listedUntil;
}

/**
 * The builds that died with their tasks, from the stopped tasks that ECS still lists and the last
 * job of each task's daemon. Terraform was cut off in these builds, so coderd has no state of what
 * they did. What the readings do not show is left out, or said to be unknown.
 */
import type { EpochMs } from '../model/brands.ts';
import { by, unique } from '../model/collections.ts';
import type { DeadBuild, Finding } from '../model/plan.ts';
import type { Daemon, Job, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { isKnownVersion } from '../model/version.ts';
import { taskId } from '../supply/daemons.ts';
import type { PoolView } from '../supply/supply.ts';
import { coderdTimeOf, type EndedTask, hasDiedWith, isEnded, lastJobOf, type ToCoderdTime } from './death.ts';
import { causeOfDeath, reasonOfDeath, wasKilled } from './death-cause.ts';
import { isoTime } from './waiting.ts';

type Suspect = { readonly task: EndedTask; readonly daemon: Daemon | undefined };
type Look = { readonly snapshot: Snapshot; readonly toCoderdTime: ToCoderdTime };

/** Derives the findings about builds that died, and about tasks whose builds are unknown. */
export function deadBuildFindings(supply: readonly PoolView[], snapshot: Snapshot): readonly Finding[] {
  const ended = unique(snapshot.ecs.tasks.items.filter(isEnded), ({ taskArn }) => taskArn);
  if (ended.length === 0) return [];
  const byGroup = Map.groupBy(ended, ({ group }) => group ?? '');
  const look = { snapshot, toCoderdTime: coderdTimeOf(snapshot) };
  return supply.flatMap((view) => {
    const tasks = byGroup.get(`service:${view.service?.serviceName ?? ''}`) ?? [];
    const suspects = tasks
      .map((task) => ({ task, daemon: view.index?.ofTask(task) }))
      .filter((suspect) => isSuspect(suspect));
    if (suspects.length === 0 || view.organization === undefined) return [];
    const judged = judge(suspects, view.organization, look);
    return [...deaths(view, view.organization, judged), ...unknowns(view, judged)];
  });
}

/** `died`: the build that died with the task. `isUnknown`: nobody can say whether there is one. */
type Judged = { readonly task: EndedTask; readonly died: Job | undefined; readonly isUnknown: boolean };

function judge(
  suspects: readonly Suspect[],
  organization: OrganizationReadings,
  look: Look,
): readonly Judged[] {
  const jobsOf = jobsOfWorkers(organization, suspects);
  return suspects.map((suspect) => {
    const { task, daemon } = suspect;
    const last = lastJobOf(task, { daemon, jobs: jobsOf(suspect) }, look.toCoderdTime);
    const hasDied =
      last !== undefined && isBuild(last) && hasDiedWith(task, last, organization, look.toCoderdTime);
    const isUnknown = daemon === undefined && last === undefined && isTraceless(task, organization, look);
    return { task, died: hasDied ? last : undefined, isUnknown };
  });
}

function deaths(
  { pool }: PoolView,
  organization: OrganizationReadings,
  judged: readonly Judged[],
): readonly Finding[] {
  const builds = judged
    .flatMap(({ task, died }) => (died === undefined ? [] : [deadBuild(task, died, organization)]))
    .toSorted(
      by(
        ({ stoppedAt }) => -Date.parse(stoppedAt),
        ({ job }) => job,
      ),
    );
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

/** The known jobs of the daemons of these tasks. */
function jobsOfWorkers(
  { jobs, previousJobs, recentJobs }: OrganizationReadings,
  suspects: readonly Suspect[],
): (suspect: Suspect) => readonly Job[] {
  const workers = new Set(suspects.flatMap(({ task, daemon }) => [daemon?.id ?? '', taskId(task)]));
  const found = new Map<string, Map<string, Job>>();
  for (const job of [...(recentJobs?.items ?? []), ...jobs.items, ...previousJobs.items])
    for (const worker of [job.worker_id, endOf(job.worker_name)]) {
      if (worker == null || !workers.has(worker)) continue;
      const known = found.get(worker) ?? new Map<string, Job>();
      if (known.get(job.id)?.completed_at == null) known.set(job.id, job);
      found.set(worker, known);
    }
  return ({ task, daemon }) => [
    ...(found.get(daemon?.id ?? '')?.values() ?? []),
    ...(found.get(taskId(task))?.values() ?? []),
  ];
}

/** The task id in a daemon's name, `<pool>-<task id>`. */
const endOf = (name: string | null | undefined): string | undefined => name?.slice(name.lastIndexOf('-') + 1);

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
const REGISTERED_MS = 5 * 60_000;
/** coderd lists a daemon for an hour after it was last seen. */
const LISTED_MS = 50 * 60_000;

/**
 * Whether a task ran for long enough to have a daemon, and ended so recently that coderd would list
 * it. Then somebody has deleted its row.
 */
function isTraceless(
  { startedAt, stoppedAt }: EndedTask,
  { daemons }: OrganizationReadings,
  { snapshot, toCoderdTime }: Look,
): boolean {
  const listedUntil = toCoderdTime((stoppedAt + LISTED_MS) as EpochMs);
  const isWhole = daemons.status === 'ok' && isKnownVersion(snapshot.coder.buildInfo?.version);
  return isWhole && stoppedAt - startedAt >= REGISTERED_MS && snapshot.takenAt < listedUntil;
}

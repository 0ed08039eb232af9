/**
 * The same snapshot at a later time, for the question "what would the autoscaler do then?" Pools,
 * daemons and jobs keep their ages. The calendar moves on: schedules, and transitions of coderd.
 */
import type { EpochMs } from '../model/brands.ts';
import type {
  Daemon,
  Job,
  OrganizationReadings,
  Reading,
  Service,
  Snapshot,
  Task,
} from '../model/snapshot.ts';
import { transitionsOf } from './transitions.ts';

/**
 * coderd's executor polls once a minute (docs/internals/coder.md §10), so it has made earlier
 * transitions by then.
 */
const EXECUTOR_MS = 60_000;

/** Moves a snapshot to a later time. */
export function snapshotAt(snapshot: Snapshot, at: EpochMs): Snapshot {
  const { coder, ecs, takenAt } = snapshot;
  const move = moveBy(at - takenAt);
  return {
    ...snapshot,
    takenAt: at,
    ...(snapshot.clock === undefined ? {} : { clock: move(snapshot.clock) }),
    coder: {
      ...coder,
      organizations: coder.organizations.map((organization) => ({
        ...organization,
        jobs: movedReading(organization.jobs, move, movedJob(move)),
        daemons: movedReading(organization.daemons, move, movedDaemon(move)),
        previousJobs: movedReading(organization.previousJobs, move, movedJob(move)),
        ...movedRecord(organization, move),
        ...movedForecast(organization, { move, from: takenAt, to: at, version: coder.buildInfo?.version }),
      })),
    },
    ecs: {
      ...ecs,
      services: movedReading(ecs.services, move, movedService(move)),
      tasks: movedReading(ecs.tasks, move, movedTask(move)),
      protections: movedReading(ecs.protections, move, (protection) => ({
        ...protection,
        expirationDate: move(protection.expirationDate),
      })),
    },
  };
}

type Time = EpochMs | null | undefined;
type Move = <T extends Time>(time: T) => T;

function moveBy(ms: number): Move {
  return <T extends Time>(time: T): T => (time == null ? time : ((time + ms) as T));
}

function movedReading<T>(reading: Reading<T>, move: Move, moved: (item: T) => T): Reading<T> {
  return { ...reading, takenAt: move(reading.takenAt), items: reading.items.map(moved) };
}

function movedService(move: Move): (service: Service) => Service {
  return (service) => ({
    ...service,
    deployments: service.deployments.map((deployment) =>
      deployment.createdAt === undefined
        ? deployment
        : { ...deployment, createdAt: move(deployment.createdAt) },
    ),
    events: (service.events ?? []).map((event) => ({ ...event, createdAt: move(event.createdAt) })),
  });
}

function movedJob(move: Move): (job: Job) => Job {
  return (job) => ({
    ...job,
    created_at: move(job.created_at),
    started_at: move(job.started_at),
    completed_at: move(job.completed_at),
    canceled_at: move(job.canceled_at),
  });
}

function movedDaemon(move: Move): (daemon: Daemon) => Daemon {
  return (daemon) => ({
    ...daemon,
    created_at: move(daemon.created_at),
    last_seen_at: move(daemon.last_seen_at),
  });
}

function movedTask(move: Move): (task: Task) => Task {
  return (task) => ({
    ...task,
    createdAt: move(task.createdAt),
    pullStartedAt: move(task.pullStartedAt),
    pullStoppedAt: move(task.pullStoppedAt),
    startedAt: move(task.startedAt),
    stoppingAt: move(task.stoppingAt),
    stoppedAt: move(task.stoppedAt),
  });
}

/** The builds keep their ages, although the time of day changes. */
function movedRecord(
  { recentJobs }: OrganizationReadings,
  move: Move,
): Partial<Pick<OrganizationReadings, 'recentJobs'>> {
  if (recentJobs === undefined) return {};
  return { recentJobs: movedReading(recentJobs, move, movedJob(move)) };
}

type Span = {
  readonly move: Move;
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly version: string | undefined;
};

/** The workspaces keep their times. Those that coderd will have changed by then are left out. */
function movedForecast(
  { workspaces, templates, members, offlineDaemons }: OrganizationReadings,
  { move, from, to, version }: Span,
): Partial<Pick<OrganizationReadings, 'workspaces' | 'templates' | 'members' | 'offlineDaemons'>> {
  if (workspaces === undefined || templates === undefined) return {};
  const byId = new Map(templates.items.map((template) => [template.id, template]));
  const owners = new Map(members?.items.map((member) => [member.user_id, member]));
  const items = workspaces.items.filter((workspace) => {
    const owner = owners.get(workspace.owner_id ?? '');
    const circumstances = { version, readAt: workspaces.takenAt, owner };
    const transitions = transitionsOf(workspace, byId.get(workspace.template_id), circumstances);
    return !transitions.some(({ at }) => at > from - 2 * EXECUTOR_MS && at <= to - EXECUTOR_MS);
  });
  return {
    workspaces: { ...workspaces, takenAt: move(workspaces.takenAt), items },
    templates: { ...templates, takenAt: move(templates.takenAt) },
    members: members && { ...members, takenAt: move(members.takenAt) },
    offlineDaemons: offlineDaemons && movedReading(offlineDaemons, move, movedDaemon(move)),
  };
}

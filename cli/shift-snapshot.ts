/**
 * The same snapshot at a later time, for the question "what would the autoscaler do then?" Pools,
 * daemons and jobs keep their ages. The calendar moves on: schedules, and transitions of coderd.
 */
import { transitionsOf } from '../lambda/decision/demand/transitions.ts';
import type { EpochMs } from '../lambda/decision/model/brands.ts';
import type { OrganizationReadings, Snapshot } from '../lambda/decision/model/snapshot.ts';
import { MINUTE_MS } from '../lambda/decision/model/units.ts';

/** coderd's executor polls once a minute (docs/internals/coder.md §10). */
const EXECUTOR_MS = MINUTE_MS;

/** Moves a snapshot to a later time. */
export function snapshotAt(snapshot: Snapshot, at: EpochMs): Snapshot {
  const { coder, ecs, takenAt, clock } = snapshot;
  const ms = at - takenAt;
  const span = { from: takenAt, to: at, version: coder.buildInfo?.version };
  return {
    ...snapshot,
    takenAt: at,
    ...(clock === undefined ? {} : { clock: (clock + ms) as EpochMs }),
    coder: {
      ...coder,
      organizations: coder.organizations.map((organization) => {
        const { jobs, daemons, previousJobs, recentJobs } = organization;
        return {
          ...organization,
          // the builds keep their ages, although the time of day changes
          ...moved({ jobs, daemons, previousJobs, ...(recentJobs === undefined ? {} : { recentJobs }) }, ms),
          ...movedForecast(organization, span),
        };
      }),
    },
    ecs: {
      ...ecs,
      services: moved(ecs.services, ms),
      tasks: moved(ecs.tasks, ms),
      protections: moved(ecs.protections, ms),
    },
  };
}

/** The names of coderd's and AWS's times, and of those that the adapters add. */
const IS_TIME = /(?:_at|At|expirationDate|changesByOthers|until)$/;

/** Moves every time in a value, and the value itself if its name is that of a time. */
function moved<T>(value: T, ms: number, name = ''): T {
  if (typeof value === 'number') return (IS_TIME.test(name) ? value + ms : value) as T;
  if (Array.isArray(value)) return value.map((item) => moved(item, ms, name)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, moved(item, ms, key)])) as T;
}

type Span = { readonly from: EpochMs; readonly to: EpochMs; readonly version: string | undefined };

/** The workspaces keep their times. Those that coderd will have changed by then are left out. */
function movedForecast(
  { workspaces, templates, members, offlineDaemons }: OrganizationReadings,
  { from, to, version }: Span,
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
  const movedList = <T extends { readonly takenAt?: EpochMs | undefined }>(list: T): T => ({
    ...list,
    takenAt: list.takenAt && list.takenAt + to - from,
  });
  return {
    workspaces: { ...movedList(workspaces), items },
    templates: movedList(templates),
    members: members && movedList(members),
    offlineDaemons: offlineDaemons && moved(offlineDaemons, to - from),
  };
}

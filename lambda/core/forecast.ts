/**
 * The forecast: the transitions that coderd will make by itself and for which no job waits before. Its lifecycle executor looks once a
 * minute, or as often as it is set to, and makes none for which it has seen no daemon with the tags of the template's active version
 * (contract §10): then there is nothing in the queue, ever. What is due is worked out here as the executor does it, from workspaces and templates.
 */
import type { EpochMs, OrganizationId } from './brands.ts';
import { isAlive } from './daemons.ts';
import { by, partition, sum } from './order.ts';
import { pollIntervalMs } from './poll-interval.ts';
import type { Daemon, OrganizationSight, Reading, Snapshot, Workspace } from './snapshot.ts';
import { covers, normalizeTags, type TagSet, type Tags, tagKey } from './tags.ts';
import { AUTOMATIC, byTime, type Transition, transitionsOf } from './transitions.ts';

/** What coderd will do for one tag set of one organization, for which the gate opens at once. */
export type TransitionGroup = {
  readonly organizationId: OrganizationId;
  /** The organization's name. */
  readonly organization: string;
  /** Those of the active version. */
  readonly tags: TagSet;
  /** Yet to be made, overdue ones included; the earliest first. */
  readonly ahead: readonly Transition[];
  /** Overdue, and not made although coderd could see a daemon: it is given some more time. The earliest first. */
  readonly refused: readonly Transition[];
  /** Made, as far as is known: a daemon stays until a later reading says so. */
  readonly presumed: readonly Transition[];
  /** When coderd made those before, as far as is known. */
  readonly made: readonly EpochMs[];
};

/** The executor takes a time for the whole minute before (lifecycle_executor.go). */
const MINUTE_MS = 60_000;
/** What it found with the gate open is a job so long after it has looked. */
const INSERTED_MS = 15_000;
/** What coderd does not do with the gate open for so long, or for two polls, it won't do (its owner is suspended, say). */
const PATIENCE_MS = 5 * 60_000;
/** What is known of workspaces is no ground to go to sleep on after this long. */
const OLD_AFTER_MS = 15 * 60_000;
/** Reads what coderd will do, by organization and tag set. */
export function readForecast(snapshot: Snapshot): readonly TransitionGroup[] {
  const pollMs = pollIntervalMs(snapshot);
  return snapshot.coder.organizations
    .toSorted(by(({ name }) => name))
    .flatMap((organization) => groupsOf(organization, snapshot, pollMs));
}

/** Whether more may be due than is known: then the last daemon stays. Without any forecast there is nothing to know. */
export function isForecastUnsure(organization: OrganizationSight, now: EpochMs): boolean {
  const { workspaces, templates } = organization;
  if (workspaces === undefined) return false;
  return !isUsable(workspaces, now) || !isUsable(templates, now) || emptyWorkspaces(organization) > 0;
}

/** Builds of workspaces, where the list of workspaces is empty and should not be. */
export function emptyWorkspaces({ workspaces, jobs }: OrganizationSight): number {
  if (workspaces?.status !== 'ok' || workspaces.items.length > 0) return 0;
  const readAt = workspaces.takenAt ?? Number.POSITIVE_INFINITY;
  return jobs.items.filter(
    ({ metadata, created_at }) => metadata?.workspace_id != null && created_at < readAt,
  ).length;
}

function isUsable(reading: Reading<unknown> | undefined, now: EpochMs): boolean {
  if (reading === undefined || (reading.status !== 'ok' && reading.status !== 'stale')) return false;
  return now - (reading.takenAt ?? now) <= OLD_AFTER_MS;
}

function groupsOf(
  organization: OrganizationSight,
  { takenAt: now, coder }: Snapshot,
  pollMs: number,
): readonly TransitionGroup[] {
  const { workspaces, jobs } = organization;
  if (workspaces === undefined) return [];
  const building = new Set(jobs.items.map(({ metadata }) => metadata?.workspace_id));
  const readAt = workspaces.takenAt ?? now;
  return expectedOf(organization, workspaces, coder.buildInfo?.version).map(({ tags, courses, built }) => {
    const isOverdue = courses[0] !== undefined && courses[0].transitions[0].at <= now;
    const gate = isOverdue ? gateOf(tags, organization.daemons.items, now) : [];
    const fateOf: FateOf = (id, transition) =>
      building.has(id) ? 'made' : judge(transition, { gate, readAt, now, pollMs });
    return {
      ...toGroup(courses, built, fateOf),
      organizationId: organization.id,
      organization: organization.name,
      tags,
    };
  });
}

/** What a reading of workspaces tells of one tag set, whatever time it is. */
type Expected = {
  readonly tags: TagSet;
  /** That whose first transition is the earliest first. */
  readonly courses: readonly Course[];
  /** When coderd made the latest builds that nobody asked for. */
  readonly built: readonly EpochMs[];
};

/** The starts of a workspace, or all that else is to come for it, the earliest first: pools are woken for either. */
type Course = {
  readonly workspaceId: string;
  readonly transitions: readonly [Transition, ...Transition[]];
};

/** What else that depends on. */
type Sources = {
  readonly [Key in 'id' | 'templates' | 'activeVersionTags']: OrganizationSight[Key] | undefined;
} & { readonly version: string | undefined };

/** Workspaces are read every few minutes, and looked at every few seconds: what they tell is worked out once. */
const known = new WeakMap<
  Reading<Workspace>,
  { readonly sources: Sources; readonly expected: readonly Expected[] }
>();

/** By tag set, in order of their keys. */
function expectedOf(
  { id, templates, activeVersionTags }: OrganizationSight,
  workspaces: Reading<Workspace>,
  version: string | undefined,
): readonly Expected[] {
  const sources: Sources = { id, templates, activeVersionTags, version };
  const before = known.get(workspaces);
  if (before !== undefined && areSame(before.sources, sources)) return before.expected;
  const expected = [...seenByTags(sources, workspaces)]
    .toSorted(by(([key]) => key))
    .map(([, seen]) => toExpected(seen));
  known.set(workspaces, { sources, expected });
  return expected;
}

function areSame(a: Sources, b: Sources): boolean {
  return (
    a.id === b.id &&
    a.templates === b.templates &&
    a.activeVersionTags === b.activeVersionTags &&
    a.version === b.version
  );
}

function toExpected(seen: readonly Seen[]): Expected {
  return {
    tags: normalizeTags(seen[0]?.tags ?? {}),
    courses: seen.flatMap(coursesOf).toSorted((a, b) => byTime(a.transitions[0], b.transitions[0])),
    built: seen.flatMap(({ workspace: { latest_build: build } }) =>
      build.created_at != null && AUTOMATIC.has(build.reason ?? '') ? [build.created_at] : [],
    ),
  };
}

function seenByTags(
  { id, templates, activeVersionTags, version }: Sources,
  { items: workspaces, takenAt: readAt }: Reading<Workspace>,
): ReadonlyMap<string, readonly Seen[]> {
  const byId = new Map(templates?.items.map((template) => [template.id, template]));
  const seen = workspaces.flatMap((workspace): readonly Seen[] => {
    if (workspace.is_prebuild === true || workspace.organization_id !== id) return [];
    const tags = tagsOf(workspace, activeVersionTags);
    if (tags === undefined) return [];
    const template = byId.get(workspace.template_id);
    return [{ workspace, tags, transitions: transitionsOf(workspace, template, { version, readAt }) }];
  });
  return Map.groupBy(seen, ({ tags }) => tagKey(tags));
}

type Seen = {
  readonly workspace: Workspace;
  readonly tags: Tags;
  /** The earliest first. */
  readonly transitions: readonly Transition[];
};

type FateOf = (workspaceId: string, transition: Transition) => Fate;

/** Where the active version could not be read, the last build's tags are the best guess. */
function tagsOf(
  { template_id, latest_build }: Workspace,
  active: OrganizationSight['activeVersionTags'],
): Tags | undefined {
  return active?.[template_id] ?? latest_build.job.tags ?? undefined;
}

/** Of each course the next one: what coderd won't do keeps nothing else from being seen. */
function toGroup(
  courses: readonly Course[],
  built: readonly EpochMs[],
  fateOf: FateOf,
): Pick<TransitionGroup, 'ahead' | 'refused' | 'presumed' | 'made'> {
  const byFate: Readonly<Record<NextFate, Transition[]>> = { ahead: [], refused: [], presumed: [], made: [] };
  for (const { workspaceId, transitions } of courses)
    for (const transition of transitions) {
      const fate = fateOf(workspaceId, transition);
      if (fate === 'given up') continue;
      byFate[fate].push(transition);
      break;
    }
  const { ahead, refused, presumed, made } = byFate;
  return {
    ahead: ahead.toSorted(byTime),
    refused: refused.toSorted(byTime),
    presumed: presumed.toSorted(byTime),
    made: [...built, ...[...made, ...presumed].map(({ at }) => at)],
  };
}

function coursesOf({ workspace: { id }, transitions }: Seen): readonly Course[] {
  return partition(transitions, ({ kind }) => kind === 'autostart').flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ workspaceId: id, transitions: [first, ...others] }],
  );
}

/** When coderd could see a daemon that opens the gate for a tag set: spans of time, none of which touch. */
type Gate = readonly { readonly from: EpochMs; readonly to: EpochMs }[];

function gateOf(tags: TagSet, daemons: readonly Daemon[], now: EpochMs): Gate {
  const spans = daemons
    .filter((daemon) => covers(normalizeTags(daemon.tags), tags))
    .map((daemon) => ({
      from: daemon.created_at,
      to: isAlive(daemon, now) ? now : (daemon.last_seen_at ?? daemon.created_at),
    }))
    .toSorted(by(({ from }) => from));
  const gate: { from: EpochMs; to: EpochMs }[] = [];
  for (const span of spans) {
    const last = gate.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to) as EpochMs;
    else gate.push({ ...span });
  }
  return gate;
}

/** For how long a gate was open in a span of time, in milliseconds. */
function openMs(gate: Gate, from: number, to: number): number {
  return sum(gate, (span) => Math.max(0, Math.min(span.to, to) - Math.max(span.from, from)));
}

type Seeing = {
  readonly gate: Gate;
  readonly readAt: EpochMs;
  readonly now: EpochMs;
  /** How often the executor looks. */
  readonly pollMs: number;
};

/**
 * What became of a transition, by how long the gate was open since it was due. `presumed`: made, as far as is known, but the workspaces were
 * read before. `refused`: the gate was open, and a later reading still shows it.
 */
function judge({ at }: Transition, { gate, readAt, now, pollMs }: Seeing): Fate {
  if (at > now) return 'ahead';
  const madeAfterMs = pollMs + INSERTED_MS;
  const patienceMs = Math.max(PATIENCE_MS, pollMs + madeAfterMs);
  const foundAt = Math.ceil(at / MINUTE_MS) * MINUTE_MS;
  const openedMs = openMs(gate, foundAt, now);
  if (openedMs < madeAfterMs) return 'ahead';
  const isSeenSince = openMs(gate, foundAt, readAt) >= madeAfterMs;
  if (openedMs < patienceMs) return isSeenSince ? 'refused' : 'presumed';
  return isSeenSince ? 'given up' : 'made';
}

type NextFate = 'ahead' | 'presumed' | 'refused' | 'made';
type Fate = NextFate | 'given up';

/**
 * The forecast: the transitions that coderd will make by itself and for which no job waits before. Its lifecycle executor looks once a
 * minute, or as often as it is set to, and makes none for which it has seen no daemon with the tags of the template's active version
 * (docs/coder.md §10): then there is nothing in the queue, ever. What is due is worked out here as the executor does it, from workspaces and templates.
 */
import type { EpochMs, OrganizationId } from '../model/brands.ts';
import { by, partition, unique } from '../model/collections.ts';
import type { Daemon, OrganizationReadings, Reading, Snapshot, Workspace } from '../model/snapshot.ts';
import { covers, normalizeTags, type TagSet, type Tags, tagKey } from '../model/tags.ts';
import { isKnownVersion } from '../model/version.ts';
import { STALE_AFTER_MS } from '../supply/daemons.ts';
import { type PollInterval, pollInterval } from './poll-interval.ts';
import { AUTOMATIC, byTime, type Transition, transitionsOf } from './transitions.ts';

/** A transition, and what it is of. */
export type ExpectedTransition = Transition & {
  readonly workspace: Workspace;
  /** When an admin changed its template last, which may have made it due long after its time. */
  readonly changedAt?: EpochMs | undefined;
};

/** A transition that coderd had the chance to make, and did not. */
export type Refusal = {
  readonly transition: ExpectedTransition;
  /** So many times the gate was open for long enough since it was due. */
  readonly tries: number;
  /** No pool is woken for it before. */
  readonly nextTryAt: EpochMs;
};

/** What coderd will do for one tag set of one organization, for which the gate opens at once. */
export type TransitionGroup = {
  readonly organizationId: OrganizationId;
  /** The organization's name. */
  readonly organization: string;
  /** Those of the active version. */
  readonly tags: TagSet;
  /** Yet to be made, overdue ones included; the earliest first. */
  readonly ahead: readonly ExpectedTransition[];
  /** Refused at least once. Where the next try is due, it is among the others too. The earliest first. */
  readonly refused: readonly Refusal[];
  /** Made, as far as is known: a daemon stays until a later reading says so. */
  readonly presumed: readonly ExpectedTransition[];
  /** When coderd made those before, as far as is known. */
  readonly made: readonly EpochMs[];
};

/** The executor takes a time for the whole minute before (lifecycle_executor.go). */
const MINUTE_MS = 60_000;
/** What it found with the gate open is a job so long after it has looked. */
const INSERTED_MS = 15_000;
const HOUR_MS = 3_600_000;
/** After the first refusal, the second, and all others: how long the gate stays closed for it. */
const BACK_OFF_MS = [HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS] as const;
/** Where nothing tells whether the gate was open: what is overdue wakes a pool for so long, or for two polls, in each hour. */
const UNTOLD_MS = 15 * 60_000;
/** What is known of workspaces is no ground to go to sleep on after this long. */
const OLD_AFTER_MS = 15 * 60_000;

/** Reads what coderd will do, by organization and tag set. */
export function deriveForecast(snapshot: Snapshot): readonly TransitionGroup[] {
  const poll = pollInterval(snapshot);
  return snapshot.coder.organizations
    .toSorted(by(({ name }) => name))
    .flatMap((organization) => groupsOf(organization, snapshot, poll));
}

/** Whether more may be due than is known: then the last daemon stays. Without any forecast there is nothing to know. */
export function isForecastUnsure(organization: OrganizationReadings, now: EpochMs): boolean {
  const { workspaces, templates } = organization;
  if (workspaces === undefined) return false;
  return !isUsable(workspaces, now) || !isUsable(templates, now) || emptyWorkspaces(organization) > 0;
}

/** Builds of workspaces, where the list of workspaces is empty and should not be. */
export function emptyWorkspaces({ workspaces, jobs }: OrganizationReadings): number {
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
  organization: OrganizationReadings,
  { takenAt: now, coder: { buildInfo } }: Snapshot,
  poll: PollInterval,
): readonly TransitionGroup[] {
  const { workspaces, jobs, offlineDaemons } = organization;
  if (workspaces === undefined) return [];
  const rows = daemonRows(organization);
  // a server whose version is unknown is not asked for offline daemons
  const isUntold = !isKnownVersion(buildInfo?.version) && (offlineDaemons?.items ?? []).length === 0;
  const building = new Set(jobs.items.map(({ metadata }) => metadata?.workspace_id));
  const readAt = workspaces.takenAt ?? now;
  const { id, templates, activeVersionTags, members } = organization;
  const sources: Sources = {
    id,
    templates,
    activeVersionTags,
    version: buildInfo?.version,
    // who was suspended long ago may be active by now
    members: isUsable(members, now) ? members : undefined,
  };
  return expectedOf(sources, workspaces).map(({ tags, courses, built }) => {
    const isOverdue = courses[0] !== undefined && courses[0][0].at <= now;
    const gate = isOverdue ? gateOf(tags, rows, now) : [];
    const judgeOne: Judge = (transition) =>
      building.has(transition.workspace.id)
        ? { fate: 'made' }
        : judge(transition, { gate, readAt, now, poll, isUntold });
    return {
      ...toGroup(courses, built, judgeOne),
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
type Course = readonly [ExpectedTransition, ...ExpectedTransition[]];

/** What else that depends on. */
type Sources = {
  readonly [Key in 'id' | 'templates' | 'activeVersionTags' | 'members']:
    | OrganizationReadings[Key]
    | undefined;
} & { readonly version: string | undefined };

/** Workspaces are read every few minutes, and looked at every few seconds: what they tell is worked out once. */
const known = new WeakMap<
  Reading<Workspace>,
  { readonly sources: Sources; readonly expected: readonly Expected[] }
>();

/** By tag set, in order of their keys. */
function expectedOf(sources: Sources, workspaces: Reading<Workspace>): readonly Expected[] {
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
    a.members === b.members &&
    a.version === b.version
  );
}

function toExpected(seen: readonly Seen[]): Expected {
  return {
    tags: normalizeTags(seen[0]?.tags ?? {}),
    courses: seen.flatMap(coursesOf).toSorted(([a], [b]) => byTime(a, b)),
    built: seen.flatMap(({ workspace: { latest_build: build } }) =>
      build.created_at != null && AUTOMATIC.has(build.reason ?? '') ? [build.created_at] : [],
    ),
  };
}

function seenByTags(
  { id, templates, activeVersionTags, members, version }: Sources,
  { items: workspaces, takenAt: readAt }: Reading<Workspace>,
): ReadonlyMap<string, readonly Seen[]> {
  const byId = new Map(templates?.items.map((template) => [template.id, template]));
  const owners = new Map(members?.items.map((member) => [member.user_id, member]));
  const seen = workspaces.flatMap((workspace): readonly Seen[] => {
    if (workspace.is_prebuild === true || workspace.organization_id !== id) return [];
    const tags = tagsOf(workspace, activeVersionTags);
    if (tags === undefined) return [];
    const template = byId.get(workspace.template_id);
    const circumstances = { version, readAt, owner: owners.get(workspace.owner_id ?? '') };
    const transitions = transitionsOf(workspace, template, circumstances);
    return [{ workspace, changedAt: template?.updated_at ?? undefined, tags, transitions }];
  });
  return Map.groupBy(seen, ({ tags }) => tagKey(tags));
}

type Seen = Pick<ExpectedTransition, 'workspace' | 'changedAt'> & {
  readonly tags: Tags;
  /** The earliest first. */
  readonly transitions: readonly Transition[];
};

type Judge = (transition: ExpectedTransition) => Judgement;

/** Where the active version could not be read, the last build's tags are the best guess. */
function tagsOf(
  { template_id, latest_build }: Workspace,
  active: OrganizationReadings['activeVersionTags'],
): Tags | undefined {
  return active?.[template_id] ?? latest_build.job.tags ?? undefined;
}

/** Of each course the next one: what coderd refuses keeps nothing else from being seen. */
function toGroup(
  courses: readonly Course[],
  built: readonly EpochMs[],
  judgeOne: Judge,
): Pick<TransitionGroup, 'ahead' | 'refused' | 'presumed' | 'made'> {
  const byFate: Readonly<Record<NextFate, ExpectedTransition[]>> = { ahead: [], presumed: [], made: [] };
  const refused: Refusal[] = [];
  for (const course of courses)
    for (const transition of course) {
      const { fate, refusal } = judgeOne(transition);
      if (refusal !== undefined) refused.push({ transition, ...refusal });
      if (fate === 'put off') continue;
      byFate[fate].push(transition);
      break;
    }
  const { ahead, presumed, made } = byFate;
  return {
    ahead: ahead.toSorted(byTime),
    refused: refused.toSorted(
      by(
        ({ transition }) => transition.at,
        ({ transition }) => transition.workspace.id,
      ),
    ),
    presumed: presumed.toSorted(byTime),
    made: [...built, ...[...made, ...presumed].map(({ at }) => at)],
  };
}

function coursesOf({ workspace, changedAt, transitions }: Seen): readonly Course[] {
  return partition(transitions, ({ kind }) => kind === 'autostart').flatMap((part): readonly Course[] => {
    const [first, ...others] = part.map((transition) => ({ ...transition, workspace, changedAt }));
    return first === undefined ? [] : [[first, ...others]];
  });
}

/** All rows that are known, those of this look before older ones. */
function daemonRows({ daemons, offlineDaemons }: OrganizationReadings): readonly Daemon[] {
  const older = offlineDaemons?.items ?? [];
  return older.length === 0 ? daemons.items : unique([...daemons.items, ...older], ({ id }) => id);
}

/** When coderd saw a daemon that opens the gate for a tag set, which it does for 90 s after its last sign: spans of time, none of which touch. */
type Gate = readonly Span[];
type Span = { readonly from: EpochMs; readonly to: EpochMs };

function gateOf(tags: TagSet, daemons: readonly Daemon[], now: EpochMs): Gate {
  const spans = daemons
    .filter((daemon) => covers(normalizeTags(daemon.tags), tags))
    .map(({ created_at: from, last_seen_at }) => ({
      from,
      to: Math.min(now, (last_seen_at ?? Number.NEGATIVE_INFINITY) + STALE_AFTER_MS) as EpochMs,
    }))
    .filter(({ from, to }) => from < to)
    .toSorted(by(({ from }) => from));
  const gate: { from: EpochMs; to: EpochMs }[] = [];
  for (const span of spans) {
    const last = gate.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to) as EpochMs;
    else gate.push({ ...span });
  }
  return gate;
}

type Seeing = {
  readonly gate: Gate;
  /** When workspaces were read. */
  readonly readAt: EpochMs;
  readonly now: EpochMs;
  /** How often the executor looks. */
  readonly poll: PollInterval;
  /** Whether the gate's past is not known. */
  readonly isUntold: boolean;
};

type Judgement = {
  readonly fate: Fate;
  /** Absent: never refused, as far as is known. */
  readonly refusal?: Omit<Refusal, 'transition'>;
};

/**
 * What became of a transition. coderd refused it whenever the gate was open for two of its polls since it was due under its template as it
 * is, and a later reading of workspaces still shows it. Each refusal puts it off for longer, from the last time that the gate was open.
 */
function judge({ at, changedAt = at }: ExpectedTransition, seeing: Seeing): Judgement {
  const { gate, now, poll, isUntold } = seeing;
  if (at > now) return { fate: 'ahead' };
  const foundAt = (Math.ceil(Math.max(at, changedAt) / MINUTE_MS) * MINUTE_MS) as EpochMs;
  const spans = gate
    .filter(({ to }) => to > foundAt)
    .map(({ from, to }) => ({ from: Math.max(from, foundAt) as EpochMs, to }));
  const tries = triesIn(spans, seeing);
  const last = tries.at(-1);
  if (last === undefined) {
    const isPutOff = isUntold && (now - foundAt) % HOUR_MS >= Math.max(UNTOLD_MS, twicePolledMs(poll.ms));
    return { fate: isPutOff ? 'put off' : fateIn(spans, poll.ms, seeing) };
  }
  const backOffMs = BACK_OFF_MS[tries.length - 1] ?? BACK_OFF_MS[2];
  const refusal = { tries: tries.length, nextTryAt: (last.to + backOffMs) as EpochMs };
  if (now < refusal.nextTryAt) return { fate: 'put off', refusal };
  return { fate: fateIn(spans.slice(spans.indexOf(last) + 1), poll.retryMs, seeing), refusal };
}

/** The spans in which coderd refused: in a later one it is given as long as its interval may be. */
function triesIn(spans: readonly Span[], { poll, readAt }: Seeing): readonly Span[] {
  const tries: Span[] = [];
  for (const span of spans) {
    const pollMs = tries.length === 0 ? poll.ms : poll.retryMs;
    if (openMs(span, readAt) >= twicePolledMs(pollMs)) tries.push(span);
  }
  return tries;
}

/**
 * By how long the gate was open at a time. `presumed`: made, as far as is known, but the workspaces were read before, or coderd is to get
 * another poll. `made`: it had two polls, and workspaces are yet to be read.
 */
function fateIn(spans: readonly Span[], pollMs: number, { readAt, now }: Seeing): NextFate {
  const longestMs = (until: EpochMs): number => Math.max(0, ...spans.map((span) => openMs(span, until)));
  const madeAfterMs = pollMs + INSERTED_MS;
  if (longestMs(now) < madeAfterMs) return 'ahead';
  if (longestMs(now) >= twicePolledMs(pollMs)) return 'made';
  const isOpen = spans.at(-1)?.to === now;
  return isOpen || longestMs(readAt) < madeAfterMs ? 'presumed' : 'ahead';
}

/** What coderd does not do with the gate open for so long, it refuses. */
function twicePolledMs(pollMs: number): number {
  return 2 * pollMs + INSERTED_MS;
}

/** For how long a gate was open in a span, up to a time. */
function openMs({ from, to }: Span, until: EpochMs): number {
  return Math.min(to, until) - from;
}

type NextFate = 'ahead' | 'presumed' | 'made';
type Fate = NextFate | 'put off';

/**
 * The forecast: the transitions that coderd will make by itself, computed from workspaces and
 * templates as coderd's lifecycle executor does. No job announces them. The executor polls once a
 * minute by default. It makes no transition unless it has seen a daemon with the tags of the
 * template's active version (docs/internals/coder.md §10). So without a daemon there is never a job
 * in the queue.
 */
import { AUTOMATIC, byTime, type Transition, transitionsOf } from '../demand/transitions.ts';
import { type EpochMs, type OrganizationId, plusMs } from '../model/brands.ts';
import { by, groupsBy, indexBy, unique } from '../model/collections.ts';
import { memoizedWith } from '../model/memoize-by-object.ts';
import type { Daemon, OrganizationReadings, Reading, Snapshot, Workspace } from '../model/snapshot.ts';
import { covers, normalizeTags, type TagSet, type Tags, tagKey } from '../model/tags.ts';
import { HOUR_MS, MINUTE_MS } from '../model/units.ts';
import { isKnownVersion } from '../model/version.ts';
import { STALE_AFTER_MS } from '../supply/rows/daemons.ts';
import type { PollInterval } from './poll-interval.ts';

/** A transition and its workspace. */
export type ExpectedTransition = Transition & {
  readonly workspace: Workspace;
  /** The last change of its template: it may be due only since then, long after `at`. */
  readonly changedAt?: EpochMs | undefined;
};

/** A transition that coderd could have made and did not. */
export type Refusal = {
  readonly transition: ExpectedTransition;
  /** How many times the gate was open long enough since the transition was due. */
  readonly tries: number;
  /** Until then no pool wakes for the transition. */
  readonly nextTryAt: EpochMs;
};

/** The transitions of one tag set of one organization. The gate opens for all of them together. */
export type TransitionGroup = {
  readonly organizationId: OrganizationId;
  /** The organization's name. */
  readonly organization: string;
  /** The tags of the templates' active version. */
  readonly tags: TagSet;
  /** Transitions that coderd has not made yet, including overdue ones, the earliest first. */
  readonly ahead: readonly ExpectedTransition[];
  /** Refused at least once, the earliest first. If the next try is due, also in `ahead`. */
  readonly refused: readonly Refusal[];
  /** Transitions that coderd has probably made. A daemon stays until a reading confirms it. */
  readonly presumed: readonly ExpectedTransition[];
  /** When coderd made earlier transitions, as far as is known. */
  readonly made: readonly EpochMs[];
};

/** The time from a poll with an open gate until coderd has inserted the job. */
const INSERTED_MS = 15_000;
/** How long no pool wakes for a transition after its first, second and any later refusal. */
const BACK_OFF_MS = [HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS] as const;
/** With an unknown past, it wakes a pool for this time or two polls in each hour. */
const UNKNOWN_GATE_WAKE_MS = 15 * MINUTE_MS;
/** A reading of workspaces that is older than this is no reason to scale to zero. */
const OLD_AFTER_MS = 15 * MINUTE_MS;

/** Derives the forecast, by organization and tag set. `poll`: the poll interval of the executor. */
export function deriveForecast(snapshot: Snapshot, poll: PollInterval): readonly TransitionGroup[] {
  return snapshot.coder.organizations
    .toSorted(by(({ name }) => name))
    .flatMap((organization) => groupsOf(organization, snapshot, poll));
}

/** Whether the forecast may lack transitions, so that the last daemon has to stay. */
export function isForecastUnsure(organization: OrganizationReadings, now: EpochMs): boolean {
  const { workspaces, templates } = organization;
  if (workspaces === undefined) return false;
  return !isUsable(workspaces, now) || !isUsable(templates, now) || emptyWorkspaces(organization) > 0;
}

/** Counts jobs of workspaces if the list of workspaces is empty, which is a contradiction. */
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
  // the adapter does not ask a server of unknown version for offline daemons
  const isGatePastUnknown = !isKnownVersion(buildInfo?.version) && (offlineDaemons?.items ?? []).length === 0;
  const building = new Set(jobs.items.map(({ metadata }) => metadata?.workspace_id));
  const readAt = workspaces.takenAt ?? now;
  const { id, templates, activeVersionTags, members } = organization;
  const sources: Sources = {
    id,
    templates,
    activeVersionTags,
    version: buildInfo?.version,
    // an owner who was suspended long ago may be active by now
    members: isUsable(members, now) ? members : undefined,
  };
  return expectedOf(workspaces, sources).map(({ tags, sequences, built }) => {
    const isOverdue = sequences[0] !== undefined && sequences[0][0].at <= now;
    const gate = isOverdue ? gateOf(tags, rows, now) : [];
    const judgeOne: Judge = (transition) =>
      building.has(transition.workspace.id)
        ? { outcome: 'made' }
        : judge(transition, { gate, readAt, now, poll, isGatePastUnknown });
    return {
      ...toTransitions(sequences, built, judgeOne),
      organizationId: organization.id,
      organization: organization.name,
      tags,
    };
  });
}

/** What a reading of workspaces shows of one tag set, independent of the time. */
type Expected = {
  readonly tags: TagSet;
  /** The sequences, the one with the earliest first transition first. */
  readonly sequences: readonly TransitionSequence[];
  /** When coderd made those latest builds that it made by itself. */
  readonly built: readonly EpochMs[];
};

/** Autostarts of a workspace or its other transitions: pools wake for one or the other. */
type TransitionSequence = readonly [ExpectedTransition, ...ExpectedTransition[]];

/** The other inputs of `Expected`. */
type Sources = {
  readonly [Key in 'id' | 'templates' | 'activeVersionTags' | 'members']:
    | OrganizationReadings[Key]
    | undefined;
} & { readonly version: string | undefined };

/**
 * Derives the expected transitions by tag set, in order of tag keys. Workspaces are read every few
 * minutes but used every few seconds, so the result is cached by the reading.
 */
const expectedOf = memoizedWith((workspaces: Reading<Workspace>, sources: Sources): readonly Expected[] =>
  [...transitionsByTags(sources, workspaces)]
    .toSorted(by(([key]) => key))
    .map(([, seen]) => toExpected(seen)),
);

function toExpected(seen: readonly WorkspaceTransitions[]): Expected {
  return {
    tags: normalizeTags(seen[0]?.tags ?? {}),
    sequences: seen.flatMap(sequencesOf).sort(([a], [b]) => byTime(a, b)),
    built: seen.flatMap(({ workspace: { latest_build: build } }) =>
      build.created_at != null && AUTOMATIC.has(build.reason ?? '') ? [build.created_at] : [],
    ),
  };
}

function transitionsByTags(
  { id, templates, activeVersionTags, members, version }: Sources,
  { items: workspaces, takenAt: readAt }: Reading<Workspace>,
): ReadonlyMap<string, readonly WorkspaceTransitions[]> {
  const active = new Map(Object.entries(activeVersionTags ?? {}));
  const byId = indexBy(templates?.items ?? [], ({ id: template }) => template);
  const owners = indexBy(members?.items ?? [], ({ user_id }) => user_id);
  const seen = workspaces.flatMap((workspace): readonly WorkspaceTransitions[] => {
    if (workspace.is_prebuild === true || workspace.organization_id !== id) return [];
    const tags = tagsOf(workspace, active);
    if (tags === undefined) return [];
    const template = byId.get(workspace.template_id);
    const circumstances = { version, readAt, owner: owners.get(workspace.owner_id ?? '') };
    const transitions = transitionsOf(workspace, template, circumstances);
    return [{ workspace, changedAt: template?.updated_at ?? undefined, tags, transitions }];
  });
  return Map.groupBy(seen, ({ tags }) => tagKey(tags));
}

type WorkspaceTransitions = Pick<ExpectedTransition, 'workspace' | 'changedAt'> & {
  readonly tags: Tags;
  /** The earliest first. */
  readonly transitions: readonly Transition[];
};

type Judge = (transition: ExpectedTransition) => Judgement;

/** If the active version could not be read, the tags of the latest build are the best guess. */
function tagsOf(
  { template_id, latest_build }: Workspace,
  active: ReadonlyMap<string, Tags>,
): Tags | undefined {
  return active.get(template_id) ?? latest_build.job.tags ?? undefined;
}

/** Takes the next one of each sequence. A refused one does not hide the one after it. */
function toTransitions(
  sequences: readonly TransitionSequence[],
  built: readonly EpochMs[],
  judgeOne: Judge,
): Pick<TransitionGroup, 'ahead' | 'refused' | 'presumed' | 'made'> {
  const byOutcome: Readonly<Record<NextOutcome, ExpectedTransition[]>> = {
    ahead: [],
    presumed: [],
    made: [],
  };
  const refused: Refusal[] = [];
  for (const sequence of sequences)
    for (const transition of sequence) {
      const { outcome, refusal } = judgeOne(transition);
      if (refusal !== undefined) refused.push({ transition, ...refusal });
      if (outcome === 'put off') continue;
      byOutcome[outcome].push(transition);
      break;
    }
  const { ahead, presumed, made } = byOutcome;
  return {
    ahead: ahead.sort(byTime),
    refused: refused.toSorted(
      by(
        ({ transition }) => transition.at,
        ({ transition }) => transition.workspace.id,
      ),
    ),
    presumed: presumed.sort(byTime),
    made: [...built, ...[...made, ...presumed].map(({ at }) => at)],
  };
}

function sequencesOf({
  workspace,
  changedAt,
  transitions,
}: WorkspaceTransitions): readonly TransitionSequence[] {
  const expected = transitions.map(
    ({ kind, at, takesJob }): ExpectedTransition => ({ kind, at, takesJob, workspace, changedAt }),
  );
  const [first] = expected;
  // thousands of workspaces have no transition, or one
  if (first === undefined) return [];
  return expected.length === 1 ? [[first]] : groupsBy(expected, ({ kind }) => kind === 'autostart');
}

/** All known rows of daemons, those of this look before older ones. */
function daemonRows({ daemons, offlineDaemons }: OrganizationReadings): readonly Daemon[] {
  const older = offlineDaemons?.items ?? [];
  return older.length === 0 ? daemons.items : unique([...daemons.items, ...older], ({ id }) => id);
}

/** When coderd saw a daemon with these tags: until 90 s after its last heartbeat. */
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

type JudgeInput = {
  readonly gate: Gate;
  /** When workspaces were read. */
  readonly readAt: EpochMs;
  readonly now: EpochMs;
  /** The poll interval of the executor. */
  readonly poll: PollInterval;
  /** Whether it is unknown when the gate was open. */
  readonly isGatePastUnknown: boolean;
};

type Judgement = {
  readonly outcome: Outcome;
  /** Absent: no refusal is known. */
  readonly refusal?: Omit<Refusal, 'transition'>;
};

/**
 * Derives the outcome of a transition. coderd refused it each time that the gate was open for two
 * polls and a later reading of workspaces still shows it. Only time since it was due under the
 * present template counts. Each refusal puts it off for longer, counted from the last time the gate
 * was open.
 */
function judge({ at, changedAt = at }: ExpectedTransition, input: JudgeInput): Judgement {
  const { gate, now, poll, isGatePastUnknown } = input;
  if (at > now) return { outcome: 'ahead' };
  // The executor rounds the time down to the minute (lifecycle_executor.go).
  const foundAt = (Math.ceil(Math.max(at, changedAt) / MINUTE_MS) * MINUTE_MS) as EpochMs;
  const spans = gate
    .filter(({ to }) => to > foundAt)
    .map(({ from, to }) => ({ from: Math.max(from, foundAt) as EpochMs, to }));
  const tries = refusedSpans(spans, input);
  const last = tries.at(-1);
  if (last === undefined) {
    const isPutOff =
      isGatePastUnknown &&
      (now - foundAt) % HOUR_MS >= Math.max(UNKNOWN_GATE_WAKE_MS, twicePolledMs(poll.ms));
    return { outcome: isPutOff ? 'put off' : outcomeOf(spans, poll.ms, input) };
  }
  const backOffMs = BACK_OFF_MS[tries.length - 1] ?? BACK_OFF_MS[2];
  const refusal = { tries: tries.length, nextTryAt: plusMs(last.to, backOffMs) };
  if (now < refusal.nextTryAt) return { outcome: 'put off', refusal };
  return { outcome: outcomeOf(spans.slice(spans.indexOf(last) + 1), poll.retryMs, input), refusal };
}

/** The spans in which coderd refused. After the first, the longest poll interval counts. */
function refusedSpans(spans: readonly Span[], { poll, readAt }: JudgeInput): readonly Span[] {
  const tries: Span[] = [];
  for (const span of spans) {
    const pollMs = tries.length === 0 ? poll.ms : poll.retryMs;
    if (openMs(span, readAt) >= twicePolledMs(pollMs)) tries.push(span);
  }
  return tries;
}

/**
 * Derives the outcome from the longest span of an open gate. `presumed`: coderd has probably made
 * the transition, but the workspaces were read before, or coderd may need one more poll. `made`:
 * coderd had two polls, and the workspaces have not been read since.
 */
function outcomeOf(spans: readonly Span[], pollMs: number, { readAt, now }: JudgeInput): NextOutcome {
  const longestMs = (until: EpochMs): number => Math.max(0, ...spans.map((span) => openMs(span, until)));
  const madeAfterMs = pollMs + INSERTED_MS;
  if (longestMs(now) < madeAfterMs) return 'ahead';
  if (longestMs(now) >= twicePolledMs(pollMs)) return 'made';
  const isOpen = spans.at(-1)?.to === now;
  return isOpen || longestMs(readAt) < madeAfterMs ? 'presumed' : 'ahead';
}

/** If coderd does not make a transition while the gate is open for this long, it refuses it. */
function twicePolledMs(pollMs: number): number {
  return 2 * pollMs + INSERTED_MS;
}

/** How long a gate was open in a span, up to a time. */
function openMs({ from, to }: Span, until: EpochMs): number {
  return Math.min(to, until) - from;
}

type NextOutcome = 'ahead' | 'presumed' | 'made';
type Outcome = NextOutcome | 'put off';

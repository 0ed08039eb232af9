/**
 * Learns from the builds of the last days which rule for free daemons is cheapest for each set of
 * pools, a part of the work after each look. What it knows may be lost at any time: then it learns
 * again from the builds that the looks still see.
 */
import { unforeseenIn } from '../../decision/demand/record.ts';
import type { EpochMs, OrganizationId } from '../../decision/model/brands.ts';
import { by, partition, percentile } from '../../decision/model/collections.ts';
import type {
  Job,
  LearnedStock,
  OrganizationReadings,
  Snapshot,
  StockChoice,
} from '../../decision/model/snapshot.ts';
import { normalizeTags, type TagSet, tagKey } from '../../decision/model/tags.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../decision/model/units.ts';
import { type BuildsIn, Learning } from '../../decision/stock/learning.ts';
import {
  coarseRulesFor,
  isRule,
  type ReplayedBuild,
  type ReplayedPools,
  rulesFor,
  UNKNOWN_RULE,
} from '../../decision/stock/replay.ts';
import type { StockSet } from '../../decision/stock/stock-groups.ts';
import { MOST_BUILDS, type StockRecord, withNewestBuilds } from './kept-record.ts';

/** A build is learned when it is this old: then its duration is known, or it is a long one. */
const SETTLED_MS = 5 * MINUTE_MS;
const RECORD_EVERY_MS = 3 * MINUTE_MS;
/** The clocks of coderd's servers may differ by so much. */
const CLOCK_SKEW_MS = MINUTE_MS;
const KEPT_MS = 7 * DAY_MS;
/** A set of pools that no look has seen for so long is forgotten. */
const FORGET_MS = DAY_MS;
/** If the clock steps back by more, everything is learned again. */
const STEP_BACK_MS = HOUR_MS;
/** Replayed builds of one look, over all rules: about 90 ms, until all builds are replayed. */
const STEPS_A_LOOK = 120_000;
/** A learned start time that differs by more than this share starts the replays again. */
const SAME_START = 0.2;
const UNKNOWN_BUILD_MS = MINUTE_MS;
/** So many builds of a tag set say how long its builds take. */
const NEWEST_DURATIONS = 30;
/** A build that took less ended before it began, by another clock. */
const NO_TIME_MS = 1_000;

/** `isGuess`: how long it takes is not known yet, or no look has seen it. It says nothing of other builds. */
type LoggedBuild = ReplayedBuild & { readonly isGuess?: true };

/** The builds of one tag set of an organization, the oldest first. */
type BuildLog = {
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  readonly builds: LoggedBuild[];
};

/** What is known of a set of pools. */
type KnownSet = {
  /** With all rules. Undefined: no build is known. */
  readonly learning: Learning | undefined;
  /** With few rules, until there is a choice. */
  readonly coarse?: Learning | undefined;
  /** Undefined: the builds have not been replayed yet. */
  readonly choice: StockChoice | undefined;
  readonly seenAt: number;
};

export class StockLearner {
  /** Keyed by organization and tag key. */
  readonly #logs = new Map<string, BuildLog>();
  /** The builds of an organization up to this time are in its logs. */
  readonly #upTo = new Map<OrganizationId, number>();
  /** The builds since then, up to a time. The process may end before it learns them. */
  readonly #recent = new Map<OrganizationId, { readonly upTo: number; readonly jobs: readonly Job[] }>();
  readonly #sets = new Map<string, KnownSet>();
  /** Whose builds a record had. */
  readonly #restored = new Set<OrganizationId>();
  /** Whose builds are learned again at the next look. */
  readonly #outdated = new Set<OrganizationId>();
  #lastLook: number | undefined;

  /** Undefined: this process has not learned anything yet. */
  learned(): LearnedStock | undefined {
    if (this.#lastLook === undefined) return undefined;
    return {
      tagSets: [...this.#logs.values()].map(({ organizationId, tags, builds }) => ({
        organizationId,
        tags,
        lastBuildAt: builds.at(-1)?.at as EpochMs | undefined,
        durationsMs: durationsOf(builds),
      })),
      choices: [...this.#sets.values()].flatMap(({ choice }) => choice ?? []),
    };
  }

  /** What a new process needs to go on from here. Undefined: no build is known, or the next look knows more. */
  save(): StockRecord | undefined {
    if (this.#outdated.size > 0) return undefined;
    const logs = Map.groupBy(this.#withRecent().values(), ({ organizationId }) => organizationId);
    if (logs.size === 0) return undefined;
    return {
      organizations: [...logs].map(([id, own]) => ({
        ...{ id, upTo: this.#recent.get(id)?.upTo ?? this.#upTo.get(id) ?? 0 },
        logs: own.map(({ tags, builds }) => ({ tags, builds })),
      })),
      choices: [...this.#sets.values()]
        .flatMap(({ choice, seenAt }) =>
          choice === undefined || choice.builds === 0 ? [] : { ...choice, seenAt },
        )
        // if not all fit, those of pools that are gone are left out
        .sort(by(({ seenAt }) => -seenAt)),
    };
  }

  /** A build that still runs, or whose end no look has seen, counts with the usual time. */
  #withRecent(): ReadonlyMap<string, BuildLog> {
    const logs = new Map(this.#logs);
    for (const [id, { jobs }] of this.#recent)
      for (const job of jobs) {
        const [key, log] = logOf(logs, id, job);
        const build = { at: job.created_at, tookMs: tookMsOf(job) ?? usualMs(log.builds) };
        logs.set(key, { ...log, builds: [...log.builds, build] });
      }
    return logs;
  }

  /**
   * Goes on from the record of another process. This process may have learned already: it keeps the
   * builds that are newer than the record. The record may be anybody's: a choice counts if it is one
   * of the rules, and no more builds than a record holds. `now`: coderd's clock.
   */
  load(record: StockRecord, now: number): void {
    let isNew = this.#lastLook === undefined;
    for (const { id, upTo: savedTo, logs } of withNewestBuilds(record)) {
      this.#restored.add(id);
      this.#outdated.delete(id);
      const upTo = Math.min(savedTo, now);
      for (const { tags, builds } of logs) {
        const key = `${id} ${tagKey(tags)}`;
        const own = this.#logs.get(key)?.builds ?? [];
        const newer = own.filter(({ at }) => at > upTo);
        const known = [...builds.filter(({ at }) => at <= upTo && at > now - KEPT_MS), ...newer];
        if (known.length === 0 || isSame(known, own)) continue;
        this.#logs.set(key, { organizationId: id, tags, builds: known });
        isNew = true;
      }
      this.#upTo.set(id, Math.max(this.#upTo.get(id) ?? upTo, upTo));
    }
    // another process has seen the same builds: its choices are ours
    if (!isNew) return;
    for (const [name, known] of this.#sets) this.#sets.set(name, { ...known, learning: undefined });
    for (const { seenAt = now, stays: _, ...choice } of record.choices.filter(({ rule }) => isRule(rule)))
      this.#sets.set(nameOf(choice), { choice, learning: undefined, seenAt: Math.min(seenAt, now) });
    this.#lastLook ??= now;
  }

  isRestored(organization: OrganizationId): boolean {
    return this.#restored.has(organization);
  }

  /** The next look learns all builds of an organization again: it sees earlier ones. A record knows more. */
  startAgain(organization: OrganizationId): void {
    if (!this.isRestored(organization)) this.#outdated.add(organization);
  }

  /** `steps`: how many builds to replay at most, over all rules. */
  learn(sets: readonly StockSet[], { coder, takenAt }: Snapshot, steps = STEPS_A_LOOK): void {
    if (takenAt < (this.#lastLook ?? takenAt) - STEP_BACK_MS) this.#forget();
    this.#lastLook = takenAt;
    for (const organization of coder.organizations) this.#record(organization, takenAt);
    let left = steps;
    for (const set of sets) left = this.#learnCoarsely(set, left);
    for (const set of sets) left = this.#learnSet(set, takenAt, left);
    for (const [name, { seenAt }] of this.#sets) if (seenAt < takenAt - FORGET_MS) this.#sets.delete(name);
  }

  #forget(): void {
    this.#logs.clear();
    this.#upTo.clear();
    this.#recent.clear();
    this.#sets.clear();
  }

  /** The choices stay until the builds have been replayed. */
  #forgetBuilds(id: OrganizationId): void {
    this.#upTo.delete(id);
    for (const [key, { organizationId }] of this.#logs) if (organizationId === id) this.#logs.delete(key);
    for (const [name, { choice, seenAt }] of this.#sets)
      this.#sets.set(name, { choice, learning: undefined, seenAt });
  }

  /** Keeps the unforeseen builds that are new and old enough. */
  #record(organization: OrganizationReadings, now: number): void {
    const { id, jobs: listed, recentJobs, workspaces } = organization;
    // then nobody knows which builds coderd made by itself
    if (workspaces?.status === 'failed' || workspaces?.status === 'stale') return;
    if (this.#outdated.delete(id)) this.#forgetBuilds(id);
    const settledAt = now - SETTLED_MS;
    const before = this.#upTo.get(id) ?? settledAt - KEPT_MS;
    const isUnforeseen = unforeseenIn(organization);
    const isNew = (job: Job) => job.created_at > before && isUnforeseen(job);
    const jobs = recentJobs?.items.filter(isNew).sort((a, b) => a.created_at - b.created_at) ?? [];
    const knownTo = Math.max(before, Math.min(now - CLOCK_SKEW_MS, workspaces?.takenAt ?? now));
    const upTo = settledAt - before < RECORD_EVERY_MS ? before : settledAt;
    const [settled, recent] = partition(jobs.filter(upToTime(knownTo)), upToTime(upTo));
    if (listed.status === 'ok') this.#recent.set(id, { upTo: knownTo, jobs: recent });
    if (upTo === before) return;
    this.#upTo.set(id, upTo);
    const open = new Set(listed.items.map((job) => job.id));
    for (const job of settled) {
      const [key, log] = logOf(this.#logs, id, job);
      this.#logs.set(key, log);
      const isOpen = open.has(job.id);
      const tookMs = isOpen ? atLeastMs(job, now) : tookMsOf(job);
      const isGuess = isOpen || tookMs === undefined;
      const build = { at: job.created_at, tookMs: tookMs ?? usualMs(log.builds) };
      log.builds.push(isGuess ? { ...build, isGuess } : build);
    }
    this.#dropOldBuilds(id, settledAt - KEPT_MS);
  }

  #dropOldBuilds(id: OrganizationId, before: number): void {
    for (const [key, { organizationId, builds }] of this.#logs) {
      if (organizationId !== id) continue;
      const first = builds.findIndex(({ at }) => at > before);
      builds.splice(0, Math.max(first < 0 ? builds.length : first, builds.length - MOST_BUILDS));
      if (builds.length === 0) this.#logs.delete(key);
    }
  }

  /** Plays few rules for a set without a choice, so that every set soon has one. Returns the steps that are left. */
  #learnCoarsely(set: StockSet, steps: number): number {
    const known = this.#sets.get(nameOf(set));
    const upTo = this.#upTo.get(set.organizationId);
    if (known?.choice !== undefined || upTo === undefined || steps <= 0) return steps;
    const logs = this.#logsOf(set);
    const coarse = isAlike(known?.coarse, set) ? known?.coarse : start(set.replayed, logs, coarseRulesFor);
    const left = coarse?.learn(buildsOf(logs), upTo, steps) ?? steps;
    const choice = coarse?.isUpTo(upTo) === true ? choiceOf(set, coarse) : undefined;
    this.#sets.set(nameOf(set), { learning: known?.learning, choice, coarse, seenAt: this.#lastLook ?? 0 });
    return left;
  }

  #logsOf({ organizationId, tagSets }: StockSet): readonly BuildLog[] {
    return tagSets.flatMap((tags) => this.#logs.get(`${organizationId} ${tagKey(tags)}`) ?? []);
  }

  /** Returns the steps that are left. */
  #learnSet(set: StockSet, now: number, steps: number): number {
    const name = nameOf(set);
    const known = this.#sets.get(name);
    const upTo = this.#upTo.get(set.organizationId);
    if (upTo === undefined || steps <= 0) {
      if (known !== undefined) this.#sets.set(name, { ...known, seenAt: now });
      return steps;
    }
    const logs = this.#logsOf(set);
    const startMs = set.isStartSeen ? set.replayed.startMs : known?.choice?.startMs;
    const replayed = { ...set.replayed, startMs: startMs ?? set.replayed.startMs };
    const learning = isAlike(known?.learning, set) ? known?.learning : start(replayed, logs);
    const left = learning?.learn(buildsOf(logs), upTo, steps) ?? steps;
    const choice = learning?.isUpTo(upTo) === false ? known?.choice : choiceOf(set, learning);
    this.#sets.set(name, { learning, choice: choice && { ...choice, startMs }, seenAt: now });
    return left;
  }
}

function isSame(a: readonly ReplayedBuild[], b: readonly ReplayedBuild[]): boolean {
  return a.length === b.length && a.every(({ at }, index) => at === b[index]?.at);
}

function logOf(
  logs: ReadonlyMap<string, BuildLog>,
  organizationId: OrganizationId,
  { tags }: Job,
): readonly [string, BuildLog] {
  const key = `${organizationId} ${tagKey(tags)}`;
  return [key, logs.get(key) ?? { organizationId, tags: normalizeTags(tags), builds: [] }];
}

const upToTime =
  (time: number) =>
  ({ created_at }: Job): boolean =>
    created_at <= time;

function nameOf({ organizationId, pools }: Pick<StockSet, 'organizationId' | 'pools'>): string {
  return `${organizationId} ${pools.join(' ')}`;
}

function buildsOf(logs: readonly BuildLog[]): BuildsIn {
  return (from, to) =>
    logs
      .flatMap(({ builds }) => builds.filter(({ at }) => at >= from && at < to))
      .sort((a, b) => a.at - b.at);
}

function choiceOf({ organizationId, pools }: StockSet, learning: Learning | undefined): StockChoice {
  if (learning === undefined) return { organizationId, pools, ...NOTHING_KNOWN };
  const { rule, cost, others } = learning.chosen;
  const { waitingNow, stays } = learning;
  return { organizationId, pools, rule, ...learning.seen, ...cost, waitingNow, stays, others };
}

const NOTHING_KNOWN = { rule: UNKNOWN_RULE, builds: 0, hours: 0, tasks: 0, waiting: 0, others: [] };

/** Undefined: no build is known, so there is nothing to learn. */
function start(replayed: ReplayedPools, logs: readonly BuildLog[], rulesOf = rulesFor): Learning | undefined {
  const first = Math.min(...logs.map(({ builds }) => builds[0]?.at ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(first) ? new Learning(replayed, first, rulesOf(replayed.most)) : undefined;
}

/** A start time that was seen differs little from one look to the next; the configured one may be far off. */
function isAlike(learning: Learning | undefined, { replayed: b, isStartSeen }: StockSet): boolean {
  if (learning === undefined) return false;
  const { pools: a } = learning;
  return (
    (!isStartSeen || Math.abs(a.startMs - b.startMs) <= SAME_START * a.startMs) &&
    a.taskPrice === b.taskPrice &&
    a.launchPrice === b.launchPrice &&
    a.waitPrice === b.waitPrice &&
    a.most === b.most
  );
}

/** A build that still runs takes at least as long again. Undefined: it has not started. */
function atLeastMs({ started_at: startedAt }: Job, now: number): number | undefined {
  return startedAt == null ? undefined : Math.max(1, 2 * (now - startedAt));
}

/** Undefined: no look has seen when it ended, because its daemon took the next job or left between two looks. */
function tookMsOf({ started_at: startedAt, completed_at: endedAt }: Job): number | undefined {
  return startedAt == null || endedAt == null ? undefined : Math.max(1, endedAt - startedAt);
}

function usualMs(builds: readonly LoggedBuild[]): number {
  return percentile(durationsOf(builds), 0.5, UNKNOWN_BUILD_MS);
}

/** How long the newest builds took, the shortest first. */
function durationsOf(builds: readonly LoggedBuild[]): readonly number[] {
  return builds
    .slice(-NEWEST_DURATIONS)
    .filter(({ isGuess }) => isGuess === undefined)
    .map(({ tookMs }) => tookMs)
    .filter((tookMs) => tookMs > NO_TIME_MS)
    .sort((a, b) => a - b);
}

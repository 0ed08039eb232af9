/**
 * The pending jobs that coderd will fail because no daemon takes them in time (docs/internals/coder.md §5), and
 * how many tasks of their pool would serve all. Played from the jobs in the order in which coderd hands them out,
 * from when daemons are free, and from how long builds take. Jobs that come later are not known.
 */
import type { Assigned } from '../assign/assignment.ts';
import { distinctJobs, failsAt, isLeft, REAPED_AFTER_MS, type TagGroup } from '../demand/demand.ts';
import { MIN_SAMPLES } from '../demand/ending.ts';
import { IN_TIME_MS, UNKNOWN_BUILD_MS } from '../demand/patience.ts';
import type { PoolDecision } from '../drain/decide-pool.ts';
import { type Server, serversIn } from '../drain/servers.ts';
import { type EpochMs, type PoolName, poolOfPart } from '../model/brands.ts';
import { by, groupsBy, percentile, sum } from '../model/collections.ts';
import { memoized } from '../model/memoize-by-object.ts';
import {
  type Doubt,
  type Finding,
  IS_MOVABLE,
  LIMITS,
  type Limit,
  type MovableLimit,
  type Reason,
} from '../model/plan.ts';
import type { Job, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { covers, displayTags, type TagSet, tagKey } from '../model/tags.ts';
import { MINUTE_MS } from '../model/units.ts';
import { priceOf } from '../settings/prices.ts';
import type { ForeignIn } from '../supply/rows/unlisted-daemons.ts';
import type { PoolView } from '../supply/supply.ts';

/** How coderd gives jobs up: those that have waited for longer, at most so many a minute. */
type GivingUp = { readonly afterMs: number; readonly aMinute: number };

/** The reaper of one replica. It runs once a minute, so a job waits half a minute longer on average. */
const REAPER: GivingUp = { afterMs: REAPED_AFTER_MS + MINUTE_MS / 2, aMinute: 10 };
/** The rest of the half hour is for a person, who has to deploy, and for builds that take longer. */
const IN_TIME: GivingUp = { afterMs: IN_TIME_MS, aMinute: Number.POSITIVE_INFINITY };

export type Reported = {
  /** The jobs by what will run them. */
  readonly assigned: readonly Assigned<TagGroup>[];
  readonly decisions: readonly PoolDecision[];
  readonly foreignIn: ForeignIn;
  /** The reasons of each pool, or part of one. */
  readonly reasons: ReadonlyMap<PoolName, readonly Reason[]>;
  readonly snapshot: Snapshot;
};

/** Derives a finding for each tag group of which coderd will fail jobs. */
export function failingJobs(reported: Reported): readonly Finding[] {
  const { assigned, snapshot } = reported;
  const byGroup = Map.groupBy(
    assigned.filter(({ group }) => !isLeft(group)),
    ({ group }) => group,
  );
  const groups = [...byGroup.keys()];
  const [first] = groups;
  if (first === undefined || failsAt(0 as EpochMs, snapshot) === null) return [];
  const lines = groups.map((group) => lineOf(group, snapshot));
  const daemons = snapshot.coder.organizations.flatMap((organization) =>
    daemonsOf(organization, lines, reported),
  );
  const played: Played = { lines, daemons, now: snapshot.takenAt };
  const lost = [...giveUp(played, REAPER)].filter(([{ group }]) => !areDaemonsUnread(group, reported));
  return lost.map(([line, jobs]) => {
    const { group } = line;
    const pool = poolFor(byGroup.get(group) ?? []);
    const alike = lost
      .map(([each]) => each)
      .filter((each) => pool !== null && isOfPool(each, pool, reported));
    return {
      ...{ code: 'jobs-about-to-fail', organization: group.organization, tags: displayTags(group.tags) },
      ...{ jobs, of: group.jobs, failsAt: failsAt(line.createdAt[0] ?? snapshot.takenAt, snapshot) ?? '' },
      pool: pool && poolOfPart(pool),
      ...remedyOf(pool, alike, played, reported),
      assumedMs: group.tookMs === undefined ? line.tookMs : null,
    };
  });
}

/** The jobs of a tag group, the oldest first. */
type Line = {
  readonly group: TagGroup;
  readonly createdAt: readonly EpochMs[];
  /** How long one of these builds takes on average, in milliseconds. */
  readonly tookMs: number;
};

/** How long the build takes that is the `index`th to start: short and long ones come evenly. */
function tookMsOf({ group: { durationsMs }, tookMs }: Line, index: number): number {
  return durationsMs[Math.floor(((index * GOLDEN) % 1) * durationsMs.length)] ?? tookMs;
}

/** Its multiples, without their whole parts, fill the range from 0 to 1 evenly. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

function lineOf(group: TagGroup, { coder, takenAt }: Snapshot): Line {
  const { createdAt, tookMs } = group;
  const organization = coder.organizations.find(({ id }) => id === group.organizationId);
  return { group, createdAt, tookMs: tookMs ?? assumedMs(group.tags, organization, takenAt) };
}

/**
 * How long builds of unknown length take, in milliseconds: as long as from one job of a daemon to its next, since
 * no list has the end of the first if the second came at once. Else as those that run have taken until now.
 */
function assumedMs(tags: TagSet, organization: OrganizationReadings | undefined, now: EpochMs): number {
  const alike = (organization && takenIn(organization).get(tagKey(tags))) ?? [];
  if (alike.length === 0) return UNKNOWN_BUILD_MS;
  const startedAt = ({ job }: Taken): number => job.started_at ?? now;
  const seen = groupsBy(alike, ({ job }) => job.worker_id).flatMap((own) => {
    const starts = own.map(startedAt).toSorted((a, b) => a - b);
    return starts.slice(1).map((start, index) => start - (starts[index] ?? start));
  });
  const ages = alike.filter(({ isOpen }) => isOpen).map((taken) => now - startedAt(taken));
  const median = (times: readonly number[]): number =>
    percentile(
      times.toSorted((a, b) => a - b),
      0.5,
    );
  return seen.length >= MIN_SAMPLES ? median(seen) : Math.max(UNKNOWN_BUILD_MS, median(ages));
}

/** A job that a daemon has taken, and whether it is in the list of those that have not ended. */
type Taken = { readonly job: Job; readonly isOpen: boolean };

/** By tags. */
const takenIn = memoized(
  ({ jobs, recentJobs }: OrganizationReadings): ReadonlyMap<string, readonly Taken[]> => {
    const known = distinctJobs(jobs);
    const isTaken = ({ worker_id }: Job): boolean => worker_id != null;
    const open = [...known.values()].filter(isTaken);
    const recent = recentJobs === undefined ? [] : [...distinctJobs(recentJobs).values()];
    const ended = recent.filter((job) => isTaken(job) && !known.has(job.id));
    const taken = [
      ...open.map((job) => ({ job, isOpen: true })),
      ...ended.map((job) => ({ job, isOpen: false })),
    ];
    return Map.groupBy(taken, ({ job }) => tagKey(job.tags));
  },
);

function meanTook(lines: readonly Line[]): number {
  const jobs = sum(lines, ({ group }) => group.jobs);
  return jobs === 0 ? 0 : sum(lines, ({ group, tookMs }) => group.jobs * tookMs) / jobs;
}

/** A daemon, and in how many milliseconds it is free. */
type FreeAt = {
  /** The jobs that it can run. Daemons with the same tags share the array. */
  readonly able: readonly Line[];
  readonly freeMs: number;
};

function linesOf({ id }: OrganizationReadings, lines: readonly Line[]): readonly Line[] {
  return lines.filter(({ group }) => group.organizationId === id);
}

/** A busy daemon of which nothing is known has half a build before it. */
function daemonsOf(
  organization: OrganizationReadings,
  lines: readonly Line[],
  { decisions: pools, foreignIn, snapshot }: Reported,
): readonly FreeAt[] {
  const own = linesOf(organization, lines);
  const tookMs = meanTook(own);
  const freeMs = ({ kind, free: { p50 } }: Server['state']): number =>
    p50 === Number.POSITIVE_INFINITY && kind === 'busy' ? tookMs / 2 : p50;
  const servers = serversIn({ organization, pools, foreignIn, snapshot });
  return groupsBy(servers, ({ tags }) => tagKey(tags))
    .flatMap((alike) => {
      const [{ tags }] = alike;
      const able = own.filter(({ group }) => covers(tags, group.tags));
      return alike.map(({ state }) => ({ key: tagKey(tags), able, freeMs: freeMs(state) }));
    })
    .toSorted(by('freeMs', 'key'));
}

type Played = { readonly lines: readonly Line[]; readonly daemons: readonly FreeAt[]; readonly now: EpochMs };

/**
 * Lets minutes pass until no job waits. In each one, every daemon that is free takes the first job that it can
 * run, and coderd gives jobs up. Returns how many of each line it gave up, without lines of which it gave up none.
 */
function giveUp({ lines, daemons, now }: Played, { afterMs, aMinute }: GivingUp): ReadonlyMap<Line, number> {
  const queues = new Map(
    lines.map((line) => {
      const rank = line.group.for === 'prebuilds' ? 1 : 0;
      return [line, { line, rank, next: 0, old: 0, lost: 0 }];
    }),
  );
  const queuesOf = memoized((able: readonly Line[]) => able.flatMap((line) => queues.get(line) ?? []));
  const workers = daemons.map(({ able, freeMs }) => ({ able: queuesOf(able), freeMs }));
  for (let [ms, open] = [0, [...queues.values()]]; open.length > 0; ms += MINUTE_MS) {
    for (const worker of workers) while (worker.freeMs <= ms) worker.freeMs += takeFirst(worker.able);
    for (const queue of open) grow(queue, now + ms - afterMs);
    const all = sum(open, dueIn);
    const most = Math.min(all, aMinute);
    // coderd picks at random: each queue loses its share
    let before = 0;
    for (const queue of all === 0 ? [] : open) {
      const upTo = before + dueIn(queue);
      const lost = Math.floor((most * upTo) / all) - Math.floor((most * before) / all);
      queue.next += lost;
      queue.lost += lost;
      before = upTo;
    }
    open = open.filter((queue) => headOf(queue) !== undefined);
  }
  return new Map([...queues.values()].filter(({ lost }) => lost > 0).map(({ line, lost }) => [line, lost]));
}

/** A line while it is played. coderd hands out prebuilds after others: a higher rank. */
type Queue = {
  readonly line: Line;
  readonly rank: number;
  /** The index of the first job that waits. */
  next: number;
  /** How many jobs were submitted so long ago that coderd gives them up. Some of them have started. */
  old: number;
  lost: number;
};

/** Takes the first job that waits, and returns how long it runs: for ever without one, since no job comes later. */
function takeFirst(able: readonly Queue[]): number {
  const queue = firstOf(able);
  if (queue === undefined) return Number.POSITIVE_INFINITY;
  queue.next += 1;
  return tookMsOf(queue.line, queue.next - 1);
}

/** Counts the jobs that were submitted by then as old. */
function grow(queue: Queue, until: number): void {
  const { createdAt } = queue.line;
  while ((createdAt[queue.old] ?? Number.POSITIVE_INFINITY) <= until) queue.old += 1;
}

function dueIn({ old, next }: Queue): number {
  return Math.max(0, old - next);
}

/** When the first job was submitted that still waits; undefined: none does. */
function headOf({ line, next }: Queue): number | undefined {
  return line.createdAt[next];
}

/** The queue whose job coderd hands out first. */
function firstOf(queues: readonly Queue[]): Queue | undefined {
  return queues.reduce<Queue | undefined>((first, queue) => {
    const head = headOf(queue);
    if (head === undefined) return first;
    if (first === undefined || queue.rank < first.rank) return queue;
    return queue.rank === first.rank && head < (headOf(first) ?? 0) ? queue : first;
  }, undefined);
}

/** Without these lists a pool seems to have no daemon, or none that takes jobs. */
const UNREAD: ReadonlySet<Doubt> = new Set<Doubt>(
  (['services', 'tasks', 'protections', 'daemons'] as const).flatMap((name) =>
    (['failed', 'forbidden', 'stale'] as const).map((status) => `${name}-${status}` as const),
  ),
);

function areDaemonsUnread(group: TagGroup, { decisions }: Reported): boolean {
  return decisions.some(({ doubts, mode, need: { view } }) => {
    if (view.organization?.id !== group.organizationId || !covers(view.tags, group.tags)) return false;
    const isLeftOut = mode === 'no-service' && doubts.includes('services-truncated');
    return isLeftOut || doubts.some((doubt) => UNREAD.has(doubt));
  });
}

/** The pool whose room the jobs wait for, else the first that serves some. */
function poolFor(rows: readonly Assigned<TagGroup>[]): PoolName | null {
  const waiting = rows.find(({ offer }) => offer.served === 'when-there-is-room');
  return waiting?.offer.pool ?? rows.flatMap(({ offer }) => offer.pool ?? [])[0] ?? null;
}

function isOfPool({ group }: Line, pool: PoolName, { decisions }: Reported): boolean {
  const view = decisions.find(({ need }) => need.view.pool.name === pool)?.need.view;
  return view?.organization?.id === group.organizationId && covers(view.tags, group.tags);
}

type Remedy = { readonly limits: readonly Limit[]; readonly tasks: number | null };

/** What limits the pool, and with how many tasks it would serve all of these jobs. */
function remedyOf(
  pool: PoolName | null,
  alike: readonly Line[],
  played: Played,
  { decisions, reasons }: Reported,
): Remedy {
  const decision = decisions.find(({ need }) => need.view.pool.name === pool);
  const codes = new Set<string>(reasons.get(pool ?? ('' as PoolName))?.map(({ code }) => code));
  const limits = LIMITS.filter((code) => codes.has(code));
  if (decision === undefined || limits.length === 0 || !limits.every((limit) => IS_MOVABLE[limit]))
    return { limits, tasks: null };
  const { view, capacity, tasks: needed, held } = decision.need;
  if (areUseless(view)) return { limits: [], tasks: null };
  const more = moreTasks(decision, alike, played);
  if (more === null) return { limits, tasks: null };
  const max = view.share?.max ?? view.pool.max;
  // tasks that have just left do not count against `max`
  const tasks =
    needed.granted - Math.min(view.pool.max, capacity.justLeft) + (view.share?.elsewhere ?? 0) + more;
  const reached: Readonly<Partial<Record<Limit, boolean>>> = {
    'capped-at-max': tasks > max,
    'capped-at-max-tasks': more > held.rest.launches,
    'capped-at-dollars-per-hour': more * priceOf(view.pool) > held.rest.budget,
  } satisfies Record<MovableLimit, boolean>;
  return { limits: LIMITS.filter((limit) => codes.has(limit) || reached[limit]), tasks };
}

/** Whether half of the pool's tasks take none of its jobs: their daemons have other tags, or do not register. */
function areUseless({ tasks }: PoolView): boolean {
  const useless = tasks.filter(({ hasOtherTags, isLate }) => hasOtherTags || isLate).length;
  return useless > 0 && useless * 2 >= tasks.length;
}

/** These lines, and those that take daemons from them: a daemon can run both, or each can run one between them. */
function linesBeside(lines: readonly Line[], { daemons }: Played): ReadonlySet<Line> {
  const found = new Set(lines);
  const shared = new Set(daemons.map(({ able }) => able));
  for (const line of found)
    for (const able of shared)
      if (able.includes(line)) {
        for (const other of able) found.add(other);
        shared.delete(able);
      }
  return found;
}

/** The least number of further tasks with which all these jobs start in time; null: none does. */
function moreTasks({ need: { view } }: PoolDecision, lines: readonly Line[], played: Played): number | null {
  const { organization, tags, startTime } = view;
  if (organization === undefined) return null;
  const able = linesOf(organization, played.lines).filter(({ group }) => covers(tags, group.tags));
  const task = { able, freeMs: startTime.p95Ms };
  const concerned = linesBeside([...lines, ...task.able], played);
  const own = {
    lines: played.lines.filter((line) => concerned.has(line)),
    // all lines of a daemon are concerned, or none
    daemons: played.daemons.filter(({ able: [line] }) => line !== undefined && concerned.has(line)),
  };
  const areServed = (tasks: number): boolean => {
    const daemons = [...own.daemons, ...Array<FreeAt>(tasks).fill(task)];
    const lost = giveUp({ ...played, ...own, daemons }, IN_TIME);
    return !lines.some((line) => lost.has(line));
  };
  let [low, high] = [0, sum(lines, ({ group }) => group.jobs)];
  if (!areServed(high)) return null;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (areServed(middle)) high = middle;
    else low = middle;
  }
  return high;
}

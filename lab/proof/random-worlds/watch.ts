/** Counts, look by look, what a world must not do even if no build is killed: see `WATCHED`. */
import { PREBUILDS_USER } from '../../../lambda/decision/demand/record.ts';
import { type EpochMs, type JobId, plusMs, poolOfPart } from '../../../lambda/decision/model/brands.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { Finding, Floor, PoolPlan } from '../../../lambda/decision/model/plan.ts';
import { MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { POLL_MS } from '../../../lambda/decision/supply/rows/daemons.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { EcsTask } from '../../world/ecs/task.ts';
import { closedPools, unreadJobs } from './closed-pools.ts';
import { Limits, maxOf, replacedBy } from './limits.ts';
import { needsFault } from './needs-fault.ts';
import { type PoolTasks, tasksByPool } from './tasks-by-pool.ts';
import type { FleetPool } from './world/fleet.ts';
import { TASK_DOLLARS } from './world/plan.ts';
import type { WorldEvents } from './world/world-events.ts';

/** What is watched, with the labels of the table. */
export const WATCHED = {
  /** Without the tasks that the world began with. */
  launches: 'launches',
  /** Tasks that have stopped and never got a job. */
  idleLaunches: '… that served nothing',
  /** A raise above max(`max`, the count before the look) plus the tasks that are leaving or replaced. */
  countsAboveMax: 'desired counts raised above max',
  /** Looks at which more tasks than `max` have neither left nor got a drain request. */
  tasksAboveMax: 'pools with more tasks than max, in looks',
  tasksAboveMaxTasks: 'looks with more tasks than maxTasks',
  /** Until they are within it again: a look cannot count tasks that no list shows, and scale-in may be on hold. */
  aboveMaxTasksHidden: '… launched while a service was hidden, in looks',
  /** Within `FLAP_MS`, and no task of the pool got a job. */
  floorFlaps: 'floors that launched, and were lowered within five minutes without a job',
  /** In worlds whose processes live for longer than a minute: they remember. */
  repeatedRefusals: 'requests of one process refused twice for one task within a minute',
  falseContested: 'looks with count-contested without others that change the count',
  /** While they waited, a pool that was not retiring and got leases fitted them for longer than three starts. */
  reaped: 'jobs that a pool fitted for three starts, failed by coderd after 30 minutes',
  /** Longer than three starts, although a pool that fits has room and gets leases. Prebuilds may wait. */
  stalled: 'jobs that waited three starts beside a pool with room',
} as const;

export type WatchedFigures = Readonly<Record<keyof typeof WATCHED, number>> & {
  /** From the submission of each job until its start, in seconds. */
  readonly waits: readonly number[];
  /** Of each of these, the seconds in which a pool that looks could see might launch for the job. */
  readonly launchableWaits: readonly number[];
};

/** Floors that are the busy daemons and some more: they follow the jobs. */
const FOLLOWS_JOBS: ReadonlySet<Floor['from']> = new Set(['warm', 'stock']);

/** A read that lags may show the time before the world began. */
const BEGINNING_MS = MINUTE_MS;

const FLAP_MS = 5 * MINUTE_MS;
const CONTESTED_WITHIN_MS = 60 * MINUTE_MS;
const CHANGES_OF_A_CONTEST = 3;

export class Watch {
  readonly #events: WorldEvents;
  readonly #beganAt: EpochMs;
  readonly #counts = Object.fromEntries(Object.keys(WATCHED).map((name) => [name, 0])) as Record<
    keyof typeof WATCHED,
    number
  >;
  /** The number of looks with each finding that no world without a fault may have. */
  readonly #findings: Record<string, number> = {};
  /** Tasks that the world began with: no look launched them. */
  readonly #first = new Set<string>();
  readonly #firstCounts = new Map<string, number>();
  readonly #served = new Set<string>();
  /** By pool: when one of its tasks last got a job. */
  readonly #servedAt = new Map<string, EpochMs>();
  readonly #floors = new Map<string, { readonly count: number; readonly raisedAt: EpochMs | undefined }>();
  #lookedAt: EpochMs;
  /** By process and task: when the last refused request was decided. */
  readonly #refusedAt = new Map<string, number>();
  /** By pending job: since when a pool that fits has had room at each look. */
  readonly #roomSince = new Map<JobId, EpochMs>();
  readonly #stalled = new Set<JobId>();
  readonly #limits: Limits;

  constructor(events: WorldEvents) {
    this.#events = events;
    this.#limits = new Limits(events);
    this.#beganAt = events.world.timeline.now();
    this.#lookedAt = this.#beganAt;
    this.#watchFirst();
  }

  acquired(taskId: string, pool: string): void {
    this.#served.add(taskId);
    this.#servedAt.set(poolOfPart(pool), this.#now());
  }

  taskStopped({ identity: { id, serviceName } }: EcsTask): void {
    const isCounted = serviceName !== undefined && !this.#first.has(id);
    if (!this.#served.delete(id) && isCounted) this.#counts.idleLaunches += 1;
  }

  /** `process` is the number of the process that has looked. */
  add(result: LookResult, process: number): void {
    const tasks = tasksByPool(this.#events);
    this.#watchFirst();
    this.#events.fleet.setClosed(closedPools(this.#events, result.plan));
    this.#watchCounts(result, tasks);
    for (const name of this.#limits.exceeded(result.plan.pools, tasks)) this.#counts[name] += 1;
    this.#watchFloors(result.plan.pools);
    this.#watchRefusals(result, process);
    this.#watchFindings(result.plan.findings);
    this.#watchJobs(tasks, unreadJobs(result.plan));
    this.#lookedAt = this.#now();
  }

  figures(): WatchedFigures {
    const { world, fleet } = this.#events;
    const jobs = world.coderd.jobs();
    const isReaped = (job: (typeof jobs)[number]): boolean => {
      const waited = { from: job.createdAt, to: job.completedAt ?? this.#now() };
      return job.failedBy === 'pending-reaper' && fleet.servableMs(job, waited) > this.#threeStartsMs();
    };
    const started = jobs.flatMap((job) =>
      job.startedAt === undefined || job.workerId === undefined
        ? []
        : { job, from: job.createdAt, to: job.startedAt },
    );
    return {
      ...this.#counts,
      launches: world.figures().tasks.launched - this.#first.size,
      reaped: jobs.filter(isReaped).length,
      waits: started.map(({ from, to }) => (to - from) / SECOND_MS),
      launchableWaits: started.map(({ job, ...wait }) => fleet.fittedMs(job, wait) / SECOND_MS),
    };
  }

  /** What no world does, or none without a fault. With reads that lag, a pool may exceed a limit by a few tasks. */
  problems(): readonly string[] {
    const { isQuiet, world } = this.#events.plan;
    const none = [
      'countsAboveMax' as const,
      ...(isQuiet ? (['falseContested', 'repeatedRefusals', 'stalled'] as const) : []),
      ...(isQuiet && world.readLagMs === 0 ? (['tasksAboveMax', 'tasksAboveMaxTasks'] as const) : []),
    ];
    const findings = isQuiet ? Object.entries(this.#findings) : [];
    return [
      ...none
        .filter((name) => this.#counts[name] > 0)
        .map((name) => `${WATCHED[name]}: ${this.#counts[name]}`),
      ...findings.map(([code, looks]) => `finding ${code} in ${looks} looks, although nothing has failed`),
    ];
  }

  /** Until the count of their service changes. */
  #watchFirst(): void {
    const { ecs } = this.#events.world;
    const unchanged = new Set<string>();
    for (const { identity, state } of ecs.services()) {
      const first = this.#firstCounts.get(identity.name) ?? state.desiredCount;
      this.#firstCounts.set(identity.name, state.desiredCount === first ? first : Number.NaN);
      if (state.desiredCount === first) unchanged.add(identity.name);
    }
    for (const { identity } of ecs.tasks())
      if (unchanged.has(identity.serviceName ?? '')) this.#first.add(identity.id);
  }

  #watchCounts({ plan, outcome }: LookResult, tasks: ReadonlyMap<string, PoolTasks>): void {
    for (const pool of plan.pools) {
      const { name, desired, daemons, why } = pool;
      const raises = outcome.applied.filter(
        (action) => action.kind === 'set-desired' && poolOfPart(action.pool) === name,
      );
      if (raises.length === 0 || desired.from === null || desired.to === null) continue;
      const most = maxOf(this.#events, pool);
      // a list that lags may still have tasks that have left
      const seen = daemons.leaving + daemons.left + sum(why, replacedBy);
      const bound = Math.max(most, desired.from) + Math.max(seen, tasks.get(name)?.leaving ?? 0);
      if (desired.to > desired.from && desired.to > bound) this.#counts.countsAboveMax += 1;
    }
  }

  #watchFloors(pools: readonly PoolPlan[]): void {
    const now = this.#now();
    for (const { name, floor, desired } of pools) {
      const { count = floor.count, raisedAt } = this.#floors.get(name) ?? {};
      const isLowered = floor.count < count;
      const isRaised = floor.count > count && !FOLLOWS_JOBS.has(floor.from);
      const isLaunching = isRaised && (desired.to ?? 0) > (desired.from ?? 0);
      const isFlap = isLowered && raisedAt !== undefined && now - raisedAt <= FLAP_MS;
      if (isFlap && (this.#servedAt.get(name) ?? 0) < raisedAt) this.#counts.floorFlaps += 1;
      this.#floors.set(name, {
        count: floor.count,
        raisedAt: isLaunching ? now : isLowered ? undefined : raisedAt,
      });
    }
  }

  /** Each process remembers its own refusals only. */
  #watchRefusals({ plan: { takenAt }, outcome: { refused } }: LookResult, process: number): void {
    const now = Date.parse(takenAt);
    for (const { task, reason } of refused) {
      if (reason === 'MISSING') continue;
      const key = `${process} ${task}`;
      const at = this.#refusedAt.get(key);
      const isRemembered = this.#events.plan.memory.processLifeMs[1] > MINUTE_MS;
      if (isRemembered && at !== undefined && now - at < MINUTE_MS) this.#counts.repeatedRefusals += 1;
      this.#refusedAt.set(key, now);
    }
  }

  #watchFindings(findings: readonly Finding[]): void {
    const now = this.#now();
    const isBeginning = now - this.#beganAt < BEGINNING_MS;
    for (const code of new Set(findings.map((finding) => finding.code)))
      if (needsFault(code) && !isBeginning) this.#findings[code] = (this.#findings[code] ?? 0) + 1;
    for (const finding of findings) {
      if (finding.code !== 'count-contested') continue;
      const since = now - CONTESTED_WITHIN_MS;
      const changes = this.#events.countsByHand.filter(
        ({ pool, at }) => pool === poolOfPart(finding.pool) && at > since,
      );
      if (changes.length < CHANGES_OF_A_CONTEST) this.#counts.falseContested += 1;
    }
  }

  /** A pool has room if it may add a task under its `max` and under `maxTasks`. */
  #watchJobs(tasks: ReadonlyMap<string, PoolTasks>, unread: ReadonlySet<string>): void {
    const { world, plan, fleet } = this.#events;
    const total = sum([...tasks.values()], ({ staying, leaving }) => staying + leaving);
    const wanted = sum(world.ecs.services(), ({ state }) => state.desiredCount);
    const { maxTasks, dollarsPerHour = Number.POSITIVE_INFINITY } = plan;
    const isFull = Math.max(total, wanted) >= Math.min(maxTasks, Math.floor(dollarsPerHour / TASK_DOLLARS));
    const hasRoom = ({ name, max }: FleetPool): boolean => !isFull && (tasks.get(name)?.wanted ?? 0) < max;
    const now = this.#now();
    const unreadIds = new Set([...unread].map((name) => world.coderd.organizationId(name)));
    for (const job of world.coderd.openJobs()) {
      const before = this.#roomSince.get(job.id);
      if (unreadIds.has(job.organizationId)) {
        // the look did not see it: this time does not count
        if (before !== undefined) this.#roomSince.set(job.id, plusMs(before, now - this.#lookedAt));
        continue;
      }
      const isWaiting = job.status === 'pending' && job.initiatorId !== PREBUILDS_USER;
      if (!isWaiting || !fleet.poolsFor(job).some(hasRoom)) {
        this.#roomSince.delete(job.id);
        continue;
      }
      const since = before ?? now;
      this.#roomSince.set(job.id, since);
      if (now - since <= this.#threeStartsMs() || this.#stalled.has(job.id)) continue;
      this.#stalled.add(job.id);
      this.#counts.stalled += 1;
    }
  }

  /** The longest of this world: reads that lag, two looks, the scheduler, the boot, the lease, coderd's poll. */
  #threeStartsMs(): number {
    const { world, lookEveryS } = this.#events.plan;
    const { boot, lease, react } = world.latencies ?? {};
    const startMs = (boot?.[1] ?? 0) + (lease?.[1] ?? 0) + (react?.[1] ?? 0) + (world.readLagMs ?? 0);
    return 3 * (startMs + 2 * lookEveryS * SECOND_MS + POLL_MS);
  }

  #now(): EpochMs {
    return this.#events.world.timeline.now();
  }
}

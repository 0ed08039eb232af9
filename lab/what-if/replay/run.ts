/** Runs one policy over a trace in its own simulated world on a virtual clock, and computes the figures. */
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import type { EpochMs, JobId } from '../../../lambda/decision/model/brands.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { recordNameOf } from '../../../lambda/decision/model/service-tags.ts';
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { JobWait } from '../../../lambda/look/waits/job-wait.ts';
import type { StartedWaits } from '../../../lambda/look/waits/wait-record.ts';
import { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import type { Latencies } from '../../world/ecs/parts/latencies.ts';
import type { EcsTask } from '../../world/ecs/task.ts';
import { World } from '../../world/world.ts';
import type { DayFigures } from '../estimate/estimate.ts';
import type { Policy, PolicyContext, PolicySettings } from '../policies/policy.ts';
import type { Trace } from '../trace/trace.ts';
import { changesOf, runAutoscaler } from './autoscaler.ts';
import { Demand } from './demand.ts';
import { dayFigures, type JobOutcome, jobFigures, ofPeople, outcomeOf, peopleWait } from './figures.ts';
import { Ledger, launchesOf, tasksByPool } from './ledger.ts';
import { Replay } from './replay.ts';
import {
  type DesiredCountChange,
  FAILURE_MINUTES,
  type Figures,
  LONGEST_WAIT_MINUTES,
  PEOPLE_WAIT_FOR,
  type PeopleWait,
  type PolicyRun,
} from './result.ts';
import { DesiredCounts, Sampler } from './sampler.ts';
import { startLatencies } from './start-latencies.ts';

export type RunOptions = {
  readonly trace: Trace;
  readonly config: Deployment;
  readonly seed: number;
  /** Dollars. */
  readonly valueOfMinute: number;
  readonly dollarsPerHour: (pool: string) => number;
  readonly isPictured: boolean;
  /** Latencies of ECS and daemons. @default start times of the trace, else known values of Fargate */
  readonly latencies?: Partial<Latencies>;
  /** Whether the autoscaler may neither read nor write its record of builds. @default false */
  readonly isRecordDenied?: boolean;
  /** Called after each look of the autoscaler with the waits of the jobs that started. */
  readonly onWaits?: (waits: StartedWaits) => void;
  /** Called with the share of the period that is done, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  readonly onLook?: (look: LookResult) => void;
  /** Called when a daemon takes a job. */
  readonly onAcquired?: (job: JobId, at: EpochMs) => void;
};

export type Driver =
  | { readonly kind: 'autoscaler' }
  | { readonly kind: 'policy'; readonly policy: Policy; readonly settings: PolicySettings };

/** The figures and series of a run, without title and settings. */
export type Run = Pick<PolicyRun, 'figures' | 'peopleWait' | 'pools'> & {
  /** The whole days of the trace. */ readonly days: readonly DayFigures[];
};

/** The world begins this long before the trace, so that a static fleet is ready when the trace begins. */
const LEAD_MS = 15 * 60_000;
/** For pending jobs after the trace: coderd's reaper has failed them by then. Running jobs finish. */
const TAIL_MS = 35 * 60_000;
const STEP_MS = HOUR_MS;

/** The same options give the same figures. Throws the first unexpected error of an invocation. */
export async function run(driver: Driver, options: RunOptions): Promise<Run> {
  const simulation = new Simulation(driver, { ...options, config: asReplayed(options.config) });
  await simulation.simulate();
  return simulation.result();
}

/** Without interruptions, a pool with two kinds of capacity runs on Spot only. There is no other stack. */
function asReplayed(config: Deployment): Deployment {
  const pools = config.pools.map((pool) => ({ ...pool, capacity: undefined, peers: undefined }));
  return { ...config, pools };
}

class Simulation {
  readonly #driver: Driver;
  readonly #options: RunOptions;
  readonly #world: World;
  readonly #scheduler: VirtualScheduler;
  readonly #replay: Replay;
  readonly #demand: Demand;
  readonly #ledger: Ledger;
  readonly #sampler: Sampler | undefined;
  readonly #changes = new Map<string, DesiredCountChange[]>();
  readonly #desired = new DesiredCounts();
  readonly #waits = new Map<string, JobWait>();
  readonly #poolByService: ReadonlyMap<string, string>;
  #error: unknown;

  constructor(driver: Driver, options: RunOptions) {
    const { trace, config, seed } = options;
    this.#driver = driver;
    this.#options = options;
    const isGuarded = driver.kind === 'autoscaler';
    this.#ledger = new Ledger(trace.from);
    this.#world = new World({
      start: startOf(trace),
      seed,
      pools: config.pools.map(({ name, organization, tags }) => ({
        name,
        organization,
        tags,
        desiredCount: 0,
        // as infra/constructs/pool/pool-task.ts has it; tasks of other policies need no guard
        image: isGuarded ? 'guarded' : 'bare',
      })),
      organizations: organizationsOf(options),
      latencies: options.latencies ?? startLatencies(trace.startSeconds),
      onAcquired: (job, taskId, pool) => {
        this.#ledger.acquired(job, taskId, pool);
        options.onAcquired?.(job.id, this.#world.timeline.now());
      },
      onTaskStopped: (task) => this.#ledger.stopped(task),
    });
    if (options.isRecordDenied) this.#world.parameters.deny(recordNameOf(this.#world.stackName));
    this.#poolByService = new Map(
      config.pools.map(({ name }) => [this.#world.service(name).identity.name, name]),
    );
    for (const { name } of config.pools)
      this.#desired.set(name, this.#world.service(name).state.desiredCount);
    this.#scheduler = new VirtualScheduler(this.#world.timeline);
    this.#replay = new Replay(this.#world, trace.jobs, trace.past);
    this.#demand = new Demand({ world: this.#world, replay: this.#replay }, config, options.dollarsPerHour);
    if (options.isPictured)
      this.#sampler = new Sampler({
        world: this.#world,
        pools: config.pools.map(({ name }) => name),
        poolOf: (task) => this.#poolOf(task),
        queues: () => this.#demand.queues(),
        from: trace.from,
        to: trace.to,
      });
  }

  async simulate(): Promise<void> {
    const { trace, onProgress } = this.#options;
    this.#start();
    for (let at = this.#world.timeline.now(); at < trace.to || !this.#isOver(at); ) {
      at = (at < trace.to ? Math.min(at + STEP_MS, trace.to) : at + 60_000) as EpochMs;
      await this.#scheduler.advanceTo(at);
      if (this.#error !== undefined) throw this.#error;
      onProgress?.(Math.min(1, (at - trace.from) / (trace.to - trace.from)));
    }
    this.#replay.end();
  }

  result(): Run {
    const { trace, valueOfMinute } = this.#options;
    const outcomes = this.#outcomes();
    const bills = this.#ledger.bills(this.#world, {
      ...this.#options,
      poolOf: (task) => this.#poolOf(task),
      billedUntil: this.#lastJobs(outcomes),
    });
    const byPool = tasksByPool(bills, this.#options);
    const taskDollars = sum(Object.values(byPool), ({ dollars }) => dollars);
    const waited = ofPeople(outcomes);
    const waitedMs = sum(waited, ({ waitMs }) => Math.min(waitMs, LONGEST_WAIT_MINUTES * 60_000));
    const waiting = (waitedMs / 60_000) * valueOfMinute;
    const failures = sum(outcomes, failureMinutes) * valueOfMinute;
    const figures: Figures = {
      ...jobFigures(outcomes),
      tasks: {
        hours: sum(bills, ({ ms }) => ms) / HOUR_MS,
        busyHours: sum(outcomes, ({ runMs }) => runMs) / HOUR_MS,
        peak: this.#world.figures().tasks.peak,
        launches: launchesOf(bills),
        idleLaunches: launchesOf(bills.filter(({ isUsed }) => !isUsed)),
        byPool,
      },
      peaks: this.#desired.peaks(),
      dollars: { tasks: taskDollars, waiting, failures, total: taskDollars + waiting + failures },
    };
    return {
      figures,
      days: dayFigures(trace, bills, waited),
      ...(this.#driver.kind === 'autoscaler' ? { peopleWait: this.#peopleWait() } : {}),
      pools: this.#sampler?.series(this.#changes) ?? [],
    };
  }

  #peopleWait(): PeopleWait {
    const jobs = this.#replay
      .jobs()
      .flatMap(({ job, record }) => (PEOPLE_WAIT_FOR.has(job.kind) && record?.workerId ? [record] : []));
    return peopleWait(jobs, this.#waits);
  }

  #start(): void {
    const driver = this.#driver;
    const context = this.#context();
    if (driver.kind === 'policy') {
      driver.policy.start(context, driver.settings);
      return;
    }
    runAutoscaler({
      world: this.#world,
      scheduler: this.#scheduler,
      config: this.#options.config,
      context,
      seed: this.#options.seed,
      onLook: (tick, started) => {
        this.#options.onWaits?.(started);
        for (const wait of started.waits) this.#waits.set(wait.id, wait);
        for (const { pool, ...change } of changesOf(tick)) this.#note(pool, change);
        this.#options.onLook?.(tick);
      },
      onError: (error) => {
        this.#error ??= error;
      },
    });
  }

  #context(): PolicyContext {
    const { config, trace } = this.#options;
    const world = this.#world;
    const maxOf = new Map<string, number>(config.pools.map(({ name, max }) => [name, max]));
    return {
      world,
      config,
      isCoderdDown: () => {
        const now = world.timeline.now();
        return trace.outages.some(({ at, seconds }) => at <= now && now < at + seconds * 1000);
      },
      demandOf: (pool) => this.#demand.of(pool),
      setDesired: (pool, count, why) => {
        const { desiredCount } = world.service(pool).state;
        const to = Math.max(0, Math.min(maxOf.get(pool) ?? 0, count));
        if (to === desiredCount) return;
        world.ecs.setDesiredCount(world.service(pool).identity.name, to);
        this.#note(pool, { from: desiredCount, to, why: [why] });
      },
    };
  }

  #note(pool: string, change: Omit<DesiredCountChange, 'at'>): void {
    this.#desired.set(pool, change.to);
    if (!this.#options.isPictured) return;
    const changes = this.#changes.get(pool) ?? [];
    changes.push({ at: this.#world.timeline.now(), ...change });
    this.#changes.set(pool, changes);
  }

  /** Whether the world can end. Jobs that no pool can run do not prolong it. */
  #isOver(now: EpochMs): boolean {
    if (this.#demand.isAnyRunning()) return false;
    return now >= this.#options.trace.to + TAIL_MS || !this.#demand.isAnyWaiting();
  }

  #outcomes(): readonly JobOutcome[] {
    const killedAt = new Map<string, EpochMs>(this.#world.kills().map(({ job, at }) => [job.id, at]));
    const end = this.#world.timeline.now();
    return this.#replay.jobs().map((replayed) => {
      const id = replayed.record?.id ?? '';
      return outcomeOf(replayed, { end, killedAt: killedAt.get(id), by: this.#ledger.acquisitionOf(id) });
    });
  }

  /** The end of billing of each task: the end of the period, or the end of its last job if that is later. */
  #lastJobs(outcomes: readonly JobOutcome[]): (taskId: string) => EpochMs {
    const { to } = this.#options.trace;
    const last = new Map<string, EpochMs>();
    for (const { taskId, until = to } of outcomes)
      if (taskId !== undefined && until > (last.get(taskId) ?? to)) last.set(taskId, until);
    return (taskId) => last.get(taskId) ?? to;
  }

  #poolOf({ identity: { serviceName = '' } }: EcsTask): string {
    return this.#poolByService.get(serviceName) ?? '-';
  }
}

/** Unserved jobs count only if people wait for them: an autostop that is missing at the end costs nothing. */
function failureMinutes({ job, end }: JobOutcome): number {
  if (end === 'succeeded' || (end === 'unserved' && !PEOPLE_WAIT_FOR.has(job.kind))) return 0;
  return FAILURE_MINUTES[end];
}

/** The start of the world, at a full minute, as coderd's executor runs at full minutes. */
function startOf({ from }: Trace): EpochMs {
  return (Math.floor((from - LEAD_MS) / 60_000) * 60_000) as EpochMs;
}

/** The organizations of all pools and jobs. A job may be in an organization without a pool. */
function organizationsOf({ trace, config }: RunOptions): readonly string[] {
  const names = [...config.pools, ...trace.jobs, ...(trace.past ?? [])].map(
    ({ organization }) => organization,
  );
  return [...new Set(names)];
}

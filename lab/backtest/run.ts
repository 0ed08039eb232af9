/** Runs one policy over a trace, in a world of its own on a virtual clock. */
import type { Deployment } from '../../lambda/adapters/config/deployment.ts';
import type { EpochMs, OrganizationId } from '../../lambda/core/brands.ts';
import { covers, normalizeTags, type TagSet, tagKey } from '../../lambda/core/tags.ts';
import type { Latencies } from '../ecs/latencies.ts';
import type { EcsTask } from '../ecs/task.ts';
import { Pace } from '../leaves/pace.ts';
import type { Trace } from '../trace/trace.ts';
import { World } from '../world.ts';
import { changesOf, runAutoscaler } from './autoscaler.ts';
import { hoursOfWeek, type JobOutcome, jobFigures, ofPeople, outcomeOf, waitCounts } from './figures.ts';
import { Ledger } from './ledger.ts';
import type { Policy, PolicySettings, PoolDemand, Scene } from './policy.ts';
import { Replay } from './replay.ts';
import {
  type Change,
  FAILURE_MINUTES,
  type Figures,
  LONGEST_WAIT_MINUTES,
  PEOPLE_WAIT_FOR,
  type PolicyRun,
} from './result.ts';
import { Sampler } from './sampler.ts';
import { startLatencies } from './start-latencies.ts';

export type RunOptions = {
  readonly trace: Trace;
  readonly config: Deployment;
  readonly seed: number;
  /** Dollars. */
  readonly valueOfMinute: number;
  /** Dollars of one task of the pool. */
  readonly dollarsPerHour: (pool: string) => number;
  /** Whether the pictures' series are made too. */
  readonly isPictured: boolean;
  /** How long things take. @default as far as the trace tells, else as far as is known for Fargate */
  readonly latencies?: Partial<Latencies>;
  /** How much of the period is over, 0 to 1. */
  readonly onProgress?: (share: number) => void;
};

/** The product, or one of those that it is compared with. */
export type Driver =
  | { readonly kind: 'autoscaler'; readonly config: Deployment }
  | { readonly kind: 'policy'; readonly policy: Policy; readonly settings: PolicySettings };

/** What a run is, without the words for it. */
export type Run = Pick<PolicyRun, 'figures' | 'waitCounts' | 'hoursOfWeek' | 'pools'>;

const HOUR_MS = 3_600_000;
/** The world begins earlier than the trace: fleets of a fixed size are there when it does. */
const LEAD_MS = 15 * 60_000;
/** How much longer than the trace it goes on for jobs that wait: coderd's reaper has come by then. What runs is let run to its end. */
const TAIL_MS = 35 * 60_000;
const STEP_MS = HOUR_MS;

/** The same options give the same figures. Throws what an invocation must not throw. */
export async function run(driver: Driver, options: RunOptions): Promise<Run> {
  const stage = new Stage(driver, options);
  await stage.play();
  return stage.result();
}

class Stage {
  readonly #driver: Driver;
  readonly #options: RunOptions;
  readonly #world: World;
  readonly #pace: Pace;
  readonly #replay: Replay;
  readonly #ledger: Ledger;
  readonly #sampler: Sampler | undefined;
  readonly #changes = new Map<string, Change[]>();
  readonly #calls = { ticks: 0, coderd: 0, ecs: 0 };
  readonly #poolByService: ReadonlyMap<string, string>;
  readonly #tagSets: ReadonlyMap<string, { readonly organization: string; readonly tags: TagSet }>;
  #error: unknown;

  constructor(driver: Driver, options: RunOptions) {
    const { trace, config, seed } = options;
    this.#driver = driver;
    this.#options = options;
    const isGuarded = driver.kind === 'autoscaler' || driver.policy.image === 'guarded';
    this.#ledger = new Ledger(trace.from);
    this.#world = new World({
      start: startOf(trace),
      seed,
      pools: config.pools.map(({ name, organization, tags, scaleIn }) => ({
        ...{ name, organization, tags, desiredCount: 0 },
        // as infra/constructs/pool-task.ts has it
        image: isGuarded && scaleIn === 'lease' ? 'guarded' : 'bare',
      })),
      organizations: organizationsOf(options),
      latencies: options.latencies ?? startLatencies(trace.startSeconds),
      onAcquired: (job, taskId, pool) => this.#ledger.acquired(job, taskId, pool),
      onTaskStopped: (task) => this.#ledger.stopped(task),
    });
    this.#poolByService = new Map(
      config.pools.map(({ name }) => [this.#world.service(name).identity.name, name]),
    );
    this.#tagSets = new Map(
      config.pools.map(({ name, organization, tags }) => [name, { organization, tags: normalizeTags(tags) }]),
    );
    this.#pace = new Pace(this.#world.timeline);
    this.#replay = new Replay(this.#world, trace.jobs);
    if (options.isPictured)
      this.#sampler = new Sampler({
        world: this.#world,
        pools: config.pools.map(({ name }) => name),
        poolOf: (task) => this.#poolOf(task),
        queues: () => this.#queues(),
        from: trace.from,
        to: trace.to,
      });
  }

  async play(): Promise<void> {
    const { trace, onProgress } = this.#options;
    this.#start();
    for (let at = this.#world.timeline.now(); at < trace.to || !this.#isOver(at); ) {
      at = (at < trace.to ? Math.min(at + STEP_MS, trace.to) : at + 60_000) as EpochMs;
      await this.#pace.advanceTo(at);
      if (this.#error !== undefined) throw this.#error;
      onProgress?.(Math.min(1, (at - trace.from) / (trace.to - trace.from)));
    }
    this.#replay.end();
  }

  result(): Run {
    const { trace, valueOfMinute } = this.#options;
    const outcomes = this.#outcomes();
    const tasks = this.#ledger.figures(this.#world, {
      poolOf: (task) => this.#poolOf(task),
      billedUntil: this.#lastJobs(outcomes),
    });
    const taskDollars = this.#dollarsOf(tasks.billedMs);
    const waited = ofPeople(outcomes);
    const waitedMs = sum(waited, ({ waitMs }) => Math.min(waitMs, LONGEST_WAIT_MINUTES * 60_000));
    const waiting = (waitedMs / 60_000) * valueOfMinute;
    const failures = sum(outcomes, failureMinutes) * valueOfMinute;
    const figures: Figures = {
      ...jobFigures(outcomes),
      tasks: {
        hours: sum([...tasks.billedMs.values()], (ms) => ms) / HOUR_MS,
        busyHours: sum(outcomes, ({ runMs }) => runMs) / HOUR_MS,
        peak: this.#world.figures().tasks.peak,
        launches: tasks.launches,
        idleLaunches: tasks.idleLaunches,
      },
      dollars: { tasks: taskDollars, waiting, failures, total: taskDollars + waiting + failures },
      calls: { ...this.#calls },
    };
    return {
      figures,
      waitCounts: waitCounts(waited),
      hoursOfWeek: hoursOfWeek(waited, trace.timezone),
      pools: this.#sampler?.series(this.#changes) ?? [],
    };
  }

  #start(): void {
    const driver = this.#driver;
    const scene = this.#scene();
    if (driver.kind === 'policy') {
      driver.policy.start(scene, driver.settings);
      return;
    }
    void runAutoscaler({
      ...{ world: this.#world, pace: this.#pace, config: driver.config, scene },
      onTick: (tick) => {
        for (const { pool, ...change } of changesOf(tick)) this.#note(pool, change);
      },
      onError: (error) => {
        this.#error ??= error;
      },
    });
  }

  #scene(): Scene {
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
      demandOf: (pool) => this.#demandOf(pool),
      setDesired: (pool, count, why) => {
        const { desiredCount } = world.service(pool).state;
        const to = Math.max(0, Math.min(maxOf.get(pool) ?? 0, count));
        if (to === desiredCount) return;
        world.ecs.setDesiredCount(world.service(pool).identity.name, to);
        this.#calls.ecs += 1;
        this.#note(pool, { from: desiredCount, to, why: [why] });
      },
      count: ({ ticks = 0, coderd = 0, ecs = 0 }) => {
        if (world.timeline.now() < trace.from) return;
        this.#calls.ticks += ticks;
        this.#calls.coderd += coderd;
        this.#calls.ecs += ecs;
      },
    };
  }

  #note(pool: string, change: Omit<Change, 'at'>): void {
    if (!this.#options.isPictured) return;
    const changes = this.#changes.get(pool) ?? [];
    changes.push({ at: this.#world.timeline.now(), ...change });
    this.#changes.set(pool, changes);
  }

  #demandOf(pool: string): PoolDemand {
    const { organization, tags } = this.#mustKnow(pool);
    const organizationId = this.#world.coderd.organizationId(organization);
    const demand = { pending: 0, running: 0 };
    for (const job of this.#world.coderd.openJobs()) {
      if (job.organizationId !== organizationId || !covers(tags, job.tags)) continue;
      if (job.startedAt === undefined) demand.pending++;
      else demand.running++;
    }
    return demand;
  }

  #mustKnow(pool: string) {
    const found = this.#tagSets.get(pool);
    if (found === undefined) throw new Error(`finding pool "${pool}": the configuration has none`);
    return found;
  }

  /** Jobs that wait, those of the executor included that it can't insert yet; each for the cheapest pool that fits. */
  #queues(): ReadonlyMap<string, number> {
    const { coderd } = this.#world;
    const counts = new Map<string, number>();
    const add = (organization: string, tags: TagSet): void => {
      const pool = this.#firstFitting(organization, tags);
      if (pool !== undefined) counts.set(pool, (counts.get(pool) ?? 0) + 1);
    };
    for (const { organizationId, tags, startedAt } of coderd.openJobs())
      if (startedAt === undefined) add(this.#organizationOf(organizationId), tags);
    for (const { organization, tags } of this.#replay.due()) add(organization, normalizeTags(tags));
    return counts;
  }

  readonly #fitting = new Map<string, string | undefined>();

  #firstFitting(organization: string, tags: TagSet): string | undefined {
    const key = `${organization} ${tagKey(tags)}`;
    if (!this.#fitting.has(key)) this.#fitting.set(key, this.#cheapest(organization, tags));
    return this.#fitting.get(key);
  }

  #cheapest(organization: string, tags: TagSet): string | undefined {
    const fitting = [...this.#tagSets].filter(
      ([, pool]) => pool.organization === organization && covers(pool.tags, tags),
    );
    const price = this.#options.dollarsPerHour;
    return fitting.map(([name]) => name).sort((a, b) => price(a) - price(b))[0];
  }

  /** What no pool can ever run keeps nobody waiting. */
  #isOver(now: EpochMs): boolean {
    const { coderd } = this.#world;
    const open = [...coderd.openJobs()];
    if (open.some(({ workerId }) => workerId !== undefined)) return false;
    if (now >= this.#options.trace.to + TAIL_MS) return true;
    const pending = open.map((job) => [this.#organizationOf(job.organizationId), job.tags] as const);
    const due = this.#replay.due().map((job) => [job.organization, normalizeTags(job.tags)] as const);
    return ![...pending, ...due].some(([organization, tags]) => this.#firstFitting(organization, tags));
  }

  #organizationOf(id: OrganizationId): string {
    return this.#world.coderd.organizations.inPath(id)?.name ?? '';
  }

  #outcomes(): readonly JobOutcome[] {
    const killedAt = new Map<string, EpochMs>(this.#world.kills().map(({ job, at }) => [job.id, at]));
    const end = this.#world.timeline.now();
    return this.#replay.jobs().map((replayed) => {
      const id = replayed.record?.id ?? '';
      return outcomeOf(replayed, {
        ...{ end, killedAt: killedAt.get(id), by: this.#ledger.acquisitionOf(id) },
      });
    });
  }

  /** The end of the period, or of the last job of a task that goes on for it. */
  #lastJobs(outcomes: readonly JobOutcome[]): (taskId: string) => EpochMs {
    const { to } = this.#options.trace;
    const last = new Map<string, EpochMs>();
    for (const { taskId, until = to } of outcomes)
      if (taskId !== undefined && until > (last.get(taskId) ?? to)) last.set(taskId, until);
    return (taskId) => last.get(taskId) ?? to;
  }

  #dollarsOf(billedMs: ReadonlyMap<string, number>): number {
    return sum([...billedMs], ([pool, ms]) => (ms / HOUR_MS) * this.#options.dollarsPerHour(pool));
  }

  #poolOf({ identity: { serviceName = '' } }: EcsTask): string {
    return this.#poolByService.get(serviceName) ?? '-';
  }
}

/** Nobody misses what coderd would have done by itself when the world ends. */
function failureMinutes({ job, end }: JobOutcome): number {
  if (end === 'succeeded' || (end === 'unserved' && !PEOPLE_WAIT_FOR.has(job.kind))) return 0;
  return FAILURE_MINUTES[end];
}

/** A full minute: coderd's executor comes at each. */
function startOf({ from }: Trace): EpochMs {
  return (Math.floor((from - LEAD_MS) / 60_000) * 60_000) as EpochMs;
}

/** Those of the pools and those of the jobs: a job of another organization waits there for nobody. */
function organizationsOf({ trace, config }: RunOptions): readonly string[] {
  const names = [...config.pools, ...trace.jobs].map(({ organization }) => organization);
  return [...new Set(names)];
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

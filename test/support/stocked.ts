/** Snapshots of pools that keep a stock, with idle and busy daemons and a record of recent jobs. */
import { type Deliberation, deliberate } from '../../lambda/decision/decide.ts';
import type { EpochMs, ServiceArn, TaskArn } from '../../lambda/decision/model/brands.ts';
import type { Config, PoolConfig } from '../../lambda/decision/model/config.ts';
import type {
  Daemon,
  Job,
  LearnedStock,
  OrganizationReadings,
  Snapshot,
  StockChoice,
  Task,
} from '../../lambda/decision/model/snapshot.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import { UNKNOWN_RULE } from '../../lambda/decision/stock/replay.ts';
import {
  aConfig,
  aDaemon,
  ago,
  aJob,
  aLease,
  anOrganization,
  aPool,
  arnOf,
  aService,
  aSnapshot,
  aTask,
  daemonId,
  jobId,
  MINUTE,
  poolName,
  reading,
  taskIdOf,
} from './parts.ts';

export const PREBUILDS_USER = 'c42fdf75-3097-471c-8c33-fb52454d81c0';

export type StockedPool = {
  readonly config?: Partial<PoolConfig>;
  /** How long each idle daemon has been idle, in milliseconds. */
  readonly idle?: readonly number[];
  /** The ages of the builds that run, in milliseconds. */
  readonly busy?: readonly number[];
  /** The tags of these builds. @default the pool's tags */
  readonly buildTags?: Tags;
};

export type Stocked = {
  readonly pools: Readonly<Record<string, StockedPool>>;
  readonly recent?: readonly Job[];
  /** What was learned of each set of pools. @default nothing is known of the builds */
  readonly rule?: Partial<StockChoice['rule']>;
  /** What the rule has in its replay. @default unknown */
  readonly stays?: StockChoice['stays'];
  /** Whether the process has learned nothing yet. @default it has */
  readonly isCold?: boolean;
  readonly pending?: readonly Job[];
  readonly limits?: Config['limits'];
  readonly organization?: Partial<OrganizationReadings>;
  readonly change?: (snapshot: Snapshot) => Snapshot;
};

/** The default pool: `warm: auto`, an idle timeout of 20 s. */
function stockedPool(name: string, given: Partial<PoolConfig> = {}): PoolConfig {
  return aPool({ name: poolName(name), warm: 'auto', idleTimeoutMs: 20_000, ...given });
}

export function stocked(world: Stocked): { readonly snapshot: Snapshot; readonly config: Config } {
  const names = Object.keys(world.pools);
  const drawn = names.map((name, index) => drawPool(name, world.pools[name] ?? {}, 100 * index));
  const organization = anOrganization({
    jobs: reading([...drawn.flatMap(({ running }) => running), ...(world.pending ?? [])]),
    daemons: reading(drawn.flatMap(({ daemons }) => daemons)),
    previousJobs: reading(drawn.flatMap(({ previous }) => previous)),
    ...(world.recent === undefined ? {} : { recentJobs: reading(world.recent) }),
    ...world.organization,
  });
  const tasks = drawn.flatMap((pool) => pool.tasks);
  const snapshot = aSnapshot({
    organizations: [organization],
    services: drawn.map(({ service }) => service),
    tasks,
    protections: tasks.map(({ taskArn }) => aLease({ taskArn })),
  });
  const config = aConfig(...names.map((name) => stockedPool(name, world.pools[name]?.config)));
  const settings = { ...config, limits: world.limits ?? config.limits };
  const changed = world.change?.(snapshot) ?? snapshot;
  const stock =
    changed.stock ?? (world.isCold ? undefined : learnedIn(changed, settings, world.rule, world.stays));
  return { snapshot: { ...changed, stock }, config: settings };
}

/** What a process has learned that gives each set of pools the same rule. */
export function learnedIn(
  snapshot: Snapshot,
  config: Config,
  rule: Partial<StockChoice['rule']> = {},
  stays?: StockChoice['stays'],
): LearnedStock {
  const { stockSets } = deliberate(snapshot, config);
  return { tagSets: [], choices: stockSets.map((set) => ({ ...aChoice(set, rule), stays })) };
}

export function aChoice(
  { organizationId, pools }: Pick<StockChoice, 'organizationId' | 'pools'>,
  rule: Partial<StockChoice['rule']> = {},
): StockChoice {
  return {
    ...{ organizationId, pools, rule: { ...UNKNOWN_RULE, ...rule } },
    ...{ builds: 31, hours: 40, tasks: 0.18, waiting: 0.01, others: [] },
  };
}

export function deliberateOn(world: Stocked): Deliberation {
  const { snapshot, config } = stocked(world);
  return deliberate(snapshot, config);
}

/** How many daemons each pool keeps or launches for the stock. */
export function stockIn(world: Stocked): Readonly<Record<string, number>> {
  return Object.fromEntries(
    deliberateOn(world).pools.map(({ need }) => [need.view.pool.name, need.ready.stock]),
  );
}

/** How many daemons the only pool keeps or launches for the stock. */
export function stockOfOne(world: Omit<Stocked, 'pools'> & { readonly pool?: StockedPool }): number {
  const { pool = {}, ...rest } = world;
  return stockIn({ ...rest, pools: { cpu: pool } }).cpu ?? Number.NaN;
}

/** What a plan does: `cpu 0->2`, `ask cpu`. */
export function doneBy(world: Stocked): readonly string[] {
  return deliberateOn(world).plan.actions.map((action) =>
    action.kind === 'set-desired'
      ? `${action.pool} ${action.from}->${action.to}`
      : `${action.kind === 'ask-to-leave' ? 'ask' : action.kind} ${action.pool}`,
  );
}

function drawPool(name: string, { config, idle = [], busy = [], buildTags }: StockedPool, first: number) {
  const tags = config?.tags ?? {};
  const tasks: Task[] = [];
  const daemons: Daemon[] = [];
  const running: Job[] = [];
  const previous: Job[] = [];
  const addDaemon = (given: Partial<Daemon>): void => {
    const index = first + tasks.length + 1;
    tasks.push(aTask({ taskArn: arnOf(index) as TaskArn, group: `service:Stack-${name}` }));
    daemons.push(aDaemon({ name: `${name}-${taskIdOf(index)}`, tags, ...given }));
  };
  for (const [index, idleMs] of idle.entries()) {
    const id = jobId(`previous-${name}-${index}`);
    previous.push(aJob({ id, status: 'succeeded', completed_at: ago(idleMs), tags }));
    addDaemon({ id: daemonId(`idle-${name}-${index}`), previous_job: { id, status: 'succeeded' } });
  }
  for (const [index, ageMs] of busy.entries()) {
    const id = jobId(`running-${name}-${index}`);
    const worker_id = daemonId(`busy-${name}-${index}`);
    const started_at = ago(ageMs);
    running.push(
      aJob({ id, worker_id, status: 'running', created_at: started_at, started_at, tags: buildTags ?? tags }),
    );
    addDaemon({ id: worker_id, status: 'busy', current_job: { id, status: 'running' } });
  }
  const service = aService({
    serviceArn: `arn:service/${name}` as ServiceArn,
    serviceName: `Stack-${name}`,
    desiredCount: tasks.length,
    runningCount: tasks.length,
    taskDefinition: 'cpu:1',
    tags: [{ key: 'coder-autoscaler:pool', value: name }],
  });
  return { tasks, daemons, running, previous, service };
}

export type Coming = {
  /** Minutes from build to build. */
  readonly everyMinutes: number;
  readonly forHours?: number;
  /** Age of the newest build in minutes. */
  readonly lastMinutesAgo?: number;
  readonly tookSeconds?: number;
  readonly job?: Partial<Job>;
};

/** Builds of people at regular intervals, the newest first. */
export function comingEvery({
  everyMinutes,
  forHours = 24,
  lastMinutesAgo = 1,
  tookSeconds = 60,
  job,
}: Coming) {
  const count = Math.floor((forHours * 60) / everyMinutes);
  return Array.from({ length: count }, (_, index) =>
    buildAt(ago((lastMinutesAgo + index * everyMinutes) * MINUTE), tookSeconds, job),
  );
}

/** A build of a person that succeeded. */
export function buildAt(created_at: EpochMs, tookSeconds = 60, given: Partial<Job> = {}): Job {
  return aJob({
    created_at,
    started_at: created_at,
    completed_at: (created_at + tookSeconds * 1000) as EpochMs,
    status: 'succeeded',
    ...given,
  });
}

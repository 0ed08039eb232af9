/**
 * A storm of pending jobs in the simulated world, whose coderd takes the time of its database (docs/internals/coder.md
 * §11). The function looks as the product does.
 */
import { checkConfig } from '../../lambda/config/check.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { percentile } from '../../lambda/decision/model/collections.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { Random } from '../world/base/random.ts';
import { VirtualScheduler } from '../world/base/virtual-scheduler.ts';
import { InProcessFunction } from '../world/in-process/function.ts';
import { World } from '../world/world.ts';

type Storm = {
  readonly jobs: number;
  readonly daemons: number;
  readonly workspaces: number;
  /** The setting `looks.every`. */
  readonly every: string;
};

export type StormFigures = {
  readonly longestMs: number;
  readonly looks: number;
  /** Of one core of coderd's database in the busiest minute, for the lists of jobs and of workspaces. */
  readonly shares: { readonly jobs: number; readonly workspaces: number };
  /** Milliseconds from the submission of each job of the storm to its start. */
  readonly waits: { readonly p50: number; readonly p95: number; readonly longest: number };
  readonly unstarted: number;
  /** Looks that could not read every list. */
  readonly failures: number;
};

const START = Date.parse('2026-03-02T08:00:00Z') as EpochMs;
/** Tasks have started and run builds until then. */
const BEFORE_MS = 15 * MINUTE_MS;
/** The time that is measured: about what the storm takes. */
const STORM_MS = 15 * MINUTE_MS;
const POOLS = 4;

/** All daemons are busy when the jobs come at once. There is room for a fifth more tasks. */
export async function playStorm(
  { jobs, daemons, workspaces, every }: Storm,
  seed: number,
): Promise<StormFigures> {
  const random = new Random(seed);
  const pools = Array.from({ length: POOLS }, (_, index) => ({
    ...{ name: `pool-${index}`, organization: 'default', tags: { team: `team-${index}` } },
    desiredCount: Math.floor(daemons / POOLS),
  }));
  const world = new World({ start: START, seed, pools });
  const { coderd, timeline } = world;
  const submit = (index: number, durationMs: number) =>
    coderd.submitJob({ organization: 'default', tags: { team: `team-${index % POOLS}` }, durationMs });
  const template = coderd.addTemplate({ organization: 'default', tags: { team: 'team-0' } });
  for (let index = 0; index < workspaces; index++)
    coderd.workspaces.add({ template, running: index % 2 === 0 });
  timeline.advanceTo(plusMs(START, BEFORE_MS - 5 * MINUTE_MS));
  for (let index = 0; index < daemons; index++) submit(index, random.between(5, 10) * MINUTE_MS);
  timeline.advanceTo(plusMs(START, BEFORE_MS));
  const storm = new Set(
    Array.from({ length: jobs }, (_, index) => submit(index, random.between(1, 5) * MINUTE_MS)),
  );
  coderd.database.factor = 1;
  const figures = await look(world, { every, most: Math.ceil((daemons * 1.2) / POOLS) });
  const started = coderd.jobs().filter(({ id, workerId }) => storm.has(id) && workerId !== undefined);
  const waits = started
    .map(({ createdAt, startedAt = createdAt }) => startedAt - createdAt)
    .toSorted((a, b) => a - b);
  return {
    ...figures,
    longestMs: coderd.database.longestMs,
    waits: { p50: percentile(waits, 0.5), p95: percentile(waits, 0.95), longest: waits.at(-1) ?? 0 },
    unstarted: jobs - started.length,
  };
}

async function look(world: World, { every, most }: { readonly every: string; readonly most: number }) {
  const scheduler = new VirtualScheduler(world.timeline);
  const { config } = checkConfig({
    coder: { url: 'https://coder.example.com', token: { secret: world.tokenSecretName } },
    limits: { maxTasks: most * POOLS },
    looks: { every },
    pools: Array.from({ length: POOLS }, (_, index) => ({
      ...{ name: `pool-${index}`, organization: 'default', tags: { team: `team-${index}` } },
      ...{ key: { secret: `coder/keys/pool-${index}` }, max: most },
    })),
  });
  const counts = { looks: 0, failures: 0 };
  const autoscaler = new InProcessFunction({
    ...{ world, scheduler, config: () => config, random: new Random(1) },
    onLook: ({ failures }) => {
      counts.looks += 1;
      counts.failures += failures.length > 0 ? 1 : 0;
    },
    onInvoked: () => {},
  });
  void autoscaler.run();
  const { busyMs } = world.coderd.database;
  const shares = { jobs: 0, workspaces: 0 };
  for (let ms = 0; ms < STORM_MS; ms += MINUTE_MS) {
    const before = { ...busyMs };
    await scheduler.advanceTo(plusMs(world.timeline.now(), MINUTE_MS));
    for (const list of ['jobs', 'workspaces'] as const)
      shares[list] = Math.max(shares[list], (busyMs[list] - before[list]) / MINUTE_MS);
  }
  return { ...counts, shares };
}

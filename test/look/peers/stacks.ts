/** Several stacks of one coderd in one world: each has a pool of the same tags and a function of its own. */
import { Random } from '../../../lab/world/base/random.ts';
import { VirtualScheduler } from '../../../lab/world/base/virtual-scheduler.ts';
import { InProcessFunction } from '../../../lab/world/in-process/function.ts';
import { World, type WorldFigures } from '../../../lab/world/world.ts';
import { checkConfig } from '../../../lambda/config/check.ts';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { labConfig, START } from '../../support/lab.ts';

/** The pool of a stack, as its file has it. */
export type StackSpec = {
  readonly name: string;
  readonly peers?: { readonly self: string; readonly others: readonly string[] } | undefined;
  readonly max?: number;
  /** When its function does not run, in minutes from the start. */
  readonly outages?: readonly (readonly [from: number, to: number])[];
};

export type StacksOptions = {
  readonly stacks: readonly StackSpec[];
  /** Whether one function has the pools of all stacks. */
  readonly isOneFunction?: boolean;
  /** In order of time. */
  readonly builds: readonly Build[];
  readonly seed?: number;
  readonly warm?: number | 'auto';
};

export type Build = { readonly atMs: number; readonly tookMs: number };

export type StacksFigures = WorldFigures & {
  /** Of each build that has started, in the order of `builds`, in milliseconds. */
  readonly waitsMs: readonly number[];
  /** How many builds have ended well. */
  readonly succeeded: number;
};

/** Lambda ends a process after such a time, and its memory is lost. */
const LIFE_MS = [3 * MINUTE_MS, 60 * MINUTE_MS] as const;
const STEP_MS = 10 * MINUTE_MS;
/** For the last builds, and the last tasks to drain. */
const TAIL_MS = 45 * MINUTE_MS;

/** Runs all builds, with random restarts of the functions. */
export async function runStacks(options: StacksOptions): Promise<StacksFigures> {
  const { stacks, builds, seed = 1, isOneFunction = false } = options;
  const world = new World({
    start: START,
    seed,
    pools: stacks.map(({ name }) => ({
      ...{ name, organization: 'default', tags: {}, desiredCount: 0 },
      ...(isOneFunction ? {} : { stack: name }),
    })),
  });
  const scheduler = new VirtualScheduler(world.timeline);
  const random = new Random(seed);
  const configs = stacks.map((stack) => configOf(stack, options));
  if (isOneFunction) startFunction({ world, scheduler, random }, together(configs));
  else
    for (const [index, config] of configs.entries())
      startFunction({ world, scheduler, random }, config, stacks[index]);
  for (const { atMs, tookMs } of builds)
    world.timeline.after(atMs, () =>
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: tookMs }),
    );
  const endsAt = plusMs(START, (builds.at(-1)?.atMs ?? 0) + TAIL_MS);
  for (let at = START; at < endsAt; at = plusMs(at, STEP_MS)) await scheduler.advanceTo(at as EpochMs);
  const jobs = world.coderd.jobs();
  return {
    ...world.figures(),
    waitsMs: jobs.flatMap(({ createdAt, startedAt }) =>
      startedAt === undefined ? [] : [startedAt - createdAt],
    ),
    succeeded: jobs.filter(({ status }) => status === 'succeeded').length,
  };
}

function configOf({ name, peers, max = 200 }: StackSpec, { warm = 0 }: StacksOptions): Config {
  const written = labConfig('https://coderd', [{ name, organization: 'default', tags: {} }]) as {
    readonly pools: readonly object[];
  };
  const pools = written.pools.map((pool) => ({
    ...pool,
    peers,
    max,
    warm,
    idleTimeout: '20s',
    startTime: '60s',
  }));
  return checkConfig({ ...written, limits: { maxTasks: 500 }, pools }).config;
}

/** A file may not have two pools of the same tags, but the decision may. */
function together(configs: readonly Config[]): Config {
  const [first] = configs as readonly [Config];
  return { ...first, pools: configs.flatMap(({ pools }) => pools) };
}

type Running = { readonly world: World; readonly scheduler: VirtualScheduler; readonly random: Random };

function startFunction({ world, scheduler, random }: Running, config: Config, stack?: StackSpec): void {
  const isDown = (): boolean =>
    (stack?.outages ?? []).some(([from, to]) => {
      const minutes = (scheduler.now() - START) / MINUTE_MS;
      return minutes >= from && minutes < to;
    });
  const deployed = new InProcessFunction({
    ...{ world, scheduler, lifeMs: LIFE_MS, random: new Random(random.whole(0, 2 ** 31 - 1)) },
    ...(stack && { stack: stack.name }),
    config: () => config,
    onLook: () => {},
    onInvoked: ({ error }) => {
      if (error !== undefined) throw error;
    },
  });
  const { handler } = deployed.queue;
  deployed.queue.handler = async (body) => isDown() || handler(body);
  const run = async (): Promise<never> => {
    await scheduler.wait(random.whole(0, MINUTE_MS));
    for (;;) {
      if (!isDown()) void deployed.invoke();
      await scheduler.wait(MINUTE_MS);
    }
  };
  void run();
}

/** Builds whose number an hour rises and falls with a period of a day, some of them in bursts. */
export function drawBuilds(
  count: number,
  { anHour, seed = 1 }: { readonly anHour: number; readonly seed?: number },
): readonly Build[] {
  const random = new Random(seed);
  const builds: Build[] = [];
  for (let atMs = MINUTE_MS; builds.length < count; ) {
    const wave = 0.55 - 0.45 * Math.cos((2 * Math.PI * atMs) / (24 * 60 * MINUTE_MS));
    const mean = (60 * MINUTE_MS) / (anHour * wave);
    atMs += Math.round(-Math.log(1 - random.between(0, 1)) * mean);
    const size = random.next() < 0.03 ? random.whole(3, 12) : 1;
    for (let index = 0; index < size && builds.length < count; index++)
      builds.push({ atMs: atMs + index * 200, tookMs: random.whole(20_000, 240_000) });
  }
  return builds;
}

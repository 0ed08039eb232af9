/** Four hours of `npm run try` on a virtual clock: what its function logs and measures. */
import { checkConfig } from '../../../lambda/config/check.ts';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { Random } from '../../world/base/random.ts';
import { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import { InProcessFunction } from '../../world/in-process/function.ts';
import type { LogEvent } from '../../world/logs/insights.ts';
import { World } from '../../world/world.ts';
import { addScheduledWorkspaces, planBuilds, planDeath } from '../try/builds.ts';
import { POOLS } from '../try/pools.ts';

const START = Date.parse('2026-03-02T05:00:00Z') as EpochMs;
export const END = plusMs(START, 4 * HOUR_MS);
/** A build dies so long before the end, which is an alarm. */
const DIED_BEFORE_MS = 40 * MINUTE_MS;
/** Rarer than those of `npm run try`, which saves most of the time that it takes. */
const LOOKS_MS = 20_000;
const REQUEST_MS: readonly [number, number] = [20, 90];
const SEED = 1;

export type Datum = { readonly at: EpochMs; readonly value: number };
export type DashboardData = {
  /** The newest one first, as Logs Insights returns them. */
  readonly events: readonly LogEvent[];
  /** By name. */
  readonly metrics: ReadonlyMap<string, readonly Datum[]>;
};

/** `config`: as a user writes it, parsed. `environment`: the function's variables, set in this process. */
export async function watchDeployment(
  config: unknown,
  environment: Readonly<Record<string, string>>,
): Promise<DashboardData> {
  Object.assign(process.env, environment, { POWERTOOLS_METRICS_DISABLED: 'false' });
  // it reads the variables when it is loaded
  const { reporterOf } = await import('../../../lambda/telemetry/telemetry.ts');
  const world = watchedWorld();
  const scheduler = new VirtualScheduler(world.timeline);
  const metrics = new Map<string, Datum[]>();
  const publish = (name: string, value: unknown): void => {
    const at = scheduler.now();
    if (typeof value === 'number') metrics.set(name, [...(metrics.get(name) ?? []), { at, value }]);
  };
  const stop = onLines((line) => {
    const document = parseQuietly(line);
    if (typeof document !== 'object' || document === null) return;
    if (!('_aws' in document)) world.logs.put(world.logGroupName, line);
    else for (const [name, value] of Object.entries(document)) publish(name, value);
  });
  const random = new Random(SEED);
  const slowly = async <T>(answer: () => T): Promise<T> => {
    await scheduler.wait(random.between(...REQUEST_MS));
    return answer();
  };
  const report = reporterOf({
    clock: { now: () => scheduler.now(), sleep: (ms) => scheduler.wait(ms) },
    perPool: false,
  });
  const { config: checked } = checkConfig(config);
  void new InProcessFunction({
    world,
    scheduler,
    config: () => ({ ...checked, looks: { everyMs: LOOKS_MS } }),
    random,
    line: () => ({ coderd: slowly, ecs: slowly, others: slowly }),
    onLook: (result, durationMs) => report({ result, calls: {}, durationMs }),
    onInvoked: ({ startedAt, error }) => {
      publish('Duration', scheduler.now() - startedAt);
      publish('Errors', error === undefined ? 0 : 1);
      publish('Throttles', 0);
      // each task has one vCPU
      publish(
        'ResourceCount',
        world.ecs.tasks().filter(({ state }) => state.lastStatus !== 'STOPPED').length,
      );
    },
  }).run();
  await scheduler.advanceTo(END);
  stop();
  return { events: world.logs.eventsOf(world.logGroupName).toReversed(), metrics };
}

function watchedWorld(): World {
  const world = new World({ start: START, seed: SEED, pools: POOLS, readLagMs: 2_000 });
  addScheduledWorkspaces(world);
  planBuilds({ world, random: new Random(SEED), announce: () => {} });
  planDeath(world, END - START - DIED_BEFORE_MS);
  return world;
}

/** Calls `onLine` with each line that this process writes, instead of writing it. Returns how to end that. */
function onLines(onLine: (line: string) => void): () => void {
  const streams = [process.stdout, process.stderr].map((stream) => ({ stream, write: stream.write }));
  for (const { stream } of streams)
    stream.write = (text: string | Uint8Array) => {
      for (const line of String(text).split('\n')) if (line !== '') onLine(line);
      return true;
    };
  return () => {
    for (const { stream, write } of streams) stream.write = write;
  };
}

/** Measures `tune` for a week of a small team with eight seeds, beside one replay of that week. */
import { readFileSync } from 'node:fs';
import { readConfig } from '../../lambda/config/read.ts';
import { configFileOf, SCENARIOS } from '../what-if/scenarios/index.ts';
import { orderOf } from '../what-if/search/compare.ts';
import { tune, USUAL_SEEDS } from '../what-if/search/tune.ts';
import { startWorkerPool } from '../what-if/search/worker-pool.ts';
import { generateTrace } from '../what-if/trace/generate/generate.ts';
import { BenchError } from './statistics.ts';

export type TuneFigures = {
  readonly jobs: number;
  /** Of all threads, in processor time. */
  readonly tuneMs: number;
  readonly replayMs: number;
  readonly ratio: number;
};

export async function measureTune(seed: number): Promise<TuneFigures> {
  const scenario = SCENARIOS.find(({ name }) => name === 'small-team');
  if (scenario === undefined) throw new BenchError('finding the scenario "small-team": there is none');
  const trace = generateTrace(scenario, { seed, days: 7 });
  const file = configFileOf(scenario);
  const { config } = readConfig(readFileSync(file, 'utf8'), file);
  const workerPool = startWorkerPool(1);
  const given = { trace, config, region: 'us-east-1' };
  const order = orderOf({ ...given, seed, valueOfMinute: 0 }, { policy: 'autoscaler' }, false);
  const replayMs = await cpuOf(() => workerPool.run(order));
  const target = { kind: 'mean-wait', seconds: 15 } as const;
  const tuneMs = await cpuOf(() => tune({ ...given, target, seed: 1, seeds: USUAL_SEEDS }));
  await workerPool.close();
  return { jobs: trace.jobs.length, tuneMs, replayMs, ratio: tuneMs / replayMs };
}

async function cpuOf(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

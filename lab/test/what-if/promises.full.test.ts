/** How far the promised starts are from the truth of its replay. */
import { expect, it } from 'vitest';
import { loadConfig } from '../../../lambda/config/load.ts';
import { type JobId, plusMs } from '../../../lambda/decision/model/brands.ts';
import { percentile } from '../../../lambda/decision/model/collections.ts';
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import { run } from '../../what-if/replay/run.ts';
import { configFileOf, SCENARIOS } from '../../what-if/scenarios/index.ts';
import { generateTrace } from '../../what-if/trace/generate/generate.ts';

const SEED = 1;
/** Times are in whole seconds. */
const LEAST_MS = 1000;

type Said = { readonly at: number; readonly p50: number; readonly p95: number };

it('promised starts have a median within a factor of two, and four in five jobs come by their p95', async () => {
  const [scenario] = SCENARIOS.filter(({ name }) => name === 'agents');
  if (scenario === undefined) throw new Error('the scenario is gone');
  const trace = generateTrace(scenario, { seed: SEED, days: 1 });
  const to = plusMs(trace.from, 6 * HOUR_MS);
  const said = new Map<JobId, Said[]>();
  const factors: number[] = [];
  let kept = 0;
  await run(
    { kind: 'autoscaler' },
    {
      ...{
        trace: { ...trace, to, jobs: trace.jobs.filter((job) => job.at < to) },
        seed: SEED,
        isPictured: false,
      },
      ...{ config: loadConfig(configFileOf(scenario)).config, valueOfMinute: 1, dollarsPerHour: () => 1 },
      onLook: ({ snapshot, promises }) => {
        for (const { id, startsAt } of promises().pendingJobs)
          if (startsAt !== null)
            said.set(id, [
              ...(said.get(id) ?? []),
              { at: snapshot.takenAt, p50: Date.parse(startsAt.p50), p95: Date.parse(startsAt.p95) },
            ]);
      },
      onAcquired: (job, startedAt) => {
        for (const { at, p50, p95 } of said.get(job) ?? []) {
          const [about, was] = [p50, startedAt].map((time) => Math.max(LEAST_MS, time - at)) as [
            number,
            number,
          ];
          factors.push(Math.max(about / was, was / about));
          if (startedAt <= p95 + LEAST_MS) kept++;
        }
      },
    },
  );
  const factor = percentile(
    factors.toSorted((a, b) => a - b),
    0.5,
  );
  console.info(
    `${factors.length} promises: median factor ${factor.toFixed(2)}, by p95 ${((100 * kept) / factors.length).toFixed(1)} %`,
  );
  expect(factors.length).toBeGreaterThan(100);
  expect(factor).toBeLessThan(2);
  expect(kept / factors.length).toBeGreaterThan(0.8);
});

/** How close the sketch of `tune` is to the function. */
import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { estimatesOf } from '../../what-if/estimate/estimate.ts';
import { type Sketch, sketches } from '../../what-if/search/sketch.ts';
import type { Trace, TraceJob } from '../../what-if/trace/trace.ts';
import { aDeployment, aTrace, aTraceJob, atSecond, DOLLARS_PER_HOUR, runOurs } from './support.ts';

const MINUTE = 60;
const HOURS = 3;
/** Builds of people at uneven times, and some that coderd makes. */
const JOBS: readonly TraceJob[] = Array.from({ length: 30 }, (_, at) =>
  aTraceJob({
    at: atSecond(Math.floor((at + ((at * 7) % 13) / 13) * 6) * MINUTE),
    seconds: 40 + ((at * 17) % 60),
    kind: at % 9 === 8 ? 'autostart' : 'user',
  }),
).toSorted((a, b) => a.at - b.at);

const traceOf = (jobs: readonly TraceJob[]) => aTrace({ to: atSecond(HOURS * 60 * MINUTE), jobs });
const atPrice = (person: number, settings: object = {}, maxTasks = 500) =>
  aDeployment([{ min: 0, max: 10, waiting: { person }, ...settings }], maxTasks);
const sketchAll = (trace: Trace, configs: readonly Deployment[]) => [
  ...sketches({ trace, configs, seeds: [1, 2, 3], dollarsPerHour: () => DOLLARS_PER_HOUR }),
];

function sketchAt(person: number, settings: object = {}, jobs = JOBS, maxTasks = 500) {
  const [trace, config] = [traceOf(jobs), atPrice(person, settings, maxTasks)];
  const [sketched = []] = sketchAll(trace, [config]);
  return { trace, config, sketches: sketched };
}

const levelsOf = (sketched: readonly Sketch[]) => estimatesOf(sketched.map(({ days }) => days));

describe('the sketch', () => {
  it.each([0, 0.0135])(
    'has about the cost and the waits of a replay, launches at $%f',
    async (dollarsPerLaunch) => {
      const { trace, config, sketches } = sketchAt(0.1, { dollarsPerLaunch });
      const { days, figures } = await runOurs({ trace, config });
      const [quick, whole] = [levelsOf(sketches), estimatesOf([days])];
      const factorOf = (name: 'dollarsPerMonth' | 'meanWaitS'): number =>
        quick[name].value / whole[name].value;
      expect(Math.abs(Math.log(factorOf('dollarsPerMonth')))).toBeLessThan(Math.log(1.1));
      // it learns a rule later than the function: two builds more wait for a start, of the first ones
      expect(factorOf('meanWaitS')).toBeGreaterThan(1 / 1.4);
      expect(factorOf('meanWaitS')).toBeLessThan(2.3);
      expect(sketches[0]?.days.flatMap(({ waitsS }) => waitsS)).toHaveLength(figures.waitOfPeople.jobs);
    },
  );

  it('is as close where two sets of pools share one, with builds that outlast a start', () => {
    const gpu = { gpu: 'a10' };
    const large = { ...gpu, size: 'large' };
    const jobs = Array.from({ length: 40 }, (_, at) =>
      aTraceJob({
        at: atSecond(Math.floor((at + ((at * 7) % 13) / 13) * 4.25 * MINUTE)),
        seconds: 150 + ((at * 17) % 60) * 5,
        tags: at % 3 === 0 ? large : gpu,
      }),
    ).toSorted((a, b) => a.at - b.at);
    const trace = aTrace({ to: atSecond(HOURS * 60 * MINUTE), jobs });
    const pool = { min: 0, max: 10, waiting: { person: 1 } };
    const config = aDeployment([
      { ...pool, name: 'gpu', tags: gpu },
      { ...pool, name: 'large', tags: large },
    ]);
    const [sketched = []] = sketchAll(trace, [config]);
    const quick = levelsOf(sketched);
    // a replay has $8,586 a month and a mean wait of 3.9 s
    expect(Math.abs(Math.log(quick.dollarsPerMonth.value / 8586))).toBeLessThan(Math.log(1.25));
    expect(quick.meanWaitS.value).toBeLessThan(2 * 3.9);
  });

  it('costs more and waits less at a higher price', () => {
    const rare = JOBS.filter((_, at) => at % 4 === 0);
    const [low, high] = [0.01, 1].map((price) => levelsOf(sketchAt(price, {}, rare).sketches));
    expect(high?.dollarsPerMonth.value).toBeGreaterThan(low?.dollarsPerMonth.value ?? 0);
    expect(high?.meanWaitS.value).toBeLessThan((low?.meanWaitS.value ?? 0) / 2);
  });

  it('has the tasks of min and warm, and at most max and maxTasks', () => {
    const burst = Array.from({ length: 30 }, (_, second) => aTraceJob({ at: atSecond(MINUTE + second) }));
    expect(sketchAt(0.1, { max: 4 }, burst).sketches[0]?.peaks).toEqual({ all: 4, byPool: { default: 4 } });
    expect(sketchAt(0.1, {}, burst, 3).sketches[0]?.peaks.all).toBe(3);
    const [bare, least, warm] = [{}, { min: 2 }, { warm: 3 }].map(
      (settings) => levelsOf(sketchAt(0.01, settings, burst).sketches).dollarsPerMonth.value,
    );
    const month = 730 * DOLLARS_PER_HOUR;
    expect(least).toBeGreaterThan(1.9 * month);
    expect(warm).toBeGreaterThan(2.8 * month);
    expect(bare).toBeLessThan(month);
  });

  it.each([
    ['with a learned rule', {}],
    ['where a launch is dear, so that builds of a low price wait', { warm: 0, dollarsPerLaunch: 0.0135 }],
  ])('is the same for the same seed, beside other prices too, %s', (_, settings) => {
    const prices = [0, 0.01, 0.1, 1];
    const pairs = JOBS.flatMap((job) => [job, { ...job, at: (job.at + 30_000) as EpochMs }]);
    const together = sketchAll(
      traceOf(pairs),
      prices.map((price) => atPrice(price, settings)),
    );
    expect(together).toEqual(prices.map((price) => sketchAt(price, settings, pairs).sketches));
    expect(new Set(together.map((each) => JSON.stringify(each))).size).toBeGreaterThan(1);
  });
});

/** Whole runs over short traces, each with one event to test. */
import { describe, expect, it } from 'vitest';
import { IS_FULL, rows } from '../../../test/support/runs.ts';
import type { Figures } from '../../what-if/replay/result.ts';
import type { Run } from '../../what-if/replay/run.ts';
import { EXECUTOR_KINDS, type JobKind, type Trace } from '../../what-if/trace/trace.ts';
import {
  aDeployment,
  aTrace,
  aTraceJob,
  atSecond,
  DOLLARS_PER_HOUR,
  runBaseline,
  runOurs,
  VALUE_OF_MINUTE,
} from './support.ts';

const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** A pool that drains soon and scales in to zero. */
const BRISK = aDeployment([{ min: 0, idleTimeout: '1m' }]);

const NOBODY: Figures['jobs'] = { submitted: 0, succeeded: 0, reaped: 0, killed: 0, unserved: 0 };

describe("a job of coderd's executor", () => {
  const quietHour = (kinds: readonly JobKind[]): Trace =>
    aTrace({
      to: atSecond(HOUR_S),
      jobs: [
        ...kinds.map((kind) => aTraceJob({ at: atSecond(15 * MINUTE_S + 30), kind })),
        aTraceJob({ at: atSecond(30 * MINUTE_S) }),
      ],
    });

  it('waits only for the full minute with a static fleet', async () => {
    const { figures } = await runBaseline('static', { trace: quietHour([...EXECUTOR_KINDS]) });
    for (const kind of EXECUTOR_KINDS) expect(figures.waitByKind[kind]).toMatchObject({ jobs: 1, meanS: 30 });
    expect(figures.executor).toEqual({ due: 3, delayed: 0, tooLate: 0, longestStopDelayS: 0 });
  });

  it('waits from zero until another job wakes the pool', async () => {
    const { figures } = await runBaseline('from-zero', { trace: quietHour([...EXECUTOR_KINDS]) });
    // due at 9:16; the job of 9:30 wakes the pool, which is later than the ten
    // minutes allows
    const { longestStopDelayS, ...counts } = figures.executor;
    expect(counts).toEqual({ due: 3, delayed: 3, tooLate: 3 });
    expect(longestStopDelayS).toBeGreaterThanOrEqual(14 * MINUTE_S);
    expect(longestStopDelayS).toBeLessThanOrEqual(17 * MINUTE_S);
    for (const kind of EXECUTOR_KINDS)
      expect(figures.waitByKind[kind]?.meanS).toBeGreaterThan(14.5 * MINUTE_S);
    expect(figures.jobs).toMatchObject({ submitted: 4, succeeded: 4 });
  });

  it('finds a daemon of a pool that the forecast woke', async () => {
    const { figures } = await runOurs({ trace: quietHour(['autostart']), config: BRISK });
    expect(figures.waitByKind.autostart).toMatchObject({ jobs: 1, meanS: 30 });
    expect(figures.executor).toEqual({ due: 1, delayed: 0, tooLate: 0, longestStopDelayS: 0 });
  });
});

it('adds the price of each launch to the dollars of tasks', async () => {
  const trace = aTrace({ jobs: [aTraceJob(), aTraceJob({ at: atSecond(5) })] });
  const pricey = aDeployment([{ dollarsPerLaunch: 0.25 }]);
  const [{ figures: free }, { figures: priced }] = await Promise.all([
    runBaseline('from-zero', { trace, config: aDeployment([{}]) }),
    runBaseline('from-zero', { trace, config: pricey }),
  ]);
  const { byPool: _, ...tasks } = priced.tasks;
  expect(free.tasks).toMatchObject(tasks);
  expect(priced.tasks.launches).toBeGreaterThan(0);
  expect(priced.dollars.tasks).toBeCloseTo(free.dollars.tasks + 0.25 * priced.tasks.launches, 9);
});

describe('jobs that no pool can run', () => {
  const [organization, tags] = ['nobody', { gpu: 'h100' }];
  const trace = aTrace({
    to: atSecond(40 * MINUTE_S),
    jobs: [
      aTraceJob({ organization }),
      aTraceJob({ tags }),
      aTraceJob({ organization, kind: 'autostop' }),
      aTraceJob({ tags, kind: 'autostart', at: atSecond(90) }),
    ],
  });

  it('are reaped after 30 min if coderd inserted them, and wait to the end if not', async () => {
    const { figures } = await runOurs({ trace });
    expect(figures.jobs).toEqual({ ...NOBODY, submitted: 4, reaped: 2, unserved: 2 });
    expect(figures.executor).toMatchObject({ due: 2, delayed: 2 });
    // the reaper runs once a minute and fails jobs that are older than 30 min
    expect(figures.waitByKind.user).toMatchObject({ jobs: 2, meanS: 31 * MINUTE_S });
    expect(figures.waitByKind.autostart?.meanS).toBe(40 * MINUTE_S - 90);
    expect(figures.waitByPool).toEqual({ '-': figures.wait });
    // 30 min for each wait, and 30 min for each failed job; people do not wait for the autostop
    expect(figures.dollars.waiting).toBeCloseTo(3 * 30 * VALUE_OF_MINUTE, 9);
    expect(figures.dollars.failures).toBeCloseTo(3 * 30 * VALUE_OF_MINUTE, 9);
  });

  it('do not prolong the run, and launch no tasks', async () => {
    const { figures } = await runBaseline('static', { trace });
    expect(figures.tasks).toMatchObject({ hours: (10 * 40) / 60, busyHours: 0 });
    expect((await runOurs({ trace, config: BRISK })).figures.tasks).toMatchObject({ hours: 0, launches: 0 });
  });
});

describe('a scale-in', () => {
  const LONG_S = 25 * MINUTE_S;
  const trace = aTrace({
    to: atSecond(40 * MINUTE_S),
    jobs: [LONG_S, LONG_S, LONG_S, 60, 60, 60, 60, 60, 60, 60].map((seconds) => aTraceJob({ seconds })),
  });

  it.each([
    { id: 'agent-scaler', runPolicy: () => runBaseline('agent-scaler', { trace }) },
    { id: 'autoscaler', runPolicy: () => runOurs({ trace, config: BRISK }) },
  ])('by the $id kills none', async ({ runPolicy }) => {
    const { figures } = await runPolicy();
    expect(figures.jobs).toEqual({ ...NOBODY, submitted: 10, succeeded: 10 });
    expect(figures.tasks.busyHours).toBeCloseTo((3 * LONG_S + 7 * 60) / HOUR_S, 9);
    expect(figures.tasks.hours).toBeLessThan(10 * (40 / 60));
  });
});

describe('an outage of coderd', () => {
  const NO_STOCK = aDeployment([{ min: 0, warm: 0, idleTimeout: '1m' }]);
  /** From 9:10 to 9:40. */
  const OUTAGE = { at: atSecond(10 * MINUTE_S), seconds: 30 * MINUTE_S };
  const trace = aTrace({
    to: atSecond(HOUR_S),
    outages: [OUTAGE],
    jobs: Array.from({ length: 5 }, () => aTraceJob({ at: atSecond(8 * MINUTE_S) })),
  });

  it('holds scale-in of the autoscaler, and causes no unexpected error', async () => {
    const idle = idleOf(await runOurs({ trace, config: NO_STOCK, isPictured: true }));
    expect(idle.slice(12, 40)).toEqual(Array(28).fill(5));
    expect(idle.slice(50)).toEqual(Array(10).fill(0));
  });

  it("does not stop idle agents of Buildkite's scaler from exiting", async () => {
    const idle = idleOf(await runBaseline('agent-scaler', { trace, isPictured: true }));
    expect(idle[12]).toBe(5);
    expect(idle.slice(30, 40)).toEqual(Array(10).fill(0));
  });

  const idleOf = ({ pools }: Run): readonly number[] => pools[0]?.idle ?? [];
});

describe('the period of a trace', () => {
  it('costs only the floors when it has no jobs', async () => {
    const { figures } = await runOurs({ config: aDeployment([{ min: 2 }]) });
    expect(figures.jobs).toEqual(NOBODY);
    expect(figures.wait).toMatchObject({ jobs: 0, meanS: 0, maxS: 0, over60s: 0 });
    const dollars = 0.5 * DOLLARS_PER_HOUR;
    expect(figures.tasks).toEqual({
      ...{ hours: 0.5, busyHours: 0, peak: 2, launches: 0, idleLaunches: 0 },
      byPool: { default: { dollars, launches: 0 } },
    });
    expect(figures.dollars).toEqual({ tasks: dollars, waiting: 0, failures: 0, total: dollars });
  });

  it('includes jobs at its first and at its last moment', async () => {
    const ends = [atSecond(0), atSecond(15 * MINUTE_S)];
    const jobs = ends.flatMap((at) => [aTraceJob({ at }), aTraceJob({ at, kind: 'autostart' })]);
    const { figures } = await runBaseline('static', { trace: aTrace({ jobs }) });
    expect(figures.jobs).toEqual({ ...NOBODY, submitted: 4, succeeded: 4 });
    expect(figures.wait.maxS).toBe(0);
    // ten tasks are billed to the end of the period, two of them to the end of the last jobs
    expect(figures.tasks.hours).toBeCloseTo((10 * 15 + 2) / 60, 9);
  });

  it.each(rows([1, 8], 1))('can be longer than %i days with the same daemon', async (last) => {
    const jobs = [0, 0.5, last].flatMap((day) => [
      aTraceJob({ at: atSecond(day * DAY_S + 5) }),
      aTraceJob({ at: atSecond(day * DAY_S + HOUR_S + 30), kind: 'autostart' }),
    ]);
    const config = aDeployment([{ min: 1, warm: 0 }]);
    const trace = aTrace({ to: atSecond(last * DAY_S + 2 * HOUR_S), jobs });
    const { figures } = await runOurs({ trace, config });
    expect(figures.jobs).toEqual({ ...NOBODY, submitted: 6, succeeded: 6 });
    expect(figures.wait).toMatchObject({ maxS: 30, meanS: 15 });
    expect(figures.tasks).toMatchObject({ hours: last * 24 + 2, peak: 1, launches: 0 });
  });
});

/** A day in full: the guard's protection lasts longer than that. */
const LONG_HOURS = IS_FULL ? 24 : 2;

it.each([
  { id: 'agent-scaler', runPolicy: (trace: Trace) => runBaseline('agent-scaler', { trace }) },
  { id: 'autoscaler', runPolicy: (trace: Trace) => runOurs({ trace, config: BRISK }) },
])('jobs of 0 s and of many hours succeed under $id', async ({ runPolicy }) => {
  const jobs = [aTraceJob({ seconds: LONG_HOURS * HOUR_S }), aTraceJob({ at: atSecond(90), seconds: 0 })];
  const { figures } = await runPolicy(aTrace({ to: atSecond(LONG_HOURS * HOUR_S + HOUR_S), jobs }));
  expect(figures.jobs).toEqual({ ...NOBODY, submitted: 2, succeeded: 2 });
  expect(figures.tasks.busyHours).toBe(LONG_HOURS);
});

describe('a run after the end of its period', () => {
  it('lets running jobs finish and bills their tasks', async () => {
    const { figures } = await runOurs({ trace: aTrace({ jobs: [aTraceJob({ seconds: 3 * HOUR_S })] }) });
    expect(figures.jobs).toEqual({ ...NOBODY, submitted: 1, succeeded: 1 });
    expect(figures.tasks).toMatchObject({ hours: 3, busyHours: 3 });
  });

  it('waits 35 min for pending jobs', async () => {
    const jobs = [aTraceJob({ at: atSecond(5 * MINUTE_S), kind: 'autostart' })];
    const { figures } = await runBaseline('from-zero', { trace: aTrace({ jobs }) });
    expect(figures.jobs).toEqual({ ...NOBODY, submitted: 1, unserved: 1 });
    expect(figures.wait.maxS).toBe((15 + 35 - 5) * MINUTE_S);
    const dollars = 30 * VALUE_OF_MINUTE;
    expect(figures.dollars).toEqual({ tasks: 0, waiting: dollars, failures: dollars, total: 2 * dollars });
  });
});

it.each([
  { startSeconds: [45, 50] as const, because: 'the usual time of a task with a guard' },
  { startSeconds: [180, 200] as const, because: 'the time of a large image' },
])('tasks take $startSeconds s to start if the trace has it: $because', async ({ startSeconds }) => {
  const [from, to] = startSeconds;
  const jobs = Array.from({ length: 10 }, () => aTraceJob({ at: atSecond(5 * MINUTE_S) }));
  const trace = aTrace({ startSeconds: [from, to], jobs });
  const { wait } = (await runOurs({ trace, config: BRISK })).figures;
  // before the first build a look comes each 10 s at most, and the scheduler takes 0.5 s to 3 s
  expect(wait.p50S).toBeGreaterThan(0.5 + from);
  expect(wait.maxS).toBeLessThan(10 + 3 + to);
});

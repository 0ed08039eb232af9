/**
 * Ten jobs and one pool, small enough to be worked out by hand: nothing below is copied from an
 * output.
 *
 * Seconds count from 09:00:00 and the period ends at 720. Jobs take 60 s each, the pool has 0 to 2
 * tasks, a task costs 0.001 dollars a second, waiting 0.01. All are people's but J1, an autostart:
 * it is due at 210 and coderd's executor comes at full minutes, so that it is inserted at 240 at
 * the earliest, and that only if the executor sees a daemon.
 *
 *   J1 210 (autostart)   J2 J3 305   J4 J5 425   J6 J7 J8 490   J9 620   J10 630
 *
 * From the moment a count is raised: the task is created 1 s later, its image is pulled and its
 * bill begins at 7 s, it is RUNNING at 21 s, a bare daemon has connected at 23.5 s. With a guard it
 * is 26.9 s: two calls of 0.2 s and 3 s of waiting to be told come before.
 */
import { describe, expect, it } from 'vitest';
import { boundsOf } from '../../backtest/bounds/of-a-trace.ts';
import type { Figures } from '../../backtest/replay/result.ts';
import type { Run, RunOptions } from '../../backtest/replay/run.ts';
import type { Latencies } from '../../simulator/ecs/parts/latencies.ts';
import {
  aDeployment,
  aTrace,
  aTraceJob,
  atSecond,
  DOLLARS_PER_HOUR,
  runBaseline,
  runOurs,
} from './support.ts';

const LATENCIES: Latencies = {
  react: [1000, 1000],
  boot: [20_000, 20_000],
  lease: [200, 200],
  connect: [2500, 2500],
  signal: [1000, 1000],
  stop: [10_000, 10_000],
  healthyMs: 40_000,
};

const TRACE = aTrace({
  to: atSecond(720),
  // of these the bounds take the boot of 20 s and add the shortest way from there to a daemon, 2.5
  // s
  startSeconds: [25.6, 29.8],
  jobs: [
    aTraceJob({ at: atSecond(210), kind: 'autostart' }),
    ...[305, 305, 425, 425, 490, 490, 490, 620, 630].map((seconds) => aTraceJob({ at: atSecond(seconds) })),
  ],
});

const CONFIG = aDeployment([{ min: 0, max: 2, warm: 0, idleTimeout: '5m' }]);

const GIVEN: Partial<RunOptions> = { trace: TRACE, config: CONFIG, latencies: LATENCIES };

/** What was worked out. Seconds. */
type Expected = {
  /** In ascending order. */
  readonly waits: readonly number[];
  readonly waitOfAutostart: number;
  readonly isDelayed: boolean;
  /** Of all tasks. */
  readonly billed: number;
  readonly launches: number;
  readonly dollars: Pick<Figures['dollars'], 'tasks' | 'waiting' | 'total'>;
};

function expectRun({ figures }: Run, expected: Expected): void {
  const { waits, waitOfAutostart, isDelayed, billed, launches, dollars } = expected;
  expect(figures.jobs).toEqual({ submitted: 10, succeeded: 10, reaped: 0, killed: 0, unserved: 0 });
  expect(figures.executor).toMatchObject({ due: 1, delayed: isDelayed ? 1 : 0 });
  const { wait, waitByKind, tasks } = figures;
  const sum = waits.reduce((total, each) => total + each, 0);
  expect(wait.meanS).toBeCloseTo(sum / 10, 9);
  // of ten values the fifth has half of them up to it, and only the last has 95 % of them
  expect([wait.p50S, wait.p95S, wait.p99S, wait.maxS]).toEqual([waits[4], waits[9], waits[9], waits[9]]);
  const over = (seconds: number): number => waits.filter((each) => each > seconds).length / 10;
  expect([wait.over10s, wait.over60s, wait.over5min]).toEqual([over(10), over(60), over(300)]);
  expect(waitByKind.autostart).toMatchObject({ jobs: 1, meanS: waitOfAutostart });
  expect(tasks.hours).toBeCloseTo(billed / 3600, 9);
  expect(tasks).toMatchObject({ busyHours: 600 / 3600, peak: 2, launches, idleLaunches: 0 });
  for (const name of ['tasks', 'waiting', 'total'] as const)
    expect(figures.dollars[name]).toBeCloseTo(dollars[name], 9);
  expect(figures.dollars.failures).toBe(0);
}

describe('ten jobs on one pool', () => {
  /*
   * Two tasks, there since a quarter of an hour before: each is billed the whole period.
   *   J1 inserted and taken at 240: 30 s. J2 to J7 and J9, J10 find a free daemon.
   *   J8 comes while J6 and J7 run from 490 to 550: 60 s.
   * Waits: 30 + 60 = 90 s, 0.90. Tasks: 2 x 720 = 1440 s, 1.44.
   */
  it('cost a static fleet 2.34 dollars', async () => {
    expectRun(await runBaseline('static', GIVEN), {
      ...{ waits: [0, 0, 0, 0, 0, 0, 0, 0, 30, 60], waitOfAutostart: 30, isDelayed: false },
      ...{ billed: 1440, launches: 0, dollars: { tasks: 1.44, waiting: 0.9, total: 2.34 } },
    });
  });

  /*
   * KEDA looks at :00 and :30 of each minute, the HPA at 7.5 s and every 15 s from there.
   *   240, 300: the executor sees no daemon, and KEDA no job: J1 stays where it is.
   *   330: KEDA sees J2 and J3, 0 -> 1: task A, billed from 337, daemon at 353.5.
   *   337.5: the HPA sees two jobs for one replica, 1 -> 2. The scheduler has seen the pull of A at 337 and looks at 338 anyway: task B is
   *   created then, billed from 344, daemon at 360.5.
   *   A takes J2 at 353.5 (48.5 s) until 413.5. The executor sees A at 360 and inserts J1, at last.
   *   B takes J3, which is older than J1, at 360.5 (55.5 s) until 420.5.
   *   A takes J1 at 413.5 (203.5 s since it was due) until 473.5.
   *   425: J4 goes to B, until 485; J5 to A at 473.5 (48.5 s) until 533.5.
   *   490: J6 goes to B, until 550; J7 to A at 533.5 (43.5 s) until 593.5; J8 to B at 550 (60 s) until 610.
   *   620, 630: J9 and J10 find both free. In the last 300 s two replicas and more were wanted: both stay.
   * Waits: 48.5 + 55.5 + 203.5 + 48.5 + 43.5 + 60 = 459.5 s, 4.595. Tasks: (720 - 337) + (720 - 344) = 383 + 376 = 759 s, 0.759.
   */
  it('cost KEDA 5.354 dollars', async () => {
    expectRun(await runBaseline('keda', GIVEN), {
      ...{ waits: [0, 0, 0, 0, 43.5, 48.5, 48.5, 55.5, 60, 203.5], waitOfAutostart: 203.5, isDelayed: true },
      ...{ billed: 759, launches: 2, dollars: { tasks: 0.759, waiting: 4.595, total: 5.354 } },
    });
  });

  /*
   * It looks every 10 s.
   *   310: J2 and J3, 0 -> 2: both tasks are billed from 317, both daemons are there at 333.5 and take them (28.5 s each) until 393.5.
   *   360: the executor sees daemons and inserts J1: at 393.5 (183.5 s) until 453.5, by A, say.
   *   425: J4 goes to B, until 485; J5 to A at 453.5 (28.5 s) until 513.5.
   *   490: J6 goes to B, until 550; J7 to A at 513.5 (23.5 s) until 573.5; J8 to B at 550 (60 s) until 610.
   *   620, 630: J9 and J10 find both free. Nobody is idle for 600 s.
   * Waits: 2 x 28.5 + 183.5 + 28.5 + 23.5 + 60 = 352.5 s, 3.525. Tasks: 2 x (720 - 317) = 806 s, 0.806.
   */
  it("cost Buildkite's agent scaler 4.331 dollars", async () => {
    expectRun(await runBaseline('agent-scaler', GIVEN), {
      ...{ waits: [0, 0, 0, 0, 23.5, 28.5, 28.5, 28.5, 60, 183.5], waitOfAutostart: 183.5, isDelayed: true },
      ...{ billed: 806, launches: 2, dollars: { tasks: 0.806, waiting: 3.525, total: 4.331 } },
    });
  });

  /*
   * It looks at :20, and at :30, :40, :50 and :00 too while there is something to do, or something
   * is due in a few minutes.
   *   The workspace of J1 starts at 240. A task takes 90 s as far as is known, coderd sees its daemon within 15 s, two launches take
   *   0.24 s: the pool is woken at the first look from 240 - 105.24 = 134.76 on, which is at 140: 0 -> 1, task A, billed from 147,
   *   daemon at 166.9.
   *   J1 is inserted and taken at 240 (30 s) until 300.
   *   305: J2 goes to A, until 365. J3 is seen at 320 (there is no look at 310): 1 -> 2, task B, billed from 327, daemon at 346.9: 41.9 s,
   *   until 406.9.
   *   425: J4 and J5 find both free, until 485; 490: J6 and J7, too, until 550. J8 waits for them: two is the max (60 s), until 610.
   *   620, 630: J9 and J10 find both free. Nobody is idle for 10 min.
   * Waits: 30 + 41.9 + 60 = 131.9 s, 1.319. Tasks: (720 - 147) + (720 - 327) = 573 + 393 = 966 s, 0.966.
   */
  it('cost the autoscaler 2.285 dollars', async () => {
    expectRun(await runOurs(GIVEN), {
      ...{ waits: [0, 0, 0, 0, 0, 0, 0, 30, 41.9, 60], waitOfAutostart: 30, isDelayed: false },
      ...{ billed: 966, launches: 2, dollars: { tasks: 0.966, waiting: 1.319, total: 2.285 } },
    });
  });

  /*
   * Nobody waits but J1 for the executor: 30 s, a mean of 3. Ten jobs of 60 s are 600 s, 0.60: the
   * busy hours. A new task is billed 14 s of pull and rest and 2.5 s of connecting, so a task waits
   * for a job that is less than 16.5 s away.
   *   J1 240..300 on a new task, which waits 5 s for J2 at 305; J3 on a new one.
   *   J4 and J5 at 425 on new ones, as 60 s have passed since 365. They wait 5 s, from 485, for J6 and J7; J8 gets a new one.
   *   J9 at 620 is 70 s after 550, J10 at 630 comes while J9 runs: a new one each.
   * 7 launches x 16.5 + 3 waits x 5 + 600 = 115.5 + 15 + 600 = 730.5 s, 0.7305; no task is below a minute.
   */
  it('cost the clairvoyant 0.7305 dollars, and are 0.60 of busy hours', async () => {
    const [busy, clairvoyant] = await boundsOf({ trace: TRACE, config: CONFIG }, () => DOLLARS_PER_HOUR);
    expect(busy).toMatchObject({ bound: 'busy-hours', launches: 0, meanWaitS: 3 });
    expect(busy?.hours).toBeCloseTo(600 / 3600, 9);
    expect(busy?.dollars).toBeCloseTo(0.6, 9);
    expect(clairvoyant).toMatchObject({ bound: 'clairvoyant', launches: 7, meanWaitS: 3 });
    expect(clairvoyant?.hours).toBeCloseTo(730.5 / 3600, 9);
    expect(clairvoyant?.dollars).toBeCloseTo(0.7305, 9);
  });
});

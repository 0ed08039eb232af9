/**
 * Ten jobs and one pool, small enough to compute by hand. No number below is copied from an output.
 *
 * Seconds count from 09:00:00, and the period ends at 720. Jobs take 60 s each. The pool has 0 to 2
 * tasks. A second of a task costs 0.001 dollars, a second of waiting 0.01 dollars. People wait for
 * all jobs. J1 is an autostart: it is due at 210. coderd's executor runs at full minutes, so it
 * inserts J1 at 240 at the earliest, and only if it sees a daemon.
 *
 *   J1 210 (autostart)   J2 J3 305   J4 J5 425   J6 J7 J8 490   J9 620   J10 630
 *
 * After the desired count rises, ECS creates the task 1 s later. The image pull and the bill begin
 * at 7 s. The task is RUNNING at 21 s. A daemon without a guard connects at 23.5 s. A daemon with a
 * guard connects at 26.9 s: the guard makes two calls of 0.2 s, and waits 3 s for an order of ECS
 * to stop.
 */
import { describe, expect, it } from 'vitest';
import type { Figures } from '../../what-if/replay/result.ts';
import type { Run, RunOptions } from '../../what-if/replay/run.ts';
import type { Latencies } from '../../world/ecs/parts/latencies.ts';
import { aDeployment, aTrace, aTraceJob, atSecond, runBaseline, runOurs } from './support.ts';

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
  // the bounds derive the boot time of 20 s from these, and add the shortest time to connect, 2.5 s
  startSeconds: [25.6, 29.8],
  jobs: [
    aTraceJob({ at: atSecond(210), kind: 'autostart' }),
    ...[305, 305, 425, 425, 490, 490, 490, 620, 630].map((seconds) => aTraceJob({ at: atSecond(seconds) })),
  ],
});

const CONFIG = aDeployment([{ min: 0, max: 2, warm: 0, idleTimeout: '5m' }]);

const GIVEN: Partial<RunOptions> = { trace: TRACE, config: CONFIG, latencies: LATENCIES };

/** The expected figures, in seconds. */
type Expected = {
  /** Waits of all jobs, in ascending order. */
  readonly waits: readonly number[];
  readonly waitOfAutostart: number;
  readonly isDelayed: boolean;
  /** Billed time of all tasks. */
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
  // percentiles of ten values: p50 is the fifth value, p95 and p99 are the last one
  expect([wait.p50S, wait.p95S, wait.p99S, wait.maxS]).toEqual([waits[4], waits[9], waits[9], waits[9]]);
  expect(wait.over60s).toBe(waits.filter((each) => each > 60).length / 10);
  expect(waitByKind.autostart).toMatchObject({ jobs: 1, meanS: waitOfAutostart });
  expect(tasks.hours).toBeCloseTo(billed / 3600, 9);
  expect(tasks).toMatchObject({ busyHours: 600 / 3600, peak: 2, launches, idleLaunches: 0 });
  for (const name of ['tasks', 'waiting', 'total'] as const)
    expect(figures.dollars[name]).toBeCloseTo(dollars[name], 9);
  expect(figures.dollars.failures).toBe(0);
}

describe('ten jobs on one pool', () => {
  /*
   * Two tasks run from a quarter of an hour before. Each is billed for the whole period.
   *   J1 is inserted and taken at 240: 30 s. J2 to J7, J9 and J10 find a free daemon.
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
   * The scaler runs every 10 s.
   *   310: it sees J2 and J3, 0 -> 2. Both tasks are billed from 317. Both daemons connect at 333.5
   *   and take the jobs (28.5 s each) until 393.5.
   *   360: the executor sees daemons and inserts J1. A takes it at 393.5 (183.5 s) until 453.5.
   *   425: B takes J4, until 485. A takes J5 at 453.5 (28.5 s) until 513.5.
   *   490: B takes J6, until 550. A takes J7 at 513.5 (23.5 s) until 573.5. B takes J8 at 550
   *   (60 s) until 610.
   *   620, 630: J9 and J10 find both free. No agent is idle for 600 s.
   * Waits: 2 x 28.5 + 183.5 + 28.5 + 23.5 + 60 = 352.5 s, 3.525.
   * Tasks: 2 x (720 - 317) = 806 s, 0.806.
   */
  it("cost Buildkite's agent scaler 4.331 dollars", async () => {
    expectRun(await runBaseline('agent-scaler', GIVEN), {
      ...{ waits: [0, 0, 0, 0, 23.5, 28.5, 28.5, 28.5, 60, 183.5], waitOfAutostart: 183.5, isDelayed: true },
      ...{ billed: 806, launches: 2, dollars: { tasks: 0.806, waiting: 3.525, total: 4.331 } },
    });
  });

  /*
   * The autoscaler looks at :20. It also looks at :30, :40, :50 and :00 while it has something to
   * do, or something is due within a few minutes.
   *   The workspace of J1 starts at 240. The autoscaler assumes 90 s for the start of a task and 15
   *   s until coderd sees its daemon. Two launches take 0.24 s. So the first look after
   *   240 - 105.24 = 134.76 wakes the pool. It is at 140: 0 -> 1, task A, billed from 147, daemon
   *   at 166.9.
   *   J1 is inserted and taken at 240 (30 s) until 300.
   *   305: A takes J2, until 365. The autoscaler sees J3 at 320, as there is no look at 310: 1 ->
   *   2, task B, billed from 327, daemon at 346.9. It takes J3 (41.9 s) until 406.9.
   *   425: J4 and J5 find both free, until 485. 490: J6 and J7 find both free, until 550. J8 waits
   *   for them, as max is two (60 s), until 610.
   *   620, 630: J9 and J10 find both free. No daemon is idle for 10 min.
   * Waits: 30 + 41.9 + 60 = 131.9 s, 1.319.
   * Tasks: (720 - 147) + (720 - 327) = 573 + 393 = 966 s, 0.966.
   */
  it('cost the autoscaler 2.285 dollars', async () => {
    expectRun(await runOurs(GIVEN), {
      ...{ waits: [0, 0, 0, 0, 0, 0, 0, 30, 41.9, 60], waitOfAutostart: 30, isDelayed: false },
      ...{ billed: 966, launches: 2, dollars: { tasks: 0.966, waiting: 1.319, total: 2.285 } },
    });
  });
});

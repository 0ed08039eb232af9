import { describe, expect, it } from 'vitest';
import { IS_FULL } from '../../../test/support/runs.ts';
import { PEOPLE_WAIT_FOR, type WaitFigures } from '../../what-if/replay/result.ts';
import type { Run, RunOptions } from '../../what-if/replay/run.ts';
import { EXECUTOR_KINDS, JOB_KINDS, type TraceJob } from '../../what-if/trace/trace.ts';
import { Random } from '../../world/base/random.ts';
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
/** Long enough that the last job ends within the period. */
const [JOBS_MINUTES, PERIOD_MINUTES] = IS_FULL ? [60, 80] : [40, 60];

const POOLS = aDeployment([
  { warm: 1, idleTimeout: '2m' },
  { name: 'gpu', tags: { gpu: 'a10' }, idleTimeout: '2m' },
  { name: 'data', organization: 'data', min: 1 },
]);

const TAGS = [{}, { gpu: 'a10' }, { gpu: 'h100' }];

/** Jobs of all kinds in three organizations. No pool can run some of them. */
const BUSY = aTrace({ to: atSecond(PERIOD_MINUTES * MINUTE_S), jobs: someJobs(JOBS_MINUTES) });

function someJobs(count: number): readonly TraceJob[] {
  const random = new Random(11);
  const jobs = Array.from({ length: count }, () =>
    aTraceJob({
      at: atSecond(random.whole(0, JOBS_MINUTES * MINUTE_S * 1000 - 1) / 1000),
      organization: random.pick(['default', 'default', 'data', 'nobody']) ?? '',
      tags: random.pick(TAGS) ?? {},
      seconds: random.whole(0, 600),
      kind: random.pick(JOB_KINDS) ?? 'user',
    }),
  );
  return jobs.toSorted((a, b) => a.at - b.at);
}

type RunPolicy = (given: Pick<RunOptions, 'seed' | 'isPictured'>) => Promise<Run>;
const GIVEN = { trace: BUSY, config: POOLS };

const POLICY_RUNS: readonly { readonly id: string; readonly runPolicy: RunPolicy }[] = [
  { id: 'autoscaler', runPolicy: (given) => runOurs({ ...GIVEN, ...given }) },
  ...['static', 'from-zero', 'agent-scaler'].map((id) => ({
    id,
    runPolicy: (given: Parameters<RunPolicy>[0]) => runBaseline(id, { ...GIVEN, ...given }),
  })),
];

describe.each(POLICY_RUNS)('a run of $id', ({ runPolicy }) => {
  const run = runPolicy({ seed: 1, isPictured: true });

  it('has exactly the same figures for the same seed, also without series', async () => {
    const { pools, ...pictured } = await run;
    const { pools: none, ...plain } = await runPolicy({ seed: 1, isPictured: false });
    expect(JSON.stringify(plain)).toBe(JSON.stringify(pictured));
    expect([pools.length, none.length]).toEqual([3, 0]);
  });

  it('has figures that add up', async () => {
    const { figures } = await run;
    const { jobs, wait, waitOfPeople, waitByPool, waitByGroup, waitByKind, executor, tasks, dollars } =
      figures;
    const { submitted, ...ends } = jobs;
    const count = BUSY.jobs.length;
    expect(submitted).toBe(count);
    expect(sum(Object.values(ends))).toBe(count);
    const people = BUSY.jobs.filter(({ kind }) => PEOPLE_WAIT_FOR.has(kind)).length;
    expect(waitOfPeople.jobs).toBe(people);
    for (const parts of [waitByPool, waitByGroup, waitByKind]) expectParts(Object.values(parts), wait);
    expect(executor.due).toBe(BUSY.jobs.filter(({ kind }) => EXECUTOR_KINDS.has(kind)).length);
    expect(executor.delayed).toBeLessThanOrEqual(executor.due);
    expect(tasks.busyHours).toBeLessThanOrEqual(tasks.hours);
    expect(tasks.idleLaunches).toBeLessThanOrEqual(tasks.launches);
    expect(dollars.tasks).toBeCloseTo(tasks.hours * DOLLARS_PER_HOUR, 9);
    const byPeople = Object.entries(waitByKind).flatMap(([kind, own]) =>
      PEOPLE_WAIT_FOR.has(kind as TraceJob['kind']) ? [own] : [],
    );
    expectParts(byPeople, waitOfPeople);
    // at most 30 min of one wait count, and unserved jobs of coderd itself cost nothing
    expect(dollars.waiting).toBeLessThanOrEqual(
      ((waitOfPeople.jobs * waitOfPeople.meanS) / MINUTE_S) * VALUE_OF_MINUTE,
    );
    const { killed, reaped, unserved } = ends;
    const failed = (60 * killed + 30 * reaped) * VALUE_OF_MINUTE;
    expect(dollars.failures).toBeGreaterThanOrEqual(failed);
    expect(dollars.failures).toBeLessThanOrEqual(failed + 30 * unserved * VALUE_OF_MINUTE);
    expect(dollars.total).toBeCloseTo(dollars.tasks + dollars.waiting + dollars.failures, 9);
  });

  it('has series that agree with its figures', async () => {
    const { pools, figures } = await run;
    for (const pool of pools) {
      expect([pool.queue, pool.busy, pool.idle, pool.starting, pool.leaving].map(lengthOf)).toEqual(
        Array(5).fill(PERIOD_MINUTES),
      );
      const changes = pool.changes.map(({ from, to }) => [from, to]);
      expect(changes.slice(1).map(([from]) => from)).toEqual(changes.slice(0, -1).map(([, to]) => to));
      for (const { why } of pool.changes) expect(why).not.toEqual([]);
    }
    const shownHours = sum(pools.flatMap(({ busy }) => busy)) / 60;
    expect(shownHours / figures.tasks.busyHours).toBeGreaterThan(0.95);
    expect(shownHours / figures.tasks.busyHours).toBeLessThan(1.05);
  });
});

it('a run has other figures for another seed, as start times differ', async () => {
  const [one, two] = await Promise.all([1, 2].map((seed) => runBaseline('from-zero', { ...GIVEN, seed })));
  expect(JSON.stringify(two)).not.toBe(JSON.stringify(one));
});

const lengthOf = ({ length }: { readonly length: number }): number => length;
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Expects that the parts add up to the waits of all jobs. */
function expectParts(parts: readonly WaitFigures[], all: WaitFigures): void {
  expect(sum(parts.map(({ jobs }) => jobs))).toBe(all.jobs);
  for (const of of ['meanS', 'over60s'] as const)
    expect(sum(parts.map((part) => part[of] * part.jobs))).toBeCloseTo(all[of] * all.jobs, 6);
  expect(Math.max(...parts.map(({ maxS }) => maxS))).toBe(all.maxS);
}

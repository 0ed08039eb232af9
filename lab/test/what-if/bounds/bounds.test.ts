/**
 * The bounds, computed by hand. A job is `from-to` in seconds, with the letters of the pools that
 * can run it.
 */
import { describe, expect, it } from 'vitest';
import { table } from '../../../../test/support/table.ts';
import { clairvoyant } from '../../../what-if/bounds/clairvoyant.ts';
import { type BoundJob, type BoundPool, busyHours } from '../../../what-if/bounds/demand.ts';
import { LinearProgram } from '../../../what-if/bounds/linear-program.ts';
import { piecesOf } from '../../../what-if/bounds/pieces.ts';

/** Parses jobs such as `0-40 10-30AB`. Without letters the pool is A. */
function jobsOf(text: string): readonly BoundJob[] {
  return text.split(' ').map((each) => {
    const [, from = '', to = '', letters = ''] = /^(\d+)-(\d+)([A-Z]*)$/.exec(each) ?? [];
    const pools = [...(letters || 'A')].map((letter) => letter.charCodeAt(0) - 'A'.charCodeAt(0));
    return { startMs: Number(from) * 1000, durationMs: (Number(to) - Number(from)) * 1000, pools };
  });
}

/** One second costs a thousandth of a dollar. A task starts in half a minute. */
const POOL: BoundPool = { dollarsPerHour: 3.6, startMs: 30_000 };

/**
 * Three pauses of 90 s or more divide the jobs into four pieces. In each piece, tasks start 30 s
 * before their first job:
 * 0-110    job 3 (45-60) takes the task of 1 (0-40): idle for 5 s. Job 4 (50-80) takes that of 2
 *          (10-30): idle for 20 s. Then 5 (100-110) takes it: idle for 20 s.
 *          Billed: 30 + 60 and 30 + 100 = 220 s.
 * 205-210  job 6 alone: 30 + 5 s are below the minimum: 60 s.
 * 310-340  jobs 7 and 8, 20 s apart: one task, 30 + 30 = 60 s. Two tasks would be 120 s.
 * 440-500  jobs 9 and 10 at the same time: 30 + 60 and 30 + 40 = 160 s.
 * In total 500 s on 6 tasks. Jobs run for 40 + 20 + 15 + 30 + 10 + 5 + 5 + 5 + 60 + 40 = 230 s.
 */
const TEN = jobsOf('0-40 10-30 45-60 50-80 100-110 205-210 310-315 335-340 440-500 450-490');

it('bills ten jobs of one pool as computed by hand', async () => {
  const bound = await clairvoyant(TEN, [POOL]);
  expect(bound).toEqual({
    hours: 500 / 3600,
    dollars: expect.closeTo(0.5, 12),
    launches: 6,
    pools: [{ hours: 500 / 3600, dollars: expect.closeTo(0.5, 12), launches: 6 }],
  });
  const busy = busyHours(TEN, [POOL]);
  expect(busy).toEqual({ hours: 230 / 3600, dollars: expect.closeTo(0.23, 12) });
});

it('bills nothing without jobs', async () => {
  const nothing = { hours: 0, dollars: 0, launches: 0 };
  expect(await clairvoyant([], [POOL])).toEqual({ ...nothing, pools: [nothing] });
  expect(busyHours([], [POOL])).toEqual({ hours: 0, dollars: 0 });
});

it('counts busy hours on the cheapest pool that fits', () => {
  const pools = [
    { dollarsPerHour: 36, startMs: 0 },
    { dollarsPerHour: 3.6, startMs: 0 },
  ];
  const busy = busyHours(jobsOf('0-100AB 0-100BA 50-60A'), pools);
  expect(busy).toEqual({ hours: 210 / 3600, dollars: expect.closeTo(0.2 + 0.1, 12) });
});

describe('the clairvoyant bound of one pool', () => {
  it.each(table<{ jobs: string; billedS: number; launches: number; because: string }>`
    jobs                   | billedS | launches | because
    0-40                   | 70      | 1        | a task is billed for its start and its job
    0-10                   | 60      | 1        | the minimum is one minute
    0-40 40-80             | 110     | 1        | the second job reuses the task at once
    0-40 69-80             | 110     | 1        | idling for 29 s is cheaper than starting for 30 s
    0-40 70-110            | 140     | 1        | a task is reused if both ways cost the same
    0-200 10-50 80-120     | 370     | 2        | tasks are reused beside a longer job too
    0-40 71-111            | 140     | 2        | starting for 30 s is cheaper than idling for 31 s
    0-5 80-85              | 115     | 1        | idling for 75 s is cheaper than a second minimum
    0-5 95-100             | 120     | 2        | a second minimum is cheaper than idling for 90 s
    0-9 60-69 120-180      | 189     | 2        | the minimum makes the first two jobs share a task: 99 s and 90 s
    0-40 40-40 40-40 40-80 | 110     | 1        | jobs of 0 s fit in between
    0-40 20-20             | 100     | 2        | a job of 0 s needs a task too
    0-100 0-100            | 260     | 2        | a task runs one job at a time
    0-100 50-60            | 170     | 2        | layers above the bottom one ignore the minimum, so the second task counts 40 s instead of 60 s
  `)('bills $billedS s for jobs $jobs: $because', async ({ jobs, billedS, launches }) => {
    const bound = await clairvoyant(jobsOf(jobs), [POOL]);
    expect(bound).toMatchObject({ hours: billedS / 3600, launches });
  });
});

describe('the clairvoyant bound of several pools', () => {
  /**
   * A is cheap. B costs ten times as much. C costs twice as much as A. D costs as much as A and
   * starts in 5 minutes.
   */
  const pools: readonly BoundPool[] = [
    POOL,
    { dollarsPerHour: 36, startMs: 30_000 },
    { dollarsPerHour: 7.2, startMs: 60_000 },
    { dollarsPerHour: 3.6, startMs: 300_000 },
  ];
  it.each([
    { jobs: '0-100AB', billedS: { A: 130 }, because: 'a job takes the cheaper of two pools' },
    { jobs: '0-100A 100-200B', billedS: { A: 130, B: 130 }, because: 'pools do not share tasks' },
    { jobs: '0-100AB 100-200B', billedS: { A: 130, B: 130 }, because: 'a task keeps its pool' },
    {
      jobs: '0-100B 100-105AB',
      billedS: { B: 135 },
      because: '5 s of an expensive idle task cost less than a cheap minute',
    },
    {
      jobs: '0-100B 100-107AB',
      billedS: { A: 60, B: 130 },
      because: '7 s of an expensive task cost more than a cheap minute',
    },
    { jobs: '0-5B 2-7AB', billedS: { A: 60, B: 60 }, because: 'the minimum is one minute in each pool' },
    { jobs: '0-60CD', billedS: { C: 120 }, because: 'a short job is cheapest in a pool that starts fast' },
    { jobs: '0-600CD', billedS: { D: 900 }, because: 'a long job is cheapest in a pool with cheap hours' },
    {
      jobs: '0-600CD 600-660CD',
      billedS: { D: 960 },
      because: 'a short job is cheapest on a task that already runs',
    },
  ])('bills $billedS for jobs $jobs: $because', async ({ jobs, billedS }) => {
    const bound = await clairvoyant(jobsOf(jobs), pools);
    const billed = bound.pools.map(({ hours }, pool) => [
      String.fromCharCode(65 + pool),
      Math.round(hours * 3600),
    ]);
    expect(Object.fromEntries(billed.filter(([, seconds]) => seconds !== 0))).toEqual(billedS);
    const dollars = bound.pools.reduce(
      (sum, cost, pool) => sum + cost.hours * (pools[pool]?.dollarsPerHour ?? 0),
      0,
    );
    expect(bound.dollars).toBeCloseTo(dollars, 12);
  });
});

describe('piecesOf', () => {
  const pools = [POOL, { ...POOL, dollarsPerHour: 36 }];
  it.each([
    { jobs: '0-40 129-140', pieces: ['A A'], because: 'a task might idle for 89 s' },
    { jobs: '0-40 130-140', pieces: ['A', 'A'], because: 'no task idles for 90 s' },
    {
      jobs: '0-40A 0-40B 300-340AB',
      pieces: ['A', 'A', 'B'],
      because: 'the first two jobs have ended when the third connects their pools',
    },
    { jobs: '0-40AB 10-50A', pieces: ['A A'], because: 'no job needs the more expensive pool' },
    { jobs: '0-40AB 10-50B', pieces: ['AB B'], because: 'a job needs the more expensive pool' },
  ])('divides jobs $jobs into $pieces: $because', ({ jobs, pieces }) => {
    const found = piecesOf(jobsOf(jobs), pools).map((piece) =>
      piece.jobs.map((job) => job.pools.map((pool) => 'AB'[pool]).join('')).join(' '),
    );
    expect(found.sort()).toEqual(pieces);
  });
});

it('rejects a linear program without a solution', async () => {
  const program = new LinearProgram();
  const variable = program.addVariable(1);
  program.addEquation([[variable, 1]], 1);
  program.addEquation([[variable, 1]], 2);
  await expect(program.solve()).rejects.toThrow(
    /^solving a linear program of 1 variables: HiGHS ended with status 8/,
  );
});

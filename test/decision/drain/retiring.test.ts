/** A retiring pool: all its tasks drain, and none is launched. */
import { describe, expect, it } from 'vitest';
import {
  actionsOf,
  type Change,
  codesInWords,
  inWords,
  listIs,
  planOf,
  poolOf,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';

const unreadable = listIs('jobs', { status: 'truncated' });
type Row = {
  readonly world: string;
  readonly change?: Change;
  readonly expected: string;
  readonly why?: string;
  readonly because: string;
};

it.each(table<Row>`
  world                      | change | why                                             | expected            | because
  cpu B I1m B, retiring      |        | retiring tasks 3 asked 3                        | ask cpu#0, ask cpu#1, ask cpu#2 | all drain at once, busy ones too: their guards let builds finish
  cpu I1m, retiring; 3 jobs  |        |                                                 | ask cpu#0           | nothing is launched, whatever jobs wait
  cpu, min 2, warm 1, retiring, scheduled |        | retired                                         | nothing             | no floor launches a task
  cpu B, retiring, pin 3     |        |                                                 | ask cpu#0           | a pin does not keep it
  cpu P, desired 2, retiring |        | retiring-waits starting 2 leaving 0 unguarded 0 | nothing             | a starting task gets a drain request once it works
  cpu L, retiring            |        | retiring-waits starting 0 leaving 1 unguarded 0 | nothing             | it has a drain request
  cpu X, retiring            |        |                                                 | cpu 1->0 tasks-left | it has left
  cpu L X, retiring          |        |                                                 | cpu 2->1 tasks-left | a draining task is not stopped
  cpu B I20m, retiring       | ${unreadable} | holding-for-doubt doubts jobs-truncated         | nothing             | with doubts nothing scales in
  cpu, retiring              | ${unreadable} |                                                 | nothing             | unseen tasks may exist
  cpu B, deploying, retiring |        |                                                 | ask cpu#0           | a deployment waits for it too
  cpu B U1m, retiring        |        | retiring-waits starting 0 leaving 1 unguarded 0, retiring tasks 1 asked 0, holding-for-unguarded tasks 1 | nothing             | one without a lease may have a job, and ECS could choose it
`)('plans $expected for $world, because $because', ({ world, change, expected, why }) => {
  const plan = planOf(world, change);
  expect(inWords(actionsOf(plan).toSorted())).toBe(expected);
  if (why !== undefined) expect(codesInWords(poolOf(plan, 'cpu').why)).toBe(why);
  expect(poolOf(plan, 'cpu').retiring).toBe(true);
});

describe('the jobs of a retiring pool', () => {
  it('are unserved if no other pool can run them', () => {
    const plan = planOf('cpu B, retiring; gpu [gpu]; 2 jobs');
    expect(plan.unserved).toMatchObject([{ jobs: 2, why: 'pool-is-retiring', closest: { pool: 'cpu' } }]);
  });

  it('are assigned to existing daemons while no task may drain; the others are unserved', () => {
    const plan = planOf('cpu I1m R, retiring; 3 jobs', unreadable);
    expect(plan.assignment).toMatchObject([{ jobs: 1, pool: 'cpu', served: 'by-free' }]);
    expect(plan.unserved).toMatchObject([{ jobs: 2, oldest: '2026-11-20T08:59:31.000Z' }]);
  });

  it('are assigned to its successor, which may have the same tags', () => {
    const plan = planOf('old I1m, retiring; new; 2 jobs');
    expect(actionsOf(plan)).toEqual(['new 0->2 pending-jobs', 'ask old#0']);
    expect(plan.findings).toEqual([]);
  });

  it('are reported before they exist, if no other pool can wake for them', () => {
    expect(planOf('old I1m, retiring; start in 10s').findings).toMatchObject([
      { code: 'transitions-without-pool', transitions: 1 },
    ]);
    const followed = planOf('old I1m, retiring; new; start in 10s');
    expect(actionsOf(followed)).toEqual(['new 0->1 prewarm', 'ask old#0']);
    expect(followed.findings).toEqual([]);
  });
});

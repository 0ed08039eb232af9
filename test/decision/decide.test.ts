import { describe, expect, it } from 'vitest';
import { derivePoolForecasts } from '../../lambda/decision/forecast/pool-forecast.ts';
import { deriveDue } from '../../lambda/decision/forecast/ready.ts';
import type { PoolView } from '../../lambda/decision/supply/supply.ts';
import type { TurnedPool } from '../../lambda/decision/turns/rolling.ts';
import { shareParts } from '../../lambda/decision/turns/share.ts';
import { aSnapshot, NOW } from '../support/parts.ts';
import type { Picture } from '../support/picture.ts';
import {
  addFailedStarts,
  type Change,
  edit,
  inWords,
  listIs,
  organizationIn,
  planOf,
  reasonedActionsOf,
} from '../support/planned.ts';
import { table } from '../support/table.ts';

/** The actions of the plan for a picture, as text. */
const actionsFor = (picture: Picture | string, change?: Change) => reasonedActionsOf(planOf(picture, change));

const gpu = { cluster: 'gpu' };
const gpuEu = { cluster: 'gpu', region: 'eu' };

type Row = {
  readonly world: string;
  readonly expected: string;
  readonly because: string;
};

const scaleOut = table<Row>`
  world                                                          | expected                                     | because
  cpu; 3 jobs                                                    | cpu 0->3 pending-jobs                        | each job needs a task
  cpu I1m I2m; 3 jobs                                            | cpu 2->3 pending-jobs                        | free daemons take two
  cpu P, desired 3; 3 jobs                                       | nothing                                      | desired tasks that do not run yet are starting
  cpu R N; 2 jobs                                                | nothing                                      | daemons that register and tasks that boot are coming
  cpu B; job                                                     | cpu 1->2 pending-jobs                        | busy daemons are no supply
  cpu Z; job                                                     | cpu 1->2 pending-jobs                        | a task that lost its daemon is no supply
  cpu L; job                                                     | cpu 1->2 pending-jobs                        | a draining task no longer counts, but ECS must not stop it
  cpu X; job                                                     | cpu 1->2 pending-jobs                        | a task that has left still counts until ECS stops it
  cpu, max 5; 7 jobs                                             | cpu 0->5 pending-jobs                        | max limits
  cpu; gpu [gpu]; 3 jobs 90s; 6 jobs [gpu]; maxTasks 4           | cpu 0->3 pending-jobs, gpu 0->1 pending-jobs | the older group is served first
  cpu, min 2                                                     | cpu 0->2 floor                               | min is a floor
  cpu B, warm 2                                                  | cpu 1->3 floor                               | warm daemons come on top of busy ones
  cpu I1m, warm 1; job                                           | cpu 1->2 floor                               | the free daemon is about to be taken
  cpu B B I1m, desired 1                                         | cpu 1->3 count-below-tasks                   | a count that is too low is raised
  gpu [gpu]; job                                                 | nothing                                      | untagged jobs run on untagged daemons only
  cpu; job 15s; stranger                                         | nothing                                      | daemons of others are supply too
  cpu; job 16s; stranger                                         | cpu 0->1 pending-jobs                        | coderd would have given it the job: it has ended, or takes no such jobs
  cpu; job 10s; job 60s [tpu]; stranger                          | nothing                                      | that daemon cannot take the older job
  cpu; job 10s; job 60s of data; stranger                        | nothing                                      | that daemon cannot take the older job either
  cpu; job; busy stranger                                        | cpu 0->1 pending-jobs                        | a busy one is not
  a [gpu]; b [gpu eu]; 2 jobs [gpu]                              | a 0->2 pending-jobs                          | each job is counted once
  a [gpu eu], max 1; b [gpu], max 1; job 99s [gpu]; job [gpu eu] | a 0->1 pending-jobs, b 0->1 pending-jobs     | the older job leaves the only offer that fits the other one
  cpu, max 1; gpu [gpu]; prebuild 900s [gpu]; job; maxTasks 1    | cpu 0->1 pending-jobs                        | people come before prebuilds
  cpu I1m [gpu], daemons [tpu]; job [gpu]                        | cpu 1->2 pending-jobs                        | it offers the tags it registered with, not those of its pool
`;

const scaleIn = table<Row>`
  world                 | expected                   | because
  cpu B I9m I10m        | ask cpu#2 idle-long-enough | idleTimeout is inclusive
  cpu I20m I30m, min 1  | ask cpu#1 idle-long-enough | the task idle for longest drains, the floor stays
  cpu I20m I30m, warm 2 | nothing                    | warm keeps both
  cpu I20m P, min 1     | nothing                    | a starting task does not replace a running one
  cpu I20m; job         | nothing                    | its job is about to come
  cpu I20m L X, min 1   | cpu 3->2 tasks-left        | the count follows those that have left, and no others
  cpu X                 | cpu 1->0 tasks-left        | to zero
  cpu X P               | nothing                    | ECS might choose the one that starts
  cpu X N               | nothing                    | a booting task has no lease yet
  cpu X U9m             | nothing                    | an unguarded task could be chosen
  cpu X, deploying      | nothing                    | a deployment chooses the tasks that it stops
  cpu U60m              | nothing                    | only a working task gets a drain request
  cpu U60m, min 1       | nothing                    | unguarded tasks fill floors, or the pool would grow at each look
  cpu B B, max 1        | nothing                    | no busy task stops because of a limit
  cpu                   | nothing                    | a pool without changes needs no action
`;

describe('scale-out', () => {
  it.each(scaleOut)('plans $expected for $world, because $because', ({ world, expected }) => {
    expect(inWords(actionsFor(world))).toBe(expected);
  });
});

describe('scale-in', () => {
  it.each(scaleIn)('plans $expected for $world, because $because', ({ world, expected }) => {
    expect(inWords(actionsFor(world))).toBe(expected);
  });
});

describe('the plan', () => {
  it('orders actions: higher counts, drain requests, lower counts', () => {
    const kinds = actionsFor({
      pools: { a: { tasks: 'X' }, b: { tasks: 'I20m', tags: gpu }, c: { min: 1, tags: gpuEu } },
    });
    expect(kinds).toEqual(['c 0->1 floor', 'ask b#0 idle-long-enough', 'a 1->0 tasks-left']);
  });

  it.each(['I1m R B', 'I20m B Z'])(
    'counts tasks as unknown, not as starting, without a list of daemons: %s',
    (tasks) => {
      const unread = listIs('daemons', { status: 'failed', items: [] });
      const [pool] = planOf({ pools: { cpu: { tasks } } }, unread).pools;
      expect(pool?.daemons).toMatchObject({ busy: 0, idle: 0, starting: 0, unknown: 3 });
    },
  );

  it('counts daemons as a person would', () => {
    const [pool] = planOf({ pools: { cpu: { tasks: 'B I1m R P N L X U1m', desired: 9 } } }).pools;
    // U has no lease, so it has most likely just left; R, P, N and the missing task are starting
    expect(pool?.daemons).toEqual({
      busy: 1,
      idle: 1,
      starting: 4,
      leaving: 2,
      left: 1,
      unguarded: 0,
      failing: 0,
    });
  });

  it('gives every pool a reason, including a pool without actions', () => {
    const plan = planOf({ pools: { idle: {}, busy: { tasks: 'B', tags: gpu } } });
    expect(plan.pools.map(({ why }) => why)).toEqual([
      [{ code: 'nothing-to-do' }],
      [{ code: 'nothing-to-do' }],
    ]);
  });

  it('reports a limit that applies, with the wanted number of tasks', () => {
    const [pool] = planOf({ pools: { cpu: { max: 5 } }, pending: [{ jobs: 7 }] }).pools;
    expect(pool).toMatchObject({
      desired: { from: 0, to: 5 },
      pending: 7,
      why: [
        { code: 'pending-jobs', jobs: 7 },
        { code: 'capped-at-max', wanted: 7, max: 5 },
      ],
    });
  });

  it('reports maxTasks when it applies', () => {
    const [pool] = planOf({ pools: { cpu: {} }, pending: [{ jobs: 7 }], maxTasks: 5 }).pools;
    expect(pool?.why).toMatchObject([
      { code: 'pending-jobs', jobs: 7 },
      { code: 'capped-at-max-tasks', wanted: 7, granted: 5, maxTasks: 5 },
    ]);
  });

  it('counts draining tasks against maxTasks', () => {
    expect(actionsFor({ pools: { cpu: { tasks: 'L L L' } }, pending: [{ jobs: 3 }], maxTasks: 4 })).toEqual([
      'cpu 3->4 pending-jobs',
    ]);
  });

  it('reports unserved jobs with the closest pool and the tags that it lacks', () => {
    const plan = planOf({
      pools: { cpu: {}, gpu: { tags: gpuEu } },
      pending: [{ tags: { cluster: 'tpu', region: 'eu' }, jobs: 2 }],
    });
    expect(plan.actions).toEqual([]);
    expect(plan.unserved).toEqual([
      {
        organization: 'default',
        tags: { cluster: 'tpu', region: 'eu' },
        jobs: 2,
        oldest: '2026-11-20T08:59:30.000Z',
        failsAt: '2026-11-20T09:29:30.000Z',
        types: ['workspace_build'],
        why: 'no-pool-has-these-tags',
        closest: { pool: 'gpu', missing: { cluster: 'tpu' }, has: { cluster: 'gpu' }, surplus: {} },
      },
    ]);
  });

  it('assigns each job once, and reports to which pool', () => {
    const plan = planOf({ pools: { cpu: { tasks: 'I1m P' } }, pending: [{ jobs: 4 }] });
    expect(plan.assignment.map(({ pool, jobs, served }) => [pool, jobs, served])).toEqual([
      ['cpu', 1, 'by-free'],
      ['cpu', 1, 'by-starting'],
      ['cpu', 2, 'by-launch'],
    ]);
  });
});

describe('a pool with failing starts', () => {
  /** Three starts of `cheap` have failed; `dear` is healthy. */
  const drawn = (picture: Picture) =>
    actionsFor(picture, (snapshot) => addFailedStarts(snapshot, 'cheap', 3));
  const dear = { tags: { cluster: 'gpu', region: 'eu' }, cpu: 4096 };

  it('assigns jobs to a healthy pool, although it is more expensive', () => {
    expect(drawn({ pools: { cheap: { tags: gpu }, dear }, pending: [{ tags: gpu, jobs: 2 }] })).toEqual([
      'dear 0->2 pending-jobs',
    ]);
  });

  it('starts a probe when no other pool can run the job', () => {
    expect(drawn({ pools: { cheap: { tags: gpu } }, pending: [{ tags: gpu, jobs: 2 }] })).toEqual([
      'cheap 0->1 pending-jobs',
    ]);
  });

  it('counts the one task that starts', () => {
    expect(
      drawn({ pools: { cheap: { tags: gpu, tasks: 'P' }, dear }, pending: [{ tags: gpu, jobs: 1 }] }),
    ).toEqual([]);
  });

  it('gives up the other tasks that start, so that few fail together', () => {
    expect(
      drawn({ pools: { cheap: { tags: gpu, tasks: 'P P' }, dear }, pending: [{ tags: gpu, jobs: 2 }] }),
    ).toEqual(['dear 0->1 pending-jobs', 'cheap 2->1 starts-failing']);
  });

  it('gives up missing tasks, and frees their room in maxTasks', () => {
    expect(
      drawn({
        pools: { cheap: { tags: gpu, desired: 20 }, dear },
        pending: [{ tags: dear.tags, jobs: 3 }],
        maxTasks: 20,
      }),
    ).toEqual(['dear 0->3 pending-jobs', 'cheap 20->0 starts-failing']);
  });
});

describe('daemons that the autoscaler does not own', () => {
  it('get the jobs that have to wait, and no job is lost', () => {
    const plan = planOf({ pools: { gpu: { tags: gpu } }, pending: [{ jobs: 3, ageS: 10 }], strangers: [{}] });
    expect(plan.assignment.map(({ pool, jobs, served }) => [pool, jobs, served])).toEqual([
      [null, 1, 'by-free'],
      [null, 2, 'by-busy'],
    ]);
    expect(plan.unserved).toEqual([]);
  });

  it('get no job once they are offline, even if they still show one', () => {
    const plan = planOf(
      { pools: { gpu: { tags: gpu } }, pending: [{ jobs: 3 }], strangers: [{ busy: true }] },
      (snapshot) => edit(organizationIn(snapshot).daemons.items, 0, { last_seen_at: '2026-11-20T08:10:00Z' }),
    );
    expect(plan.assignment).toEqual([]);
    expect(plan.unserved).toMatchObject([{ jobs: 3 }]);
  });
});

it('compiles only if turns come before shares, and both before the forecast', () => {
  const none = { leftOf: () => undefined, foreignIn: () => [] };
  const stages = (supply: readonly PoolView[], turned: readonly TurnedPool[]) => [
    // @ts-expect-error: their turns are not marked
    shareParts(supply, () => [], NOW),
    // @ts-expect-error: they have no shares
    deriveDue([], turned, NOW),
    // @ts-expect-error: they have no shares
    derivePoolForecasts(aSnapshot(), turned, none).poolForecasts,
    derivePoolForecasts(
      aSnapshot(),
      shareParts(turned, () => [], NOW),
      none,
    ).poolForecasts,
  ];
  expect(stages([], [])).toEqual([[], [], new Map(), new Map()]);
});

/** Starts that fail, and cases that look like failures but are none. */
import { describe, expect, it } from 'vitest';
import { type Drawn, draw, type Picture } from '../../support/picture.ts';
import { planSnapshot } from '../../support/plan-snapshot.ts';
import { edit } from '../../support/planned.ts';

const gpu = { cluster: 'gpu' };
const dear = { tags: { ...gpu, region: 'eu' }, cpu: 4096 };

type Change = (drawn: Drawn['snapshot']) => void;

function plan(picture: Picture, change: Change = () => {}, settings: object = {}) {
  const { snapshot, config } = draw(picture);
  change(snapshot);
  return planSnapshot(snapshot, { ...config, ...settings });
}

const countsOf = (result: ReturnType<typeof plan>): readonly string[] =>
  result.actions.map((action) =>
    action.kind === 'set-desired' ? `${action.pool} ${action.from}->${action.to}` : `ask ${action.pool}`,
  );
const codesOf = (result: ReturnType<typeof plan>): readonly string[] =>
  result.findings.map(({ code }) => code);

const ended =
  (pool: string, exitCode: number): Change =>
  ({ ecs }) => {
    for (const index of [1, 2, 3])
      ecs.tasks.items.push({
        taskArn: `arn:${pool}-${index}`,
        group: `service:Stack-${pool}`,
        lastStatus: 'STOPPED',
        desiredStatus: 'STOPPED',
        createdAt: '2026-11-20T08:50:00Z',
        stoppedAt: `2026-11-20T08:58:0${index}Z`,
        stopCode: 'EssentialContainerExited',
        containers: [{ name: 'provisioner', exitCode }],
      });
  };

const pendingSince =
  (createdAt: string): Change =>
  ({ ecs }) => {
    for (const task of ecs.tasks.items) if (task.lastStatus === 'PENDING') task.createdAt = createdAt;
  };

describe('a task that has not begun to run', () => {
  const picture: Picture = { pools: { cheap: { tags: gpu, tasks: 'P' }, dear }, pending: [{ tags: gpu }] };

  it.each([
    { createdAt: '2026-11-20T08:50:00Z', expected: [], because: 'for ten minutes it may still come' },
    { createdAt: '2026-11-20T08:49:59Z', expected: ['dear 0->1'], because: 'after that it is not expected' },
  ])('is $expected if created at $createdAt, because $because', ({ createdAt, expected }) => {
    expect(countsOf(plan(picture, pendingSince(createdAt)))).toEqual(expected);
  });

  it('does not hold back a pool in which a daemon has registered since', () => {
    const mixed: Picture = { pools: { cheap: { tags: gpu, tasks: 'P B' }, dear }, pending: [{ tags: gpu }] };
    const registered = plan(mixed, (snapshot) => {
      pendingSince('2026-11-20T08:40:00Z')(snapshot);
      for (const daemon of snapshot.coder.organizations[0]?.daemons.items ?? [])
        daemon.created_at = '2026-11-20T08:45:00Z';
    });
    expect(countsOf(registered)).toEqual(['cheap 2->3']);
  });
});

describe('tasks that ended without a daemon in any list', () => {
  const picture: Picture = { pools: { cheap: { tags: gpu }, dear }, pending: [{ tags: gpu }] };

  it('have failed if they ended with an error', () => {
    expect(countsOf(plan(picture, ended('cheap', 1)))).toEqual(['dear 0->1']);
  });

  it('have left if they ended without an error, because their rows may be gone', () => {
    expect(countsOf(plan(picture, ended('cheap', 0)))).toEqual(['cheap 0->1']);
  });
});

describe('a pool that is held back', () => {
  it('gives up missing tasks even during a deployment, because ECS has no task to stop', () => {
    const picture: Picture = { pools: { cheap: { tags: gpu, desired: 5, deploying: true } } };
    expect(countsOf(plan(picture, ended('cheap', 1)))).toEqual(['cheap 5->0']);
  });

  it('keeps missing tasks desired with doubts', () => {
    const picture: Picture = {
      pools: { cheap: { tags: gpu, desired: 5 }, dear },
      pending: [{ tags: dear.tags, jobs: 3 }],
      maxTasks: 5,
    };
    const doubtful = plan(picture, (snapshot) => {
      ended('cheap', 1)(snapshot);
      Object.assign(snapshot.ecs.protections, { status: 'truncated' });
    });
    expect(countsOf(doubtful)).toEqual([]);
  });

  it.each<{ exitCode: number; revision: string; ranS: number; expected: readonly string[]; because: string }>(
    [
      {
        exitCode: 1,
        revision: 'cheap:1',
        ranS: 60,
        expected: ['cheap 3->1'],
        because: 'its guard has no lease',
      },
      { exitCode: 1, revision: 'cheap:0', ranS: 60, expected: [], because: 'it may have no guard' },
      { exitCode: 75, revision: 'cheap:1', ranS: 60, expected: [], because: 'its lease may come' },
      {
        exitCode: 75,
        revision: 'cheap:1',
        ranS: 120,
        expected: ['cheap 3->1'],
        because: 'its lease is late',
      },
      { exitCode: 75, revision: 'cheap:0', ranS: 120, expected: [], because: 'it may have no guard' },
    ],
  )(
    'is $expected with a task of $revision that waits for $ranS s after exits with $exitCode, because $because',
    ({ exitCode, revision, ranS, expected }) => {
      const picture: Picture = { pools: { cheap: { tags: gpu, tasks: 'N', desired: 3 } } };
      const waits = plan(picture, (snapshot) => {
        const startedAt = new Date(Date.parse(snapshot.takenAt) - ranS * 1000).toISOString();
        edit(snapshot.ecs.tasks.items, 0, { taskDefinitionArn: revision, startedAt });
        ended('cheap', exitCode)(snapshot);
      });
      expect(countsOf(waits)).toEqual(expected);
    },
  );

  it('starts its probe within maxTasks, one pool after the other', () => {
    const both = (maxTasks: number) =>
      plan(
        {
          pools: { one: { tags: gpu }, two: { tags: { cluster: 'tpu' } } },
          pending: [{ tags: gpu }, { tags: { cluster: 'tpu' } }],
          maxTasks,
        },
        (snapshot) => {
          ended('one', 1)(snapshot);
          ended('two', 1)(snapshot);
        },
      );
    expect(countsOf(both(2))).toEqual(['one 0->1', 'two 0->1']);
    expect(countsOf(both(1))).toEqual(['one 0->1']);
  });

  it('starts its probe within dollarsPerHour, one pool after the other', () => {
    const both = (tasks: number) =>
      plan(
        {
          pools: { one: { tags: gpu }, two: { tags: { cluster: 'tpu' } } },
          pending: [{ tags: gpu }, { tags: { cluster: 'tpu' } }],
        },
        (snapshot) => {
          ended('one', 1)(snapshot);
          ended('two', 1)(snapshot);
        },
        { limits: { dollarsPerHour: 0.0396 * tasks } },
      );
    expect(countsOf(both(2))).toEqual(['one 0->1', 'two 0->1']);
    expect(countsOf(both(1))).toEqual(['one 0->1']);
  });

  it('starts no second probe beside the first', () => {
    const picture: Picture = {
      pools: { cheap: { tags: gpu, tasks: 'N' } },
      pending: [{ tags: gpu, jobs: 3 }],
    };
    expect(countsOf(plan(picture, ended('cheap', 1)))).toEqual([]);
  });
});

describe('a build that is being cancelled', () => {
  it.each([
    { status: 'canceling', expected: [], because: 'it is in neither requested list' },
    { status: 'running', expected: ['jobs-empty-while-busy'], because: 'it should be listed' },
  ])('is $expected with status $status, because $because', ({ status, expected }) => {
    const cancelled = plan({ pools: { cpu: { tasks: 'B' } } }, ({ coder }) => {
      const [organization] = coder.organizations;
      if (organization === undefined) return;
      organization.jobs.items = [];
      for (const daemon of organization.daemons.items) daemon.current_job = { id: 'c', status };
    });
    expect(codesOf(cancelled)).toEqual(expected);
  });
});

describe('a daemon with the tags of another pool', () => {
  it('gets the jobs of its tags for when it is free, so the plan keeps them', () => {
    const stray = plan({
      pools: { gpu: { tags: gpu, tasks: 'B', daemonTags: { cluster: 'tpu' }, ageMinutes: 14 } },
      pending: [{ tags: { cluster: 'tpu' }, jobs: 2 }],
    });
    expect(stray.assignment.map(({ pool, jobs, served }) => [pool, jobs, served])).toEqual([
      ['gpu', 2, 'by-busy'],
    ]);
    expect(stray.unserved).toEqual([]);
    expect(countsOf(stray)).toEqual([]);
  });
});

it('does not drain if a job is assigned to it, even above max', () => {
  expect(countsOf(plan({ pools: { cpu: { tasks: 'B B I20m', max: 1 } }, pending: [{}] }))).toEqual([]);
  expect(countsOf(plan({ pools: { cpu: { tasks: 'B B I20m', max: 1 } } }))).toEqual(['ask cpu']);
});

/**
 * The plan for transitions that are due. Without samples a start takes 90 s; a pool starts 105 s
 * and 0.12 s a daemon before.
 */
import { describe, expect, it } from 'vitest';
import type { Picture } from '../../support/picture.ts';
import {
  actionsOf,
  addFailedStarts,
  type Change,
  organizationIn,
  planOf,
  poolOf,
} from '../../support/planned.ts';

const gpu = { cluster: 'gpu' };
const gpuEu = { cluster: 'gpu', region: 'eu' };
const one = { prewarm: { max: 1 } };

type Row = {
  readonly scenario: string;
  readonly picture: Picture;
  readonly change?: Change;
  readonly expected: readonly string[];
  readonly because: string;
};

describe('a pool at zero', () => {
  it.each<Row>([
    {
      scenario: 'an autostart in 100 s',
      picture: { pools: { cpu: one }, workspaces: [{ startsInS: 100 }] },
      expected: ['cpu 0->1 prewarm'],
      because: 'a daemon has to be seen by then',
    },
    {
      scenario: 'an autostart in 105 s and a little',
      picture: { pools: { cpu: one }, workspaces: [{ startsInS: 105.12 }] },
      expected: ['cpu 0->1 prewarm'],
      because: 'the next look may be too late',
    },
    {
      scenario: 'an autostart in 106 s',
      picture: { pools: { cpu: one }, workspaces: [{ startsInS: 106 }] },
      expected: [],
      because: 'the next look is early enough',
    },
    {
      scenario: 'an autostart in 190 s, starts that take 180 s',
      picture: { pools: { cpu: { ...one, startTime: '180s' } }, workspaces: [{ startsInS: 190 }] },
      expected: ['cpu 0->1 prewarm'],
      because: 'startTime is as long',
    },
    {
      scenario: '200 autostarts',
      picture: { pools: { cpu: { max: 300 } }, workspaces: [{ startsInS: 60, count: 200 }], maxTasks: 400 },
      expected: ['cpu 0->200 prewarm'],
      because: 'each gets a daemon',
    },
    {
      scenario: '200 autostarts, prewarm 20',
      picture: {
        pools: { cpu: { max: 300, prewarm: { max: 20 } } },
        workspaces: [{ startsInS: 60, count: 200 }],
        maxTasks: 400,
      },
      expected: ['cpu 0->20 prewarm'],
      because: 'prewarm.max limits it',
    },
    {
      scenario: '200 autostarts, 100 of them a minute later',
      picture: {
        pools: { cpu: { max: 300, startTime: '180s' } },
        workspaces: [
          { startsInS: 60, count: 100 },
          { startsInS: 120, count: 100 },
        ],
        maxTasks: 400,
      },
      change: (snapshot) => addDurations(organizationIn(snapshot), 45),
      expected: ['cpu 0->100 prewarm'],
      because: 'builds that take 45 s are done when the next minute comes',
    },
    {
      scenario: '200 autostarts, 100 of them half a minute later, builds that take 20 s',
      picture: {
        pools: { cpu: { max: 300, startTime: '180s' } },
        workspaces: [
          { startsInS: 60, count: 100 },
          { startsInS: 90, count: 100 },
        ],
        maxTasks: 400,
      },
      change: (snapshot) => addDurations(organizationIn(snapshot), 20),
      expected: ['cpu 0->200 prewarm'],
      because: 'coderd inserts all jobs of one minute at once',
    },
    {
      scenario: '200 autostarts, builds that took no time',
      picture: {
        pools: { cpu: { max: 300 } },
        workspaces: [{ startsInS: 60, count: 200 }],
        maxTasks: 400,
      },
      change: (snapshot) => addDurations(organizationIn(snapshot), 0),
      expected: ['cpu 0->200 prewarm'],
      because: 'such a record proves nothing',
    },
    {
      scenario: '200 autostarts, 100 of them a minute later, builds that take 80 s',
      picture: {
        pools: { cpu: { max: 300, startTime: '180s' } },
        workspaces: [
          { startsInS: 60, count: 100 },
          { startsInS: 120, count: 100 },
        ],
        maxTasks: 400,
      },
      change: (snapshot) => addDurations(organizationIn(snapshot), 80),
      expected: ['cpu 0->200 prewarm'],
      because: 'the first builds still run when the next minute comes',
    },
    {
      scenario: '200 autostarts, prewarm 200, max 50',
      picture: {
        pools: { cpu: { max: 50, prewarm: { max: 200 } } },
        workspaces: [{ startsInS: 60, count: 200 }],
      },
      expected: ['cpu 0->50 prewarm'],
      because: 'max comes last',
    },
    {
      scenario: '200 autostarts, prewarm 0',
      picture: { pools: { cpu: { prewarm: { max: 0 } } }, workspaces: [{ startsInS: 60, count: 200 }] },
      expected: ['cpu 0->1 awake-for'],
      because: 'one daemon opens the gate',
    },
    {
      scenario: 'an autostop that is overdue for a day',
      picture: { pools: { cpu: {} }, workspaces: [{ stopsInS: -86_400, count: 5 }] },
      expected: ['cpu 0->1 awake-for'],
      because:
        'coderd did not do it, since no daemon was there, or for reasons of its own: one is enough to see',
    },
    {
      scenario: 'an autostop that is overdue for half a minute',
      picture: { pools: { cpu: {} }, workspaces: [{ stopsInS: -30 }] },
      expected: [],
      because: 'no person waits for a stop, and several stops can share one start',
    },
    {
      scenario: 'five autostops that are overdue for half a minute',
      picture: { pools: { cpu: {} }, workspaces: [{ stopsInS: -30, count: 5 }] },
      expected: ['cpu 0->1 awake-for'],
      because: 'together their waiting costs as much as a start',
    },
    {
      scenario: 'five autostops that are overdue for 7 min',
      picture: { pools: { cpu: {} }, workspaces: [{ stopsInS: -420, count: 5 }] },
      expected: ['cpu 0->1 awake-for'],
      because: 'they come within maxDelay, and one daemon does one after the other',
    },
    {
      scenario: 'five autostops that are overdue for 7 min, maxDelay 30 min',
      picture: {
        pools: { cpu: { wake: { maxDelay: '30m' } } },
        workspaces: [{ stopsInS: -420, count: 5 }],
      },
      expected: ['cpu 0->1 awake-for'],
      because: '35 minutes of waiting cost more than a start',
    },
    {
      scenario: 'an autostop that is overdue for 7 min, maxDelay 30 min',
      picture: { pools: { cpu: { cpu: 4096, wake: { maxDelay: '30m' } } }, workspaces: [{ stopsInS: -60 }] },
      expected: [],
      because: 'a start still costs more than its waiting',
    },
    {
      scenario: 'an autostart, wake for stops only',
      picture: { pools: { cpu: { wake: { autostart: false } } }, workspaces: [{ startsInS: 60 }] },
      expected: [],
      because: 'it is not woken for that',
    },
    {
      scenario: 'an autostop, wake for starts only',
      picture: { pools: { cpu: { wake: { autostop: false } } }, workspaces: [{ stopsInS: 60 }] },
      expected: [],
      because: 'it is not woken for that',
    },
    {
      scenario: 'an autostart with other tags',
      picture: { pools: { cpu: one }, workspaces: [{ tags: gpu, startsInS: 60 }] },
      expected: [],
      because: 'its daemons open no gate for these',
    },
    {
      scenario: 'two pools that can run it',
      picture: {
        pools: { gpu: { tags: gpu }, eu: { tags: gpuEu } },
        workspaces: [{ tags: gpu, startsInS: 60 }],
      },
      expected: ['eu 0->1 prewarm'],
      because: 'one wake-up, not two',
    },
    {
      scenario: 'two pools that can run it, the first one more expensive',
      picture: {
        pools: { gpu: { tags: gpu }, eu: { tags: gpuEu, cpu: 4096 } },
        workspaces: [{ tags: gpu, startsInS: 60 }],
      },
      expected: ['gpu 0->1 prewarm'],
      because: 'the cheaper one is woken',
    },
    {
      scenario: 'two tag sets, wake only',
      picture: {
        pools: {
          gpu: { tags: gpu, prewarm: { max: 0 } },
          eu: { tags: gpuEu, prewarm: { max: 0 }, cpu: 4096 },
        },
        workspaces: [
          { tags: gpu, startsInS: 60 },
          { tags: gpuEu, startsInS: 60 },
        ],
      },
      expected: ['eu 0->1 awake-for'],
      because: 'one daemon opens both gates',
    },
    {
      scenario: 'a daemon of others with its tags',
      picture: {
        pools: { gpu: { tags: gpu, prewarm: { max: 0 } } },
        strangers: [{ tags: gpuEu, busy: true }],
        workspaces: [{ tags: gpu, startsInS: 60 }],
      },
      expected: [],
      because: 'it opens the gate, busy or not',
    },
    {
      scenario: 'a pool that is not woken, and keeps a daemon with its tags',
      picture: {
        pools: {
          gpu: { tags: gpu, prewarm: { max: 0 } },
          eu: { tags: gpuEu, min: 1, tasks: 'I1m', wake: { autostart: false } },
        },
        workspaces: [{ tags: gpu, startsInS: 60 }],
      },
      expected: [],
      because: 'that daemon opens the gate',
    },
    {
      scenario: 'starts that keep failing',
      picture: { pools: { cpu: one, dear: { cpu: 4096, tags: gpu } }, workspaces: [{ startsInS: 60 }] },
      change: ({ ecs }) => {
        for (const minutes of [1, 2, 3])
          ecs.tasks.items.push({
            taskArn: `arn:task/coder/failed-${minutes}`,
            group: 'service:Stack-cpu',
            lastStatus: 'STOPPED',
            desiredStatus: 'STOPPED',
            stoppedAt: new Date(Date.parse('2026-11-20T09:00:00Z') - minutes * 60_000).toISOString(),
            stopCode: 'TaskFailedToStart',
            containers: [],
          });
      },
      expected: ['cpu 0->1 awake-for'],
      because: 'it gets one probe at a time',
    },
  ])('plans $expected for $scenario, because $because', ({ picture, change, expected }) => {
    expect(actionsOf(planOf(picture, change))).toEqual(expected);
  });
});

describe('a pool that is awake', () => {
  it.each<Row>([
    {
      scenario: 'an idle daemon and an autostop in 2 min',
      picture: { pools: { cpu: { tasks: 'I30m', ...one } }, workspaces: [{ stopsInS: 120 }] },
      expected: [],
      because: 'it costs less to stay than to start again',
    },
    {
      scenario: 'an idle daemon and an autostop in 9 min',
      picture: { pools: { cpu: { tasks: 'I30m', ...one } }, workspaces: [{ stopsInS: 540 }] },
      expected: ['ask cpu#0'],
      because: 'it costs less to start again than to stay',
    },
    {
      scenario: 'two idle daemons and an autostop in 2 min',
      picture: { pools: { cpu: { tasks: 'I30m I20m', ...one } }, workspaces: [{ stopsInS: 120 }] },
      expected: ['ask cpu#0'],
      because: 'one is enough',
    },
    {
      scenario: 'a task without a daemon, an idle daemon and an autostop in 2 min',
      picture: { pools: { cpu: { tasks: 'Z I30m', ...one, max: 2 } }, workspaces: [{ stopsInS: 120 }] },
      expected: ['ask cpu#0'],
      because: 'the task without a daemon opens no gate, so it drains',
    },
    {
      scenario: 'a daemon with another key and an autostart in a minute',
      picture: {
        pools: { cpu: { tasks: 'I2m', daemonTags: gpu, ageMinutes: 5 } },
        workspaces: [{ startsInS: 60, count: 3 }],
      },
      expected: ['cpu 1->2 awake-for'],
      because: 'one more may have the right one',
    },
    {
      scenario: 'two daemons with another key and an autostart in a minute',
      picture: {
        pools: { cpu: { tasks: 'I2m I2m', daemonTags: gpu, ageMinutes: 5 } },
        workspaces: [{ startsInS: 60, count: 3 }],
      },
      expected: [],
      because: 'the next would be one more of them',
    },
    {
      scenario: 'two awake pools that can both open the gate',
      picture: {
        pools: { gpu: { tags: gpu, tasks: 'I30m', ...one }, eu: { tags: gpuEu, tasks: 'B', ...one } },
        workspaces: [{ tags: gpu, stopsInS: 120 }],
      },
      expected: ['ask gpu#0'],
      because: 'the busy daemon stays for its job',
    },
    {
      scenario: 'three idle daemons and two autostarts in a minute',
      picture: { pools: { cpu: { tasks: 'I30m I20m I20m' } }, workspaces: [{ startsInS: 60, count: 2 }] },
      expected: ['ask cpu#0'],
      because: 'two stay ready',
    },
    {
      scenario: 'three idle daemons and two autostarts in 4 min',
      picture: { pools: { cpu: { tasks: 'I30m I20m I20m' } }, workspaces: [{ startsInS: 240, count: 2 }] },
      expected: ['ask cpu#0'],
      because: 'two cost less if they stay than if they are started again',
    },
    {
      scenario: 'three idle daemons and two autostarts in 9 min',
      picture: { pools: { cpu: { tasks: 'I30m I20m I20m' } }, workspaces: [{ startsInS: 540, count: 2 }] },
      expected: ['ask cpu#0', 'ask cpu#1', 'ask cpu#2'],
      because: 'it costs less to start them again',
    },
    {
      scenario: 'three idle daemons and two autostarts in 9 min, startTime 5 min',
      picture: {
        pools: { cpu: { tasks: 'I30m I25m I20m', startTime: '5m' } },
        workspaces: [{ startsInS: 540, count: 2 }],
      },
      expected: ['ask cpu#0'],
      because: 'the longer a start takes, the longer it pays to stay',
    },
    {
      scenario: 'three idle daemons and two autostarts in 4 min, idleTimeout 1 min',
      picture: {
        pools: { cpu: { tasks: 'I30m I25m I20m', idleTimeout: '1m' } },
        workspaces: [{ startsInS: 240, count: 2 }],
      },
      expected: ['ask cpu#0'],
      because: 'idleTimeout is only for daemons that nothing needs',
    },
    {
      scenario: 'three idle daemons and two autostarts in 4 min, prewarm 1',
      picture: {
        pools: { cpu: { tasks: 'I30m I25m I20m', ...one } },
        workspaces: [{ startsInS: 240, count: 2 }],
      },
      expected: ['ask cpu#0', 'ask cpu#1'],
      because: 'no more would be started again',
    },
    {
      scenario: 'a busy daemon and two autostarts in a minute',
      picture: { pools: { cpu: { tasks: 'B' } }, workspaces: [{ startsInS: 60, count: 2 }] },
      expected: ['cpu 1->3 prewarm'],
      because: 'busy ones are not counted on',
    },
    {
      scenario: 'warm daemons and two autostarts in a minute',
      picture: {
        pools: { cpu: { tasks: 'I1m I1m', warm: 2 } },
        workspaces: [{ startsInS: 60, count: 2 }],
      },
      expected: ['cpu 2->4 prewarm'],
      because: 'warm is kept free beside them',
    },
  ])('plans $expected for $scenario, because $because', ({ picture, change, expected }) => {
    expect(actionsOf(planOf(picture, change))).toEqual(expected);
  });
});

describe('several pools that can open the gate', () => {
  const sleepy = { tags: gpu, prewarm: { max: 0 } };
  const dear = { tags: gpuEu, prewarm: { max: 0 }, cpu: 4096 };
  const due = [{ tags: gpu, startsInS: 60 }];
  it.each<Row>([
    {
      scenario: 'a cheap pool at zero, an expensive one with an idle daemon',
      picture: { pools: { cheap: sleepy, dear: { ...dear, tasks: 'I30m' } }, workspaces: due },
      expected: [],
      because: 'a pool that is awake comes before one at zero',
    },
    {
      scenario: 'two with an idle daemon',
      picture: {
        pools: { cheap: { ...sleepy, tasks: 'I30m' }, dear: { ...dear, tasks: 'I30m' } },
        workspaces: due,
      },
      expected: ['ask dear#0'],
      because: 'the cheaper one stays',
    },
    {
      scenario: 'a cheap pool with an idle daemon, an expensive one that is busy',
      picture: {
        pools: { cheap: { ...sleepy, tasks: 'I30m' }, dear: { ...dear, tasks: 'B' } },
        workspaces: due,
      },
      expected: ['ask cheap#0'],
      because: 'the busy daemon stays for its job',
    },
    {
      scenario: 'a cheap pool at zero, an expensive one with a floor of one',
      picture: { pools: { cheap: sleepy, dear: { ...dear, warm: 1 } }, workspaces: due },
      expected: ['dear 0->1 floor'],
      because: 'the floor launches it',
    },
    {
      scenario: 'a cheap pool with failing starts, an expensive one',
      picture: { pools: { cheap: sleepy, dear }, workspaces: due },
      change: (snapshot) => addFailedStarts(snapshot, 'cheap', 3),
      expected: ['dear 0->1 awake-for'],
      because: 'a pool that cannot start tasks is the last resort',
    },
    {
      scenario: 'a cheap pool with another key, an expensive one',
      picture: {
        pools: { cheap: { ...sleepy, tasks: 'B', daemonTags: { z: '9' }, ageMinutes: 5 }, dear },
        workspaces: due,
      },
      expected: ['dear 0->1 awake-for'],
      because: 'another daemon of its would have that key too',
    },
  ])('plans $expected for $scenario, because $because', ({ picture, change, expected }) => {
    expect(actionsOf(planOf(picture, change))).toEqual(expected);
  });
});

/** Five builds of workspaces with this duration. */
function addDurations(organization: ReturnType<typeof organizationIn>, seconds: number): void {
  const completed_at = new Date(Date.parse('2026-11-20T08:00:00Z') + seconds * 1000).toISOString();
  organization.recentJobs = {
    status: 'ok',
    items: ['a', 'b', 'c', 'd', 'e'].map((id) => ({
      id,
      created_at: '2026-11-20T08:00:00Z',
      started_at: '2026-11-20T08:00:00Z',
      completed_at,
      status: 'succeeded',
      organization_id: organization.id,
      initiator_id: 'somebody',
      reason: 'autostart',
      type: 'workspace_build',
      tags: { scope: 'organization', owner: '' },
    })),
  };
}

/** The list of workspaces is incomplete. */
const unread =
  (status: string): Change =>
  ({ coder }) => {
    for (const { workspaces } of coder.organizations) if (workspaces) workspaces.status = status;
  };

describe('an incomplete forecast', () => {
  it.each<Row>([
    {
      scenario: 'forbidden, two idle daemons',
      picture: { pools: { cpu: { tasks: 'I30m I20m' } }, workspaces: [] },
      change: unread('forbidden'),
      expected: ['ask cpu#0'],
      because: 'the rest works, and the last daemon keeps the gate open',
    },
    {
      scenario: 'failed, one idle daemon',
      picture: { pools: { cpu: { tasks: 'I30m' } }, workspaces: [] },
      change: unread('failed'),
      expected: [],
      because: 'the last daemon stays',
    },
    {
      scenario: 'failed, one idle daemon, wake off',
      picture: {
        pools: { cpu: { tasks: 'I30m', wake: { autostart: false, autostop: false } } },
        workspaces: [],
      },
      change: unread('failed'),
      expected: ['ask cpu#0'],
      because: 'the pool does not need it',
    },
    {
      scenario: 'failed, no daemon',
      picture: { pools: { cpu: {} }, workspaces: [] },
      change: unread('failed'),
      expected: [],
      because: 'an incomplete forecast launches nothing',
    },
    {
      scenario: 'truncated, an autostart in it',
      picture: { pools: { cpu: one }, workspaces: [{ startsInS: 60 }] },
      change: unread('truncated'),
      expected: ['cpu 0->1 prewarm'],
      because: 'known transitions count',
    },
    {
      scenario: 'stale for an hour, an autostart in it',
      picture: { pools: { cpu: one }, workspaces: [{ startsInS: 60 }] },
      change: (snapshot) => {
        unread('stale')(snapshot, {});
        for (const { workspaces } of snapshot.coder.organizations)
          if (workspaces) workspaces.takenAt = '2026-11-20T08:00:00Z';
      },
      expected: ['cpu 0->1 prewarm'],
      because: 'schedules rarely change',
    },
    {
      scenario: 'none, one idle daemon',
      picture: { pools: { cpu: { tasks: 'I30m' } } },
      expected: ['ask cpu#0'],
      because: 'without a forecast no transition is due',
    },
    {
      scenario: 'overdue for a year, with a daemon for an hour',
      picture: { pools: { cpu: { tasks: 'I30m' } }, workspaces: [{ startsInS: -31_536_000 }] },
      expected: ['ask cpu#0'],
      because: 'coderd has seen the daemon, and won’t do it',
    },
  ])('plans $expected for $scenario, because $because', ({ picture, change, expected }) => {
    expect(actionsOf(planOf(picture, change))).toEqual(expected);
  });
});

describe('the forecast in the plan', () => {
  const picture: Picture = {
    pools: { cpu: { max: 300 } },
    maxTasks: 300,
    workspaces: [
      { startsInS: 60, count: 30 },
      { stopsInS: -420 },
      { stopsInS: 3000 },
      { stopsInS: 7200 },
      { tags: gpu, startsInS: 10 },
    ],
  };

  it('gives the kind, the time and the number of the transitions that keep a pool awake', () => {
    const plan = planOf(picture);
    expect(poolOf(plan, 'cpu')).toMatchObject({
      due: 31,
      floor: { count: 30, from: 'wake' },
      startTime: { from: 'setting', samples: 0, p50Ms: 90_000, p95Ms: 90_000 },
      why: [
        {
          code: 'awake-for',
          for: [
            { kind: 'autostop', transitions: 1, at: '2026-11-20T08:53:00.000Z' },
            { kind: 'autostart', transitions: 30, at: '2026-11-20T09:01:00.000Z' },
          ],
        },
        { code: 'prewarm', daemons: 30, due: 30 },
      ],
    });
  });

  it('lists the transitions that are due within the hour', () => {
    const common = { organization: 'default', tags: {}, pool: 'cpu' };
    expect(planOf(picture).forecast).toEqual([
      { ...common, kind: 'autostart', transitions: 30, at: '2026-11-20T09:01:00.000Z' },
      { ...common, kind: 'autostop', transitions: 1, at: '2026-11-20T08:53:00.000Z' },
      { ...common, kind: 'autostop', transitions: 1, at: '2026-11-20T09:50:00.000Z', pool: null },
    ]);
  });

  it('reports transitions without a pool', () => {
    expect(planOf(picture).findings).toEqual([
      {
        code: 'transitions-without-pool',
        organization: 'default',
        tags: gpu,
        kind: 'autostart',
        transitions: 1,
        at: '2026-11-20T09:00:10.000Z',
      },
    ]);
  });

  it('reports transitions that are later than maxDelay', () => {
    const codes = (stopsInS: number): readonly string[] =>
      planOf({ pools: { cpu: {} }, workspaces: [{ stopsInS }] }).findings.map(({ code }) => code);
    expect(codes(-600)).toEqual([]);
    expect(codes(-601)).toEqual(['transitions-late']);
  });

  it('is the same for every order of workspaces', () => {
    const reversed = planOf(picture, ({ coder }) => {
      for (const { workspaces, templates } of coder.organizations) {
        workspaces?.items.reverse();
        templates?.items.reverse();
      }
    });
    expect(reversed).toEqual(planOf(picture));
  });

  it('launches nothing twice, because a second look finds all transitions served', () => {
    const pools = { cpu: { max: 300, tasks: 'P P P' } };
    expect(actionsOf(planOf({ pools, workspaces: [{ startsInS: 60, count: 3 }] }))).toEqual([]);
  });

  it('counts a job once, because an inserted job is no longer due', () => {
    const plan = planOf(
      { pools: { cpu: {} }, pending: [{ jobs: 2 }], workspaces: [{ startsInS: -10, count: 2 }] },
      (snapshot) => {
        const { jobs, workspaces } = organizationIn(snapshot);
        for (const [index, job] of jobs.items.entries())
          job.metadata = { workspace_id: workspaces?.items[index]?.id };
      },
    );
    expect(actionsOf(plan)).toEqual(['cpu 0->2 pending-jobs']);
  });
});

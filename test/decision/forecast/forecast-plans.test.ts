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
  daemonIs,
  inWords,
  iso,
  organizationIn,
  planOf,
  poolIs,
  poolOf,
  withBuilds,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';

const gpu = { cluster: 'gpu' };

/** Five builds of workspaces with this duration. */
const withBuildsOf = (seconds: number): Change => withBuilds(...Array<number>(5).fill(seconds));

/** The list of workspaces is incomplete. */
const unread =
  (status: string): Change =>
  ({ coder }) => {
    for (const { workspaces } of coder.organizations) if (workspaces) workspaces.status = status;
  };

const staleForAnHour: Change = (snapshot) => {
  unread('stale')(snapshot, {});
  for (const { workspaces } of snapshot.coder.organizations)
    if (workspaces) workspaces.takenAt = '2026-11-20T08:00:00Z';
};
const failing =
  (pool: string): Change =>
  (snapshot) =>
    addFailedStarts(snapshot, pool, 3);

type Row = {
  readonly world: string;
  readonly change?: Change;
  readonly expected: string;
  readonly because: string;
};

const plans = ({ world, change, expected }: Row): void =>
  expect(inWords(actionsOf(planOf(world, change)))).toBe(expected);

describe('a pool at zero', () => {
  it.each(table<Row>`
    world                                                     | change | expected           | because
    cpu, max 1; start in 100s                             |        | cpu 0->1 prewarm   | a daemon has to be seen by then
    cpu, max 1; start in 105.12s                          |        | cpu 0->1 prewarm   | the next look may be too late
    cpu, max 1; start in 106s                             |        | nothing            | the next look is early enough
    cpu, startTime 180s, max 1; start in 190s             |        | cpu 0->1 prewarm   | startTime is as long
    cpu, max 300; 200 starts in 60s; maxTasks 400             |        | cpu 0->200 prewarm | each gets a daemon
    cpu, max 300, startTime 180s; 100 starts in 60s; 100 starts in 120s; maxTasks 400 | ${withBuildsOf(45)} | cpu 0->100 prewarm | builds that take 45 s are done when the next minute comes
    cpu, max 300, startTime 180s; 100 starts in 60s; 100 starts in 90s; maxTasks 400 | ${withBuildsOf(20)} | cpu 0->200 prewarm | coderd inserts all jobs of one minute at once
    cpu, max 300; 200 starts in 60s; maxTasks 400             | ${withBuildsOf(0)} | cpu 0->200 prewarm | such a record proves nothing
    cpu, max 300, startTime 180s; 100 starts in 60s; 100 starts in 120s; maxTasks 400 | ${withBuildsOf(80)} | cpu 0->200 prewarm | the first builds still run when the next minute comes
    cpu; gpu [gpu]; 2 starts in 60s; prebuild [gpu]; maxTasks 2 |  | cpu 0->2 prewarm   | it comes before jobs that can wait
    cpu, max 50; 200 starts in 60s               |        | cpu 0->50 prewarm  | max comes last
    cpu; 200 starts in 60s; autostarts cost 0 |        | cpu 0->1 awake-for | one daemon opens the gate
    cpu; 5 stops 86400s ago                                   |        | cpu 0->1 awake-for | coderd did not do it, since no daemon was there, or for reasons of its own: one is enough to see
    cpu; stop 30s ago                                         |        | nothing            | no person waits for a stop, and several stops can share one start
    cpu; 5 stops 30s ago                                      |        | cpu 0->1 awake-for | together their waiting costs as much as a start
    cpu, max 1, dollarsPerLaunch 1; stop 359s ago              |        | nothing            | its waiting has not cost as much as a start
    cpu, max 1, dollarsPerLaunch 1; stop 360s ago              |        | cpu 0->1 awake-for | with a later start it would wait for more than ten minutes
    cpu; 5 stops 420s ago                                     |        | cpu 0->1 awake-for | they come within ten minutes, and one daemon does one after the other
    cpu, no wake; start in 60s                           |        | nothing            | it is not woken for that
    cpu, no wake; stop in 60s                             |        | nothing            | it is not woken for that
    cpu; start in 60s [gpu]                        |        | nothing            | its daemons open no gate for these
    gpu [gpu]; eu [gpu eu]; start in 60s [gpu]                |        | eu 0->1 prewarm    | one wake-up, not two
    gpu [gpu]; eu [gpu eu], startTime 180s; start in 150s [gpu] |      | eu 0->1 prewarm    | the slower one has to start now
    gpu [gpu]; eu [gpu eu], cpu 4096; start in 60s [gpu]      |        | gpu 0->1 prewarm   | the cheaper one is woken
    gpu [gpu]; eu [gpu eu], cpu 4096; start in 60s [gpu]; start in 60s [gpu eu]; autostarts cost 0 |        | eu 0->1 awake-for  | one daemon opens both gates
    gpu [gpu]; start in 60s [gpu]; busy stranger [gpu eu]; autostarts cost 0 |        | nothing            | it opens the gate, busy or not
    gpu [gpu]; eu I1m [gpu eu], min 1, no wake; start in 60s [gpu]; autostarts cost 0 |        | nothing            | that daemon opens the gate
    cpu; dear [gpu], cpu 4096; start in 60s        | ${failing('cpu')} | cpu 0->1 awake-for | it gets one probe at a time
  `)('plans $expected for $world, because $because', plans);
});

describe('a pool that is awake', () => {
  it.each(table<Row>`
    world                                                                   | expected                        | because
    cpu I30m; stop in 120s                                       | nothing                         | it costs less to stay than to start again
    cpu I30m; stop in 540s                                       | ask cpu#0                       | it costs less to start again than to stay
    cpu I30m I20m; stop in 120s                                  | ask cpu#0                       | one is enough
    cpu Z I30m, max 2; stop in 120s                              | ask cpu#0                       | the task without a daemon opens no gate, so it drains
    cpu I2m, ageMinutes 5, daemons [gpu]; 3 starts in 60s                   | cpu 1->2 awake-for              | one more may have the right one
    cpu I2m I2m, ageMinutes 5, daemons [gpu]; 3 starts in 60s               | nothing                         | the next would be one more of them
    gpu I30m [gpu]; eu B [gpu eu]; stop in 120s [gpu] | ask gpu#0                       | the busy daemon stays for its job
    cpu I30m I20m I20m; 2 starts in 60s                                     | ask cpu#0                       | two stay ready
    cpu I30m I20m I20m; 2 starts in 240s                                    | ask cpu#0                       | two cost less if they stay than if they are started again
    cpu I30m I20m I20m; 2 starts in 540s                                    | ask cpu#0, ask cpu#1, ask cpu#2 | it costs less to start them again
    cpu I30m I25m I20m, startTime 5m; 2 starts in 540s                      | ask cpu#0                       | the longer a start takes, the longer it pays to stay
    cpu I30m I25m I20m, idleTimeout 1m; 2 starts in 240s                    | ask cpu#0                       | idleTimeout is only for daemons that nothing needs
    cpu I30m I25m; gpu [gpu]; 2 starts in 240s; job [gpu]; maxTasks 2 | ask cpu#0 | a job that waits needs the room more than a start that is due later
    cpu B; 2 starts in 60s                                                  | cpu 1->3 prewarm                | busy ones are not counted on
    cpu I1m I1m, warm 2; 2 starts in 60s                                    | cpu 2->4 prewarm                | warm is kept free beside them
  `)('plans $expected for $world, because $because', plans);
});

it('launches nothing for starts that are due later in place of spare daemons', () => {
  const withSpareOnes = planOf('cpu I1m I1m; 5 starts in 240s', (snapshot, config) => {
    withBuildsOf(60)(snapshot, config);
    poolIs({ warm: 'auto' })(snapshot, config);
  });
  expect(inWords(actionsOf(withSpareOnes))).toBe('nothing');
});

describe('several pools that can open the gate', () => {
  it.each(table<Row>`
    world                                                                                  | change | expected        | because
    cheap [gpu]; dear I30m [gpu eu], cpu 4096; start in 60s [gpu]; autostarts cost 0 |        | nothing         | a pool that is awake comes before one at zero
    cheap I30m [gpu]; dear I30m [gpu eu], cpu 4096; start in 60s [gpu]; autostarts cost 0 |        | ask dear#0      | the cheaper one stays
    cheap I30m [gpu]; dear B [gpu eu], cpu 4096; start in 60s [gpu]; autostarts cost 0 |        | ask cheap#0     | the busy daemon stays for its job
    cheap [gpu]; dear [gpu eu], cpu 4096, warm 1; start in 60s [gpu]; autostarts cost 0 |        | dear 0->1 floor | the floor launches it
    cheap [gpu], no wake, min 1; dear [gpu eu], cpu 4096; 3 starts in 60s [gpu] |        | cheap 0->1 floor, dear 0->3 prewarm | the other pool does not start for them
    cheap [gpu]; dear [gpu eu], cpu 4096; start in 60s [gpu]; autostarts cost 0 | ${failing('cheap')} | dear 0->1 awake-for | a pool that cannot start tasks is the last resort
    cheap B [gpu], ageMinutes 5, daemons [z=9]; dear [gpu eu], cpu 4096; start in 60s [gpu]; autostarts cost 0 |        | dear 0->1 awake-for | another daemon of its would have that key too
  `)('plans $expected for $world, because $because', plans);
});

describe('an incomplete forecast', () => {
  it.each(table<Row>`
    world                                              | change                 | expected         | because
    cpu I30m I20m; no workspaces                       | ${unread('forbidden')} | ask cpu#0        | the rest works, and the last daemon keeps the gate open
    cpu I30m; no workspaces                            | ${unread('failed')}    | nothing          | the last daemon stays
    cpu I30m, no wake; no workspaces | ${unread('failed')}    | ask cpu#0        | the pool does not need it
    cpu; no workspaces                                 | ${unread('failed')}    | nothing          | an incomplete forecast launches nothing
    cpu; start in 60s                       | ${unread('truncated')} | cpu 0->1 prewarm | known transitions count
    cpu; start in 60s                       | ${staleForAnHour}      | cpu 0->1 prewarm | schedules rarely change
    cpu I30m                                           |                        | ask cpu#0        | without a forecast no transition is due
    cpu I30m; start 31536000s ago                      |                        | ask cpu#0        | coderd has seen the daemon, and won’t do it
  `)('plans $expected for $world, because $because', plans);
});

describe('the forecast in the plan', () => {
  it('names the limit that leaves starts without a daemon', () => {
    const { why } = poolOf(planOf('cpu, max 50; 20 starts in 60s; maxTasks 5'), 'cpu');
    expect(why.at(-1)).toMatchObject({ code: 'capped-at-max-tasks', wanted: 20, granted: 5 });
  });

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

  it('names no limit that nothing reaches', () => {
    const { why } = poolOf(planOf('cpu; 2 starts in 60s; autostarts cost 0'), 'cpu');
    expect(why.map(({ code }) => code)).toEqual(['awake-for']);
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

  it.each([
    { startsInS: 15, expected: ['transitions-without-pool'], because: 'the next look would be late' },
    { startsInS: 16, expected: [], because: 'a pool may still be added' },
  ])('reports $expected of a start without a pool in $startsInS s: $because', ({ startsInS, expected }) => {
    const { findings } = planOf({ pools: { cpu: {} }, workspaces: [{ tags: gpu, startsInS }] });
    expect(findings.map(({ code }) => code)).toEqual(expected);
  });

  it('reports transitions that are more than ten minutes late', () => {
    const codes = (stopsInS: number): readonly string[] =>
      planOf({ pools: { cpu: {} }, workspaces: [{ stopsInS }] }).findings.map(({ code }) => code);
    expect(codes(-600)).toEqual([]);
    expect(codes(-601)).toEqual(['transitions-late']);
  });

  it.each(table<Omit<Row, 'expected'> & { readonly expected: readonly string[] }>`
    world                                                    | change                                                         | expected                  | because
    cpu; stop 601s ago; stranger                             | ${daemonIs(0, { created_at: iso(20) })}                        | ${[]}                      | coderd has just seen a daemon
    cpu; stop 7200s ago; stranger                            | ${daemonIs(0, { created_at: iso(7000), last_seen_at: iso(5000) })} | ${['transitions-refused']} | coderd saw one and refused
  `)('reports $expected for $world, because $because', ({ world, change, expected }) => {
    expect(planOf(world, change).findings.map(({ code }) => code)).toEqual(expected);
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

/** What `autoscaler plan` says in the situations that fooled other autoscalers, word for word. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { run } from '../support/cli-run.ts';
import { type Drawn, draw, type Picture } from '../support/picture.ts';
import { addFailedStarts } from '../support/planned.ts';

const folder = mkdtempSync(join(tmpdir(), 'autoscaler-plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function plan({ snapshot, config }: Drawn, ...more: readonly string[]): Promise<string> {
  writeFileSync(join(folder, 'snapshot.json'), JSON.stringify(snapshot));
  writeFileSync(join(folder, 'config.yaml'), stringify(config));
  const files = ['--snapshot', join(folder, 'snapshot.json'), '--config', join(folder, 'config.yaml')];
  const { code, out } = await run('plan', ...files, ...more);
  expect(code).toBe(0);
  return out;
}

const gpu = { cluster: 'gpu' };
const organization = ({ snapshot }: Drawn, name: string) => {
  const found = snapshot.coder.organizations.find((item) => item.name === name);
  if (found === undefined) throw new Error(`no organization ${name}`);
  return found;
};

it('a job that two pools can run is one launch, in the cheaper pool', async () => {
  const drawn = draw({
    pools: { dear: { tags: gpu, cpu: 4096 }, cheap: { tags: { ...gpu, region: 'eu' } } },
    pending: [{ tags: gpu }],
  });
  expect(await plan(drawn)).toMatchInlineSnapshot(`
    "plan for 2026-11-20T09:00:00.000Z

      + cheap  0 -> 1  1 pending job needs a new task
        dear   0       nothing to do

    1 count to raise, 0 tasks to ask to leave, 0 counts to lower
    "
  `);
});

it('a truncated list scales out and does not scale in', async () => {
  const drawn = draw({
    pools: { cpu: { tasks: 'B I20m' }, gpu: { tags: gpu } },
    pending: [{ jobs: 2, tags: gpu }],
  });
  Object.assign(organization(drawn, 'default').jobs, { limit: 3 });
  expect(await plan(drawn)).toMatchInlineSnapshot(`
    "plan for 2026-11-20T09:00:00.000Z

        cpu  2       not scaled in: the list of jobs is truncated (1 busy, 1 idle)
      + gpu  0 -> 2  2 pending jobs need a new task

    findings:
      ! organization "default": the list of jobs is truncated; the oldest pending jobs are the ones that are missing

    1 count to raise, 0 tasks to ask to leave, 0 counts to lower
    "
  `);
});

it('daemons listed idle whose tasks are gone are no supply', async () => {
  const drawn = draw({ pools: { cpu: { tasks: 'I1m I1m' } }, pending: [{ jobs: 2 }] });
  drawn.snapshot.ecs.tasks.items = [];
  Object.assign(drawn.snapshot.ecs.services.items[0] ?? {}, { desiredCount: 0, runningCount: 0 });
  expect(await plan(drawn)).toMatchInlineSnapshot(`
    "plan for 2026-11-20T09:00:00.000Z

      + cpu  0 -> 2  2 pending jobs need a new task

    findings:
      ! pool "cpu": 2 daemons that no task explains (cpu-0d96691a68a201f00bbfc41bd16dc671, cpu-22aa29dda99b38a2838cbe86c359d785); no capacity is counted on them

    1 count to raise, 0 tasks to ask to leave, 0 counts to lower
    "
  `);
});

it('a forbidden organization does not stop a good one', async () => {
  const drawn = draw({
    pools: { cpu: { tasks: 'B' }, data: { organization: 'data', tasks: 'B I20m' } },
    pending: [{}],
  });
  const error = 'listing provisioner jobs of organization "data": coderd answered 404';
  Object.assign(organization(drawn, 'data').jobs, { status: 'forbidden', error, items: [] });
  expect(await plan(drawn)).toMatchInlineSnapshot(`
    "plan for 2026-11-20T09:00:00.000Z

      + cpu   1 -> 2  1 pending job needs a new task (1 busy)
        data  2       not scaled in: the list of jobs is forbidden (1 busy, 1 idle)

    findings:
      ! organization "data": the list of jobs is forbidden: listing provisioner jobs of organization "data": coderd answered 404

    1 count to raise, 0 tasks to ask to leave, 0 counts to lower
    "
  `);
});

it('an empty 200 while tasks work holds', async () => {
  const drawn = draw({ pools: { cpu: { tasks: 'I20m I30m' } } });
  Object.assign(organization(drawn, 'default'), {
    daemons: { status: 'ok', limit: 0, items: [] },
    jobs: { status: 'ok', limit: 0, items: [] },
  });
  expect(await plan(drawn)).toMatchInlineSnapshot(`
    "plan for 2026-11-20T09:00:00.000Z

        cpu  2  not scaled in: coderd lists no daemon although tasks hold leases

    findings:
      ! organization "default": coderd lists no daemon although 2 tasks of its pools hold leases; holding. If a key was deleted, give the pool a new one; if none of its tasks ever had a daemon, their logs say why
      ! pool "cpu": 2 tasks that should have a daemon and have none (arn:aws:ecs:eu-central-1:111122223333:task/coder/0d96691a68a201f00bbfc41bd16dc671, arn:aws:ecs:eu-central-1:111122223333:task/coder/22aa29dda99b38a2838cbe86c359d785); look at the task's log

    no changes
    "
  `);
});

it('max biting is said, with what was wanted', async () => {
  expect(
    await plan(draw({ pools: { cpu: { tasks: 'B B', max: 3 } }, pending: [{ jobs: 9, ageS: 360 }] })),
  ).toMatchInlineSnapshot(`
    "plan for 2026-11-20T09:00:00.000Z

      + cpu  2 -> 3  9 pending jobs need a new task; needs 11 tasks, limited to 3 by max (2 busy)

    findings:
      ! organization "default", tags (untagged): 9 jobs pending for long, the oldest since 2026-11-20T08:54:00.000Z; pool "cpu" is to run them

    1 count to raise, 0 tasks to ask to leave, 0 counts to lower
    "
  `);
});

it('a pool with a wrong key is said, and its daemons are not counted on', async () => {
  const drawn = draw({
    pools: { gpu: { tasks: 'I1m', tags: gpu, daemonTags: { cluster: 'tpu' } } },
    pending: [{ tags: gpu }],
  });
  expect(await plan(drawn)).toMatchInlineSnapshot(`
    "plan for 2026-11-20T09:00:00.000Z

      + gpu  1 -> 2  1 pending job needs a new task; 1 daemon with another key than the pool's; it waits for its turn to be replaced (1 idle)

    findings:
      ! pool "gpu": 1 daemon offers other tags than the pool's (gpu-46de701131a4b4fa4bb825ca0578018d); its key is another pool's, or the key's tags were changed

    1 count to raise, 0 tasks to ask to leave, 0 counts to lower
    "
  `);
});

it('shuffled input gives the identical document', async () => {
  const drawn = draw({
    pools: {
      a: { tasks: 'I20m I21m B X', min: 1 },
      b: { tasks: 'B P L', tags: gpu },
      c: { tags: { ...gpu, region: 'eu' } },
    },
    pending: [{ jobs: 3 }, { jobs: 2, tags: gpu }, { prebuilds: true, tags: { region: 'eu' } }],
  });
  const shuffled = JSON.parse(JSON.stringify(drawn), (_, value: unknown) =>
    Array.isArray(value) ? value.reverse() : value,
  );
  expect(await plan(shuffled, '--json')).toBe(await plan(drawn, '--json'));
});

it('starts that fail are said with the reason of ECS', async () => {
  const drawn = draw({ pools: { cpu: { tasks: 'B' } }, pending: [{ jobs: 4 }] });
  addFailedStarts(drawn.snapshot, 'cpu', 3);
  expect(await plan(drawn)).toMatchInlineSnapshot(`
    "plan for 2026-11-20T09:00:00.000Z

      + cpu  1 -> 2  4 pending jobs need a new task; 3 starts failed and none has succeeded since, so one probe at a time (wants 5, gets 2): the image can not be pulled (CannotPullContainerError: pull image manifest has been retried 7 time(s)) (1 busy, 3 failing)

    findings:
      ! pool "cpu": 3 tasks failed to start since a daemon last registered: the image can not be pulled (CannotPullContainerError: pull image manifest has been retried 7 time(s))

    1 count to raise, 0 tasks to ask to leave, 0 counts to lower
    "
  `);
});

it('--explain tells the story of one pool', async () => {
  const drawn = draw({
    pools: { cpu: { tasks: 'B I3m I20m L X', max: 5, min: 1 } },
    pending: [{ ageS: 20 }],
  });
  expect(await plan(drawn, '--explain', 'cpu')).toMatchInlineSnapshot(`
    "pool "cpu" of organization "default", tags (untagged), at 2026-11-20T09:00:00.000Z

    demand:
      (untagged), people: 1 job, the oldest for 20 s -> 1 by a free daemon in "cpu"

    what coderd will do by itself:
      not in this snapshot: it is read where a pool of the organization has wake on

    supply:
      desired count 5, 5 tasks
      0d96691a68a201f00bbfc41bd16dc671  working    daemon idle for 3 min
      171fe780b5e5d9ac27eff9d9e1b550a5  leaving    daemon busy
      22aa29dda99b38a2838cbe86c359d785  working    daemon busy
      3e45296974e85d3a77d818aa56eb270d  left       daemon silent
      bc4812abc2c918d2c4144824b404c339  working    daemon idle for 20 min

    what it needs:
      1 in use + 1 job for free daemons + 0 for starting ones + 0 for new tasks = 2
      floors: min 1, warm 0, wake 0, ready for what is due 0, stock 0 -> 1 by min
      a new task has its daemon after 90 s (startTime of the configuration; 0 starts seen, too few to learn it)
      bounds: wants 2, max 5, limits.maxTasks -> 3
      there are 3: 3 working, 0 starting, 0 unguarded; beside them 1 leaving, 1 left

    who leaves:
      bc4812abc2c918d2c4144824b404c339  is asked: idle-long-enough

    decided:
      desired count 5 -> 4
      because: 1 pending job for free daemons
      because: draining 1 idle daemon
      because: 1 task has left
    "
  `);
});

describe('what coderd will do by itself', () => {
  it('a pool at zero is woken for it, with a daemon for each job', async () => {
    const drawn = draw({
      pools: { cpu: {}, gpu: { tags: gpu } },
      workspaces: [
        { count: 5, startsInS: 100 },
        { tags: gpu, stopsInS: -120 },
      ],
    });
    expect(await plan(drawn)).toMatchInlineSnapshot(`
      "plan for 2026-11-20T09:00:00.000Z

        + cpu  0 -> 5  to be awake for 5 autostarts from 2026-11-20T09:01:40.000Z on; coderd is about to create 5 jobs: 5 daemons will be ready
        + gpu  0 -> 1  to be awake for 1 autostop at 2026-11-20T08:58:00.000Z

      what coderd will do by itself within the hour:
          organization "default", tags cluster=gpu: 1 autostop at 2026-11-20T08:58:00.000Z, overdue; pool "gpu" is to be awake for it
          organization "default", tags (untagged): 5 autostarts from 2026-11-20T09:01:40.000Z on; pool "cpu" is to be awake for them

      2 counts to raise, 0 tasks to ask to leave, 0 counts to lower
      "
    `);
  });

  it('prewarm.max biting is said, with what is due', async () => {
    const drawn = draw({
      pools: { cpu: { prewarm: { max: 4 } } },
      workspaces: [{ count: 200, startsInS: 60 }],
    });
    expect(await plan(drawn)).toMatchInlineSnapshot(`
      "plan for 2026-11-20T09:00:00.000Z

        + cpu  0 -> 4  to be awake for 200 autostarts from 2026-11-20T09:01:00.000Z on; coderd is about to create 200 jobs: 4 daemons will be ready; 200 jobs due, limited to 4 daemons by prewarm.max until coderd creates the jobs

      what coderd will do by itself within the hour:
          organization "default", tags (untagged): 200 autostarts from 2026-11-20T09:01:00.000Z on; pool "cpu" is to be awake for them

      1 count to raise, 0 tasks to ask to leave, 0 counts to lower
      "
    `);
  });

  it('nobody is awake for tags that no pool has, which is said', async () => {
    const drawn = draw({
      pools: { cpu: {} },
      workspaces: [{ tags: { cluster: 'tpu' }, count: 3, stopsInS: -30 }],
    });
    expect(await plan(drawn)).toMatchInlineSnapshot(`
      "plan for 2026-11-20T09:00:00.000Z

          cpu  0  nothing to do

      findings:
        ! organization "default", tags cluster=tpu: 3 autostops from 2026-11-20T08:59:30.000Z on, and no pool that stays has these tags: coderd will not do them without a daemon that has them; add a pool with these tags, or change those of the template

      no changes
      "
    `);
  });

  it('what is overdue for too long is said', async () => {
    const drawn = draw({ pools: { cpu: {} }, workspaces: [{ count: 3, stopsInS: -1500 }] });
    expect(await plan(drawn)).toMatchInlineSnapshot(`
      "plan for 2026-11-20T09:00:00.000Z

        + cpu  0 -> 1  to be awake for 3 autostops from 2026-11-20T08:35:00.000Z on

      what coderd will do by itself within the hour:
          organization "default", tags (untagged): 3 autostops from 2026-11-20T08:35:00.000Z on, overdue; pool "cpu" is to be awake for them

      findings:
        ! organization "default", tags (untagged): 3 autostops from 2026-11-20T08:35:00.000Z on, overdue for longer than wake.maxDelay; coderd does them once it sees a daemon with these tags

      1 count to raise, 0 tasks to ask to leave, 0 counts to lower
      "
    `);
  });

  it('a list of workspaces that is forbidden keeps a last daemon, and wakes nobody', async () => {
    const drawn = draw({ pools: { cpu: { tasks: 'I20m' }, gpu: { tags: gpu } }, workspaces: [] });
    const error =
      'listing workspaces of organization "default": coderd does not let the token\'s user read them; the user needs the organization template admin role there';
    Object.assign(organization(drawn, 'default'), { workspaces: { status: 'forbidden', error, items: [] } });
    expect(await plan(drawn)).toMatchInlineSnapshot(`
      "plan for 2026-11-20T09:00:00.000Z

          cpu  1  its last daemon stays, since not all that coderd will do by itself is known (see findings) (1 idle)
          gpu  0  nothing to do

      findings:
        ! organization "default": the list of workspaces is forbidden: listing workspaces of organization "default": coderd does not let the token's user read them; the user needs the organization template admin role there; pools keep their last daemon, and those at zero are not woken for what can not be seen

      no changes
      "
    `);
  });

  it('lists that could not be read anew are told with their age', async () => {
    const drawn = draw({ pools: { cpu: { tasks: 'I20m' } }, workspaces: [{ count: 3, startsInS: 200 }] });
    const stale = {
      status: 'stale',
      error: 'listing workspaces: coderd answered 502',
      takenAt: '2026-11-20T08:54:00Z',
    };
    Object.assign(organization(drawn, 'default').workspaces ?? {}, stale);
    expect(await plan(drawn)).toMatchInlineSnapshot(`
      "plan for 2026-11-20T09:00:00.000Z

          cpu  1  to be awake for 3 autostarts from 2026-11-20T09:03:20.000Z on (1 idle)

      what coderd will do by itself within the hour:
          organization "default", tags (untagged): 3 autostarts from 2026-11-20T09:03:20.000Z on; pool "cpu" is to be awake for them

      findings:
        ! organization "default": the list of workspaces is stale: listing workspaces: coderd answered 502; what was read at 2026-11-20T08:54:00.000Z is used

      no changes
      "
    `);
  });

  it('lists that failed for one reason are one finding, with what follows from it', async () => {
    const drawn = draw({ pools: { cpu: {} }, workspaces: [] });
    const failed = { status: 'failed', error: 'listing workspaces: coderd answered 502', items: [] };
    Object.assign(organization(drawn, 'default'), { jobs: failed, workspaces: failed, templates: failed });
    expect(await plan(drawn)).toMatchInlineSnapshot(`
      "plan for 2026-11-20T09:00:00.000Z

          cpu  0  not scaled in: the list of jobs is failed

      findings:
        ! listing workspaces: coderd answered 502; not read for this: jobs, workspaces, templates of "default"; pools keep their last daemon, and those at zero are not woken for what can not be seen

      no changes
      "
    `);
  });

  it('a schedule is named as the floor', async () => {
    const schedule = { from: '08:30', to: '18:30', timezone: 'Europe/Berlin', warm: 2 };
    const drawn = draw({ pools: { cpu: { schedules: [schedule] } }, workspaces: [] });
    expect(await plan(drawn)).toMatchInlineSnapshot(`
      "plan for 2026-11-20T09:00:00.000Z

        + cpu  0 -> 2  a schedule keeps 2, busy daemons included

      1 count to raise, 0 tasks to ask to leave, 0 counts to lower
      "
    `);
  });
});

describe('plan --at', () => {
  const drawn = draw({
    pools: { cpu: {}, gpu: { tags: gpu, prewarm: { max: 4 } } },
    workspaces: [
      { count: 3, startsInS: 2400 },
      { count: 200, tags: gpu, startsInS: 7200 },
    ],
  });

  it('now, what is due later launches nobody', async () => {
    expect(await plan(drawn)).toMatchInlineSnapshot(`
      "plan for 2026-11-20T09:00:00.000Z

          cpu  0  nothing to do
          gpu  0  nothing to do

      what coderd will do by itself within the hour:
          organization "default", tags (untagged): 3 autostarts from 2026-11-20T09:40:00.000Z on; no pool is woken for them now

      no changes
      "
    `);
  });

  it('a little before it is due, its pool is woken; what is due earlier has been done by then', async () => {
    expect(await plan(drawn, '--at', '2026-11-20T10:58:30Z')).toMatchInlineSnapshot(`
      "as if it were 2026-11-20T10:58:30.000Z, with the pools, daemons and jobs of 2026-11-20T09:00:00.000Z; of each workspace only the next thing that coderd will do by itself is known

      plan for 2026-11-20T10:58:30.000Z

          cpu  0       nothing to do
        + gpu  0 -> 4  to be awake for 200 autostarts from 2026-11-20T11:00:00.000Z on; coderd is about to create 200 jobs: 4 daemons will be ready; 200 jobs due, limited to 4 daemons by prewarm.max until coderd creates the jobs

      what coderd will do by itself within the hour:
          organization "default", tags cluster=gpu: 200 autostarts from 2026-11-20T11:00:00.000Z on; pool "gpu" is to be awake for them

      1 count to raise, 0 tasks to ask to leave, 0 counts to lower
      "
    `);
  });

  it('--json holds the plan alone', async () => {
    const json = await plan(drawn, '--at', '2026-11-20T11:58:30+01:00', '--json');
    expect(JSON.parse(json)).toMatchObject({ takenAt: '2026-11-20T10:58:30.000Z' });
  });
});

describe('--explain tells for what a pool has to be awake', () => {
  it('when it will start', async () => {
    const drawn = draw({ pools: { cpu: {} }, workspaces: [{ count: 3, startsInS: 2400 }] });
    expect(await plan(drawn, '--explain', 'cpu')).toMatchInlineSnapshot(`
      "pool "cpu" of organization "default", tags (untagged), at 2026-11-20T09:00:00.000Z

      demand:
        no pending job that this pool can run

      what coderd will do by itself:
        (untagged): 3 autostarts from 2026-11-20T09:40:00.000Z on -> the start for it begins at 2026-11-20T09:38:12.600Z
        it starts 107 s before an autostart is due; stops and deletions share a start, up to 10 min late (wake.maxDelay)

      supply:
        desired count 0, 0 tasks

      what it needs:
        0 in use + 0 jobs for free daemons + 0 for starting ones + 0 for new tasks = 0
        floors: min 0, warm 0, wake 0, ready for what is due 0, stock 0 -> 0 by min
        a new task has its daemon after 90 s (startTime of the configuration; 0 starts seen, too few to learn it)
        bounds: wants 0, max 20, limits.maxTasks -> 0
        there are 0: 0 working, 0 starting, 0 unguarded; beside them 0 leaving, 0 left

      decided:
        desired count stays 0
        because: nothing to do
        no action
      "
    `);
  });

  it.each([
    {
      scenario: 'it is awake',
      picture: { pools: { cpu: {} }, workspaces: [{ startsInS: 60 }] },
      expected: '(untagged): 1 autostart at 2026-11-20T09:01:00.000Z -> to be awake for it',
    },
    {
      scenario: 'another pool is awake',
      picture: {
        pools: { cpu: { tags: gpu, cpu: 4096 }, cheap: { tags: { ...gpu, region: 'eu' } } },
        workspaces: [{ tags: gpu, stopsInS: -120 }],
      },
      expected: 'cluster=gpu: 1 autostop at 2026-11-20T08:58:00.000Z -> pool "cheap" is to be awake for it',
    },
    {
      scenario: 'a stop waits for others',
      picture: { pools: { cpu: {} }, workspaces: [{ stopsInS: -30 }] },
      expected:
        '1 autostop at 2026-11-20T08:59:30.000Z -> shares a start with others, and is done by 2026-11-20T09:09:30.000Z at the latest',
    },
    {
      scenario: 'two pools that could start',
      picture: {
        pools: { cpu: { tags: gpu }, eu: { tags: { ...gpu, region: 'eu' } } },
        workspaces: [{ tags: gpu, startsInS: 3600 }],
      },
      expected:
        'cluster=gpu: 1 autostart at 2026-11-20T10:00:00.000Z -> the start for it begins at 2026-11-20T09:58:12.600Z, here or in "eu"',
    },
    {
      scenario: 'others are there',
      picture: { pools: { cpu: {} }, strangers: [{}], workspaces: [{ startsInS: 60 }] },
      expected: '-> daemons of others are there for it',
    },
    {
      scenario: 'wake is off',
      picture: {
        pools: { cpu: { wake: { autostart: false, autostop: false } } },
        workspaces: [{ startsInS: 60 }],
      },
      expected: 'wake.autostart is off: it is not woken for autostarts',
    },
    {
      scenario: 'nothing was read',
      picture: { pools: { cpu: {} } },
      expected: 'not in this snapshot: it is read where a pool of the organization has wake on',
    },
  ] satisfies { scenario: string; picture: Picture; expected: string }[])(
    '$scenario',
    async ({ picture, expected }) => {
      expect(await plan(draw(picture), '--explain', 'cpu')).toContain(expected);
    },
  );

  it('more may be due than is known', async () => {
    const drawn = draw({ pools: { cpu: {} }, workspaces: [] });
    Object.assign(organization(drawn, 'default').templates ?? {}, { status: 'truncated' });
    expect(await plan(drawn, '--explain', 'cpu')).toContain('more may be due than is known, see findings');
  });
});

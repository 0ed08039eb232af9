/** The exact output of `autoscaler plan` in situations that are difficult for autoscalers. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { run } from '../support/cli-run.ts';
import { ownFolder } from '../support/own-folder.ts';
import { type Drawn, draw, type Picture } from '../support/picture.ts';
import { addFailedStarts } from '../support/planned.ts';

const folder = ownFolder();

async function plan({ snapshot, config }: Drawn, ...more: readonly string[]): Promise<string> {
  writeFileSync(join(folder, 'snapshot.json'), JSON.stringify(snapshot));
  writeFileSync(join(folder, 'config.yaml'), stringify(config));
  const files = ['--snapshot', join(folder, 'snapshot.json'), '--config', join(folder, 'config.yaml')];
  const { code, out } = await run('plan', ...files, ...more);
  const isComplete = !/"status":"(?:truncated|forbidden|failed|stale)"/.test(JSON.stringify(snapshot));
  expect(code).toBe(isComplete ? 0 : 1);
  return out;
}

const gpu = { cluster: 'gpu' };
const organization = ({ snapshot }: Drawn, name: string) => {
  const found = snapshot.coder.organizations.find((item) => item.name === name);
  if (found === undefined) throw new Error(`no organization ${name}`);
  return found;
};

it('scales out and holds scale-in when a list is truncated', async () => {
  const drawn = draw({
    pools: { cpu: { tasks: 'B I20m' }, gpu: { tags: gpu } },
    pending: [{ jobs: 2, tags: gpu }],
  });
  Object.assign(organization(drawn, 'default').jobs, { limit: 3 });
  expect(await plan(drawn)).toMatchInlineSnapshot(`
    "plan for 20 November 2026 09:00:00 UTC

        cpu  2       scale-in on hold: the list of provisioner jobs is truncated (1 busy, 1 idle)
      + gpu  0 -> 2  2 pending jobs need a new task; scale-in on hold: the list of provisioner jobs is truncated

    when pending jobs start, in the order of the queue:
        2 jobs of organization "default" (tags cluster=gpu): start unknown: a list is incomplete or contradicts another one (see the findings)

    findings:
      ! organization "default": the list of provisioner jobs is truncated. The oldest pending jobs may be missing

    1 count to raise, 0 tasks to drain, 0 counts to lower
    "
  `);
});

it('--explain shows every step of the decision about one pool', async () => {
  const drawn = draw({
    pools: { cpu: { tasks: 'B I3m I20m L X', max: 5, min: 1 } },
    pending: [{ ageS: 20 }],
  });
  expect(await plan(drawn, '--explain', 'cpu')).toMatchInlineSnapshot(`
    "pool "cpu" of organization "default", tags (untagged), at 20 November 2026 09:00:00 UTC

    demand:
      (untagged), people: 1 job, the oldest for 20 s -> 1 by a free daemon in "cpu"

    forecast of what coderd will do:
      the snapshot has no workspaces and templates of this organization, so nothing is forecast

    supply:
      desired count 5, 5 tasks
      0d96691a68a201f00bbfc41bd16dc671  ready      daemon idle for 3 min
      171fe780b5e5d9ac27eff9d9e1b550a5  leaving    daemon busy
      22aa29dda99b38a2838cbe86c359d785  ready      daemon busy
      3e45296974e85d3a77d818aa56eb270d  left       daemon silent
      bc4812abc2c918d2c4144824b404c339  ready      daemon idle for 20 min

    needs:
      1 in use + 1 job for free daemons + 0 for starting ones + 0 that need a new task = 2
      floors: the highest of min 1, wake 0, and these 2 + due 0 + warm 0 -> 2
      start time: 90 s (the setting startTime; 0 starts seen, too few to learn from)
      limits: needs 2, within max 5
      has 3: 3 ready, 0 starting, 0 without a lease; not counted: 1 draining, 1 left

    drains:
      bc4812abc2c918d2c4144824b404c339  drains: idle for idleTimeout or longer

    decision:
      desired count 5 -> 4
      because: free daemons will take 1 pending job
      because: draining 1 idle daemon
      because: 1 task has drained
    "
  `);
});

it('starts a pool at zero with a daemon for each due job', async () => {
  const drawn = draw({
    pools: { cpu: {}, gpu: { tags: gpu } },
    workspaces: [
      { count: 5, startsInS: 100 },
      { tags: gpu, stopsInS: -120 },
    ],
  });
  expect(await plan(drawn)).toMatchInlineSnapshot(`
    "plan for 20 November 2026 09:00:00 UTC

      + cpu  0 -> 5  needs a daemon for 5 autostarts from 20 November 2026 09:01:40 UTC on; prepares 5 daemons for 5 jobs that coderd is about to create
      + gpu  0 -> 1  needs a daemon for 1 autostop at 20 November 2026 08:58:00 UTC

    forecast of what coderd will do within the hour:
        organization "default", tags cluster=gpu: 1 autostop at 20 November 2026 08:58:00 UTC, overdue; pool "gpu" provides a daemon for it
        organization "default", tags (untagged): 5 autostarts from 20 November 2026 09:01:40 UTC on; pool "cpu" provides a daemon for them

    2 counts to raise, 0 tasks to drain, 0 counts to lower
    "
  `);
});

it('prints the same document for shuffled input', async () => {
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

type Case = {
  readonly scenario: string;
  readonly picture: Picture;
  readonly change?: (drawn: Drawn) => void;
  readonly says: readonly string[];
};

const inDefault = (change: (readings: ReturnType<typeof organization>) => void) => (drawn: Drawn) =>
  change(organization(drawn, 'default'));
const failed = (error: string) => ({ status: 'failed', error, items: [] });

it.each<Case>([
  {
    scenario: 'idle daemons whose tasks have stopped',
    picture: { pools: { cpu: { tasks: 'I1m I1m', desired: 0 } }, pending: [{ jobs: 2 }] },
    change: ({ snapshot }) => void Object.assign(snapshot.ecs.tasks, { items: [] }),
    says: [
      '+ cpu  0 -> 2  2 pending jobs need a new task',
      'pool "cpu": 2 daemons have no ECS task (already stopped?): cpu-0d96691a68a201f00bbfc41bd16dc671, cpu-22aa29dda99b38a2838cbe86c359d785. Ignoring them',
    ],
  },
  {
    scenario: 'a list of services that failed',
    picture: { pools: { cpu: { tasks: 'B' } } },
    change: ({ snapshot }) =>
      void Object.assign(snapshot.ecs.services, failed('listing services: TimeoutError')),
    says: ['! cpu  ?  scale-in on hold: could not list ECS services'],
  },
  {
    scenario: 'one organization that is forbidden',
    picture: {
      pools: { cpu: { tasks: 'B' }, data: { organization: 'data', tasks: 'B I20m' } },
      pending: [{}],
    },
    change: (drawn) =>
      void Object.assign(organization(drawn, 'data').jobs, {
        ...{ status: 'forbidden', items: [] },
        error: 'listing provisioner jobs of organization "data": coderd answered 404',
      }),
    says: [
      '+ cpu   1 -> 2  1 pending job needs a new task (1 busy)',
      'data  2       launches for jobs and scale-in on hold: no permission to list provisioner jobs (1 busy, 1 idle)',
      'organization "data": no permission to list provisioner jobs: listing provisioner jobs of organization "data": coderd answered 404',
    ],
  },
  {
    scenario: 'a coderd that lists nothing while tasks hold leases',
    picture: { pools: { cpu: { tasks: 'I20m I30m' } } },
    change: inDefault(({ daemons, jobs }) => {
      daemons.items = [];
      jobs.items = [];
    }),
    says: [
      '+ cpu  2 -> 3  launches 1 task, so that coderd sees a daemon of this pool (one an hour while coderd lists none, or heartbeats look old); scale-in on hold: coderd lists no daemons, but tasks hold leases',
      'organization "default": coderd lists no daemons, but 2 tasks of its pools hold leases. Scale-in is on hold. Read the log of a task: it says why coderd refuses its daemon. Mend that cause. Only if somebody deleted the provisioner key, give the pool a new one. The next daemon that registers ends the hold: that of a build, or of the task that each key launches once an hour, as far as limits allow.',
      'pool "cpu": 2 tasks should have a daemon but have none (arn:aws:ecs:eu-central-1:111122223333:task/coder/0d96691a68a201f00bbfc41bd16dc671, arn:aws:ecs:eu-central-1:111122223333:task/coder/22aa29dda99b38a2838cbe86c359d785). Read the task\'s log',
    ],
  },
  {
    scenario: 'how many tasks a pool needs when max limits it',
    picture: { pools: { cpu: { tasks: 'B B', max: 3 } }, pending: [{ jobs: 9, ageS: 360 }] },
    says: [
      '+ cpu  2 -> 3  9 pending jobs need a new task; needs 11 tasks, limited to 3 by max (2 busy)',
      '8 jobs of organization "default" (untagged): start unknown: it waits for builds, and finished builds do not show how long these take',
      'organization "default", tags (untagged): 9 jobs pending for too long, the oldest since 20 November 2026 08:54:00 UTC. They wait for pool "cpu"',
    ],
  },
  {
    scenario: 'daemons with a wrong key',
    picture: {
      pools: { gpu: { tasks: 'I1m', tags: gpu, daemonTags: { cluster: 'tpu' } } },
      pending: [{ tags: gpu }],
    },
    says: [
      '+ gpu  1 -> 2  1 pending job needs a new task; 1 daemon has the wrong provisioner key: waiting for its turn to be replaced (1 idle)',
      `pool "gpu": coderd shows 1 daemon with other tags than the pool's (gpu-46de701131a4b4fa4bb825ca0578018d). The provisioner key belongs to another pool, the token to another user, or a daemon of the same name has taken the row`,
    ],
  },
  {
    scenario: 'the reason of ECS for failed starts',
    picture: { pools: { cpu: { tasks: 'B' } }, pending: [{ jobs: 4 }] },
    change: ({ snapshot }) => addFailedStarts(snapshot, 'cpu', 3),
    says: [
      '+ cpu  1 -> 2  4 pending jobs need a new task; ECS lists 3 failed starts since the last success, trying one task at a time (needs 5 tasks, gets 2). Cause: ECS could not pull the image: check its name and tag, and that its registry answers (CannotPullContainerError: pull image manifest has been retried 7 time(s)) (1 busy, 3 failing)',
      '4 jobs of organization "default" (untagged): start unknown: tasks of its pool do not start as expected',
      'pool "cpu": ECS lists 3 tasks that failed to start since the last daemon registered: ECS could not pull the image',
    ],
  },
  {
    scenario: 'how many jobs are due when max limits the daemons',
    picture: { pools: { cpu: { max: 4 } }, workspaces: [{ count: 200, startsInS: 60 }] },
    says: [
      'prepares 4 daemons for 200 jobs that coderd is about to create; 200 jobs due, limited to 4 daemons by max until coderd creates the jobs',
    ],
  },
  {
    scenario: 'transitions whose tags no pool has',
    picture: { pools: { cpu: {} }, workspaces: [{ tags: { cluster: 'tpu' }, count: 3, stopsInS: -30 }] },
    says: [
      'organization "default", tags cluster=tpu: no pool can serve 3 autostops from 20 November 2026 08:59:30 UTC on. Add a pool with these tags, or change the tags of the template. coderd makes them once it sees a daemon with these tags. Retiring pools do not count',
    ],
  },
  {
    scenario: 'transitions that are overdue for too long',
    picture: { pools: { cpu: {} }, workspaces: [{ count: 3, stopsInS: -1500 }] },
    says: [
      '3 autostops from 20 November 2026 08:35:00 UTC on, overdue; pool "cpu" provides a daemon for them',
      'tags (untagged): 3 autostops from 20 November 2026 08:35:00 UTC on are overdue for more than 10 minutes. coderd makes them once it sees a daemon with these tags',
    ],
  },
  {
    scenario: 'a list of workspaces that is forbidden',
    picture: { pools: { cpu: { tasks: 'I20m' }, gpu: { tags: gpu } }, workspaces: [] },
    change: inDefault(
      (readings) =>
        void Object.assign(readings, {
          workspaces: { ...failed('listing workspaces: 403'), status: 'forbidden' },
        }),
    ),
    says: [
      'cpu  1  last daemon kept: the forecast of what coderd will do is incomplete (see findings) (1 idle)',
      'organization "default": no permission to list workspaces: listing workspaces: 403. Each pool keeps its last daemon. Pools at zero do not start for what the list would show',
    ],
  },
  {
    scenario: 'the time of a stale list',
    picture: { pools: { cpu: { tasks: 'I20m' } }, workspaces: [{ count: 3, startsInS: 200 }] },
    change: inDefault(
      ({ workspaces }) =>
        void Object.assign(workspaces ?? {}, {
          ...{ status: 'stale', error: 'listing workspaces: coderd answered 502' },
          takenAt: '2026-11-20T08:54:00Z',
        }),
    ),
    says: [
      'organization "default": the list of workspaces is stale: listing workspaces: coderd answered 502. Using the list of 20 November 2026 08:54:00 UTC',
    ],
  },
  {
    scenario: 'lists that failed for the same reason as one finding',
    picture: { pools: { cpu: {} }, workspaces: [] },
    change: inDefault((readings) => {
      const list = failed('listing workspaces: coderd answered 502');
      Object.assign(readings, { jobs: list, workspaces: list, templates: list });
    }),
    says: [
      'listing workspaces: coderd answered 502; could not read: jobs, workspaces, templates of "default". Each pool keeps its last daemon. Pools at zero do not start for what the list would show',
    ],
  },
  {
    scenario: 'a schedule as the floor',
    picture: {
      pools: { cpu: { schedules: [{ from: '08:30', to: '18:30', timezone: 'Europe/Berlin', warm: 2 }] } },
      workspaces: [],
    },
    says: ['+ cpu  0 -> 2  a schedule keeps 2 daemons, busy ones included'],
  },
])('shows $scenario', async ({ picture, change, says }) => {
  const drawn = draw(picture);
  change?.(drawn);
  const out = await plan(drawn, '--explain');
  for (const text of says) expect(out).toContain(text);
});

type Explained = Omit<Case, 'says'> & { readonly expected: string };

it.each<Explained>([
  {
    scenario: 'that idle tasks stay while a task without a lease runs',
    picture: { pools: { cpu: { tasks: 'I20m I30m U', min: 1 } } },
    expected: 'stays for now: idle for idleTimeout',
  },
  {
    scenario: 'when the pool will start',
    picture: { pools: { cpu: {} }, workspaces: [{ count: 3, startsInS: 2400 }] },
    expected:
      '-> this pool starts for it at 20 November 2026 09:38:12 UTC\n  the pool starts 107 s before an autostart is due. Stops and deletions wait up to 10 min to share a start',
  },
  {
    scenario: 'that a forecast is incomplete',
    picture: { pools: { cpu: {} }, workspaces: [] },
    change: inDefault(({ templates }) => void Object.assign(templates ?? {}, { status: 'truncated' })),
    expected: 'the forecast is incomplete: more may be due (see findings)',
  },
  {
    scenario: 'that this pool provides a daemon',
    picture: { pools: { cpu: {} }, workspaces: [{ startsInS: 60 }] },
    expected: '(untagged): 1 autostart at 20 November 2026 09:01:00 UTC -> this pool provides a daemon',
  },
  {
    scenario: 'that another pool provides a daemon',
    picture: {
      pools: { cpu: { tags: gpu, cpu: 4096 }, cheap: { tags: { ...gpu, region: 'eu' } } },
      workspaces: [{ tags: gpu, stopsInS: -120 }],
    },
    expected: 'cluster=gpu: 1 autostop at 20 November 2026 08:58:00 UTC -> pool "cheap" provides a daemon',
  },
  {
    scenario: 'how long a stop waits to share a start',
    picture: { pools: { cpu: {} }, workspaces: [{ stopsInS: -30 }] },
    expected:
      '1 autostop at 20 November 2026 08:59:30 UTC -> shares a start with others, at 20 November 2026 09:09:30 UTC at the latest',
  },
  {
    scenario: 'both pools that could start',
    picture: {
      pools: { cpu: { tags: gpu }, eu: { tags: { ...gpu, region: 'eu' } } },
      workspaces: [{ tags: gpu, startsInS: 3600 }],
    },
    expected:
      'cluster=gpu: 1 autostart at 20 November 2026 10:00:00 UTC -> this pool or "eu" starts for it at 20 November 2026 09:58:12 UTC',
  },
  {
    scenario: 'that daemons of others are available',
    picture: { pools: { cpu: {} }, strangers: [{}], workspaces: [{ startsInS: 60 }] },
    expected: '-> daemons of others are available',
  },
  {
    scenario: 'that wake is off',
    picture: {
      pools: { cpu: { wake: false } },
      workspaces: [{ startsInS: 60 }],
    },
    expected: 'wake is off: the pool starts for jobs only',
  },
  {
    scenario: 'that the snapshot has no forecast',
    picture: { pools: { cpu: {} } },
    expected: 'the snapshot has no workspaces and templates of this organization, so nothing is forecast',
  },
])('--explain shows $scenario', async ({ picture, change, expected }) => {
  const drawn = draw(picture);
  change?.(drawn);
  expect(await plan(drawn, '--explain', 'cpu')).toContain(expected);
});

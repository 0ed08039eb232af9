/** What `autoscaler plan` says in the situations that fooled other autoscalers, word for word. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { runCli } from '../../cli/program.ts';
import { type Drawn, draw } from '../support/picture.ts';
import { addFailedStarts } from '../support/planned.ts';

const folder = mkdtempSync(join(tmpdir(), 'autoscaler-plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function plan({ snapshot, config }: Drawn, ...more: readonly string[]): Promise<string> {
  writeFileSync(join(folder, 'snapshot.json'), JSON.stringify(snapshot));
  writeFileSync(join(folder, 'config.yaml'), stringify(config));
  let out = '';
  const code = await runCli(
    ['plan', '--snapshot', join(folder, 'snapshot.json'), '--config', join(folder, 'config.yaml'), ...more],
    { environment: {}, out: (text) => (out += text), err: () => {} },
  );
  expect(code).toBe(0);
  return out;
}

const gpu = { cluster: 'gpu' };
const organization = ({ snapshot }: Drawn, name: string) => {
  const found = snapshot.coder.organizations.find((item) => item.name === name);
  if (found === undefined) throw new Error(`no organization ${name}`);
  return found;
};

test('a job that two pools can run is one launch, in the cheaper pool', async () => {
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

test('a truncated list scales out and does not scale in', async () => {
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

test('daemons listed idle whose tasks are gone are no supply', async () => {
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

test('a forbidden organization does not stop a good one', async () => {
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

test('an empty 200 while tasks work holds', async () => {
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

test('max biting is said, with what was wanted', async () => {
  expect(
    await plan(draw({ pools: { cpu: { tasks: 'B B', max: 3 } }, pending: [{ jobs: 9, ageS: 360 }] })),
  ).toMatchInlineSnapshot(`
    "plan for 2026-11-20T09:00:00.000Z

      + cpu  2 -> 3  9 pending jobs need a new task; wants 11, held at its max of 3 (2 busy)

    findings:
      ! organization "default", tags (untagged): 9 jobs pending for long, the oldest since 2026-11-20T08:54:00.000Z; pool "cpu" is to run them

    1 count to raise, 0 tasks to ask to leave, 0 counts to lower
    "
  `);
});

test('a pool with a wrong key is said, and its daemons are not counted on', async () => {
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

test('shuffled input gives the identical document', async () => {
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

test('starts that fail are said with the reason of ECS', async () => {
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

test('--explain tells the story of one pool', async () => {
  const drawn = draw({
    pools: { cpu: { tasks: 'B I3m I20m L X', max: 5, min: 1 } },
    pending: [{ ageS: 20 }],
  });
  expect(await plan(drawn, '--explain', 'cpu')).toMatchInlineSnapshot(`
    "pool "cpu" of organization "default", tags (untagged), at 2026-11-20T09:00:00.000Z

    demand:
      (untagged), people: 1 job, the oldest for 20 s -> 1 by a free daemon in "cpu"

    supply:
      desired count 5, 5 tasks
      0d96691a68a201f00bbfc41bd16dc671  working    daemon idle for 3 min
      171fe780b5e5d9ac27eff9d9e1b550a5  leaving    daemon busy
      22aa29dda99b38a2838cbe86c359d785  working    daemon busy
      3e45296974e85d3a77d818aa56eb270d  left       daemon silent
      bc4812abc2c918d2c4144824b404c339  working    daemon idle for 20 min

    what it needs:
      1 in use + 1 jobs for free daemons + 0 for starting ones + 0 for new tasks = 2
      floors: 1 by min, 0 free by warm, 0 by wake, 0 free for what is due -> 1 by min
      a new task takes 90 s, mostly no more than 90 s (startTime of the configuration)
      bounds: wants 2, max 5, limits.maxTasks -> 3
      there are 3: 3 working, 0 starting, 0 unguarded; beside them 1 leaving, 1 left

    who leaves:
      bc4812abc2c918d2c4144824b404c339  is asked: idle-long-enough

    decided:
      desired count 5 -> 4
      because: 1 pending job for free daemons
      because: asking 1 idle daemon to leave
      because: 1 task has left
    "
  `);
});

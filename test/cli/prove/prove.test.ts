/** `autoscaler prove` in worlds that are as assumed, and in worlds that are not. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Row } from '../../../cli/prove/rows.ts';
import type { WrongEcs } from '../../../lab/world/ecs/protection.ts';
import { DAY_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { LabOptions } from '../../support/lab.ts';
import { type ProveLab, proveLabs } from './prove-lab.ts';

const { open, out } = proveLabs();

type Report = {
  readonly rows: readonly Row[];
  readonly stopped: string | null;
  readonly left: readonly string[];
};
const report = (): Report => JSON.parse(readFileSync(out, 'utf8'));
const rowOf = (id: string): Row | undefined => report().rows.find((row) => row.id === id);
const idsOf = (result: Row['result']): readonly string[] =>
  report().rows.flatMap((row) => (row.result === result ? [row.id] : []));

/** Whether the pool is again as the command found it, after its tasks have had time to drain. */
async function expectAsBefore(lab: ProveLab): Promise<void> {
  const service = lab.world.service('proving');
  expect(Object.keys(service.state.tags).filter((key) => key.includes(':pause'))).toEqual([]);
  await lab.live(6 * MINUTE_MS);
  expect(service.state).toMatchObject({ desiredCount: 0, older: [] });
  expect([...service.tasks]).toEqual([]);
  expect([...lab.world.coderd.openJobs()]).toEqual([]);
}

it('finds all assumptions right, and leaves the pool as it was', async () => {
  const lab = await open();
  const { code, out: text } = await lab.prove();
  expect(text).toMatchInlineSnapshot(`
    "ok            lease
      assumed     The guard of a new task protects it for 48 h, and ECS shows the protection
      measured    48.0 h left and 48.0 h left

    ok            protected-tasks-stay
      assumed     ECS stops no protected task when the desired count falls
      measured    ECS stopped 0 of 2 protected tasks within 60 s

    ok            renewal-while-blocked
      assumed     While a protected task holds a rolling deployment open, ECS renews its protection, or refuses with DEPLOYMENT_BLOCKED
      measured    in a rolling deployment: 7 × DEPLOYMENT_BLOCKED; then with a desired count of 0: 29 × DEPLOYMENT_BLOCKED. Guards drain if a deployment lasts for 40 min

    ok            end-may-be-earlier
      assumed     A drain request makes the end of a protection earlier: 23 h instead of 48 h
      measured    23.0 h left after the request

    ok            drain-request-arrives
      assumed     The guard of an idle task sees a drain request, and removes the protection within 2 min
      measured    4 s

    ok            build-outlives-request
      assumed     A build goes on through a drain request and a deployment, and ECS stops its task only afterwards
      measured    succeeded; ECS stopped its task 4 s later

    ok            choice-to-signal
      assumed     ECS chooses the task without protection, and tells it within 3 s that it is to stop
      measured    about 1 s, read each second

    ok            start
      assumed     A daemon registers within 3 min after ECS created its task
      measured    64 s (17 s network, 35 s image, 6 s container, 7 s guard and daemon) and 51 s (13 s network, 26 s image, 4 s container, 8 s guard and daemon)

    ok            image-pull
      assumed     A task pulls its image in less than a minute
      measured    35 s and 26 s

    ok            messages
      assumed     A message starts the next look, so there are more invocations than the one a minute of the schedule
      measured    3.2 invocations a minute

    ok            role-can
      assumed     The function's role can read ECS, set a count and send a drain request (IAM's policy simulation)
      measured    it can: DescribeServices, UpdateService, DescribeTasks, GetTaskProtection, UpdateTaskProtection

    ok            role-cannot-stop
      assumed     The function's role cannot stop, start or delete anything in ECS (IAM's policy simulation)
      measured    it cannot: StopTask, RunTask, ExecuteCommand, DeleteService, TagResource

    12 assumptions: 12 ok, 0 not, 0 not measured
    All changes are undone. autoscaler status shows whether its tasks have gone
    "
  `);
  expect(code).toBe(0);
  expect(lab.requests.filter((each) => /Stop|Delete|Run|DELETE/.test(each))).toEqual([]);
  await expectAsBefore(lab);
  expect(lab.world.figures()).toMatchObject({ killed: 0 });
});

const wrong =
  (what: WrongEcs) =>
  ({ world }: ProveLab): void => {
    world.ecs.wrong = what;
  };

type Wrong = {
  readonly because: string;
  readonly make?: (lab: ProveLab) => void;
  /** Called before each wait. */
  readonly onWait?: (lab: ProveLab) => void;
  readonly options?: Partial<LabOptions>;
  /** What it measures, by the rows that say not. */
  readonly not: Readonly<Record<string, string>>;
};

const WRONG: readonly Wrong[] = [
  {
    because: 'no guard gets a protection',
    make: wrong('lease'),
    not: { lease: 'no protection and no protection' },
  },
  {
    because: 'ECS ignores protection when the count falls',
    make: wrong('protection'),
    not: { 'protected-tasks-stay': 'ECS stopped 2 of 2 protected tasks' },
  },
  {
    because: 'ECS keeps the later end of a protection',
    make: wrong('end'),
    not: { 'end-may-be-earlier': '48.0 h left after the request' },
  },
  {
    because: 'no guard sees the drain request',
    make: wrong('request'),
    not: { 'drain-request-arrives': 'not within 2 min' },
  },
  {
    because: 'ECS refuses renewals with a reason that no guard knows',
    make: wrong('renewal'),
    not: {
      'renewal-while-blocked': 'in a rolling deployment: 7 × TASK_NOT_VALID; then with a desired count of 0',
    },
  },
  {
    because: 'the drain request ends the build',
    onWait: ({ world: { coderd, ecs, timeline } }) => {
      const ends = ecs.tasks().map(({ protections }) => protections.latest.expiresAt ?? Infinity);
      const [job] = coderd.openJobs();
      if (Math.min(...ends) < timeline.now() + DAY_MS && job?.canceledAt === undefined && job?.startedAt)
        coderd.cancelJob(job.id);
    },
    not: { 'build-outlives-request': 'canceled' },
  },
  {
    because: 'the signal comes 8 s after the choice',
    options: { latencies: { signal: [8_000, 8_000] } },
    not: { 'choice-to-signal': 'about 8 s, read each second' },
  },
  {
    because: 'a start takes four minutes',
    options: { latencies: { boot: [240_000, 240_000] } },
    not: { start: '247 s (72 s network, 144 s image', 'image-pull': '144 s and 144 s' },
  },
  {
    because: 'the function waits between its looks',
    make: (lab) => {
      lab.hasMessages = false;
    },
    not: { messages: 'invocations a minute' },
  },
  {
    because: 'its role may stop tasks and may not set a count',
    make: ({ world: { account } }) => {
      account.functionMay.add('ecs:StopTask');
      account.functionMay.delete('ecs:UpdateService');
    },
    not: { 'role-can': 'it cannot: UpdateService', 'role-cannot-stop': 'it can: StopTask' },
  },
];

it.each(WRONG)('says what is not as assumed if $because', async ({ make, onWait, options, not }) => {
  const lab = await open(options);
  make?.(lab);
  const { code, out: text } = await lab.prove(() => onWait?.(lab));
  expect(idsOf('not')).toEqual(Object.keys(not));
  for (const [id, measured] of Object.entries(not)) {
    expect(rowOf(id)?.measured).toContain(measured);
    expect(text).toContain(`  means       ${rowOf(id)?.means}\n`);
  }
  expect({ code, left: report().left }).toEqual({ code: 1, left: [] });
});

it('finds all assumptions right where what ECS shows lags behind', async () => {
  const lab = await open({ readLagMs: 3_000 });
  await lab.prove();
  expect(report().rows.filter(({ result }) => result !== 'ok')).toEqual([]);
});

it('says that ECS never refused a renewal', async () => {
  const lab = await open({ deploymentBlocked: 'new-only' });
  await lab.prove();
  const { measured, result } = rowOf('renewal-while-blocked') ?? {};
  expect(measured).toMatch(/: 7 × granted; .*: \d+ × granted. DEPLOYMENT_BLOCKED was not seen within/);
  expect(result).toBe('ok');
});

it('says why the role is not measured, and tries the rest', async () => {
  const lab = await open();
  lab.world.account.hidesRoles = true;
  const { code } = await lab.prove();
  expect(code).toBe(0);
  expect(idsOf('not measured')).toEqual(['role-can', 'role-cannot-stop']);
  expect(rowOf('role-can')?.measured).toMatch(/AccessDenied.*You need .*iam:Simulate/);
});

describe('undoes what it did', () => {
  it.each([0, 6, 12, 20, 36, 45])('if it is interrupted at wait %i', async (at) => {
    const lab = await open();
    const { code, err } = await lab.prove((waits) => {
      if (waits === at) lab.interrupt();
    });
    const { left, stopped } = report();
    expect({ code, left, stopped }).toEqual({ code: 1, left: [], stopped: 'it was interrupted' });
    expect(err).toContain('Run: autoscaler resume proving');
    await expectAsBefore(lab);
    expect(lab.world.figures()).toMatchObject({ killedByUs: 0 });
  });

  it('if coderd refuses the token half-way, and says what is left', async () => {
    const lab = await open();
    const { coderd } = lab.world;
    const { code } = await lab.prove(() => {
      const isRunning = [...coderd.openJobs()].some(({ status }) => status === 'running');
      if (isRunning) coderd.tokens.revoke(lab.token);
    });
    const { stopped, left } = report();
    expect({ code, stopped, left }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "left": [
          "the build of version 09eb4ab3-9e48-4340-a4d5-0f245b5d20a1 may still run. It ends by itself within 480 s (reading the template version: coderd answered 401: You are signed out or your session has expired. Please sign in again to continue. API key is invalid. CODER_SESSION_TOKEN must be of a template admin of the organization)",
        ],
        "stopped": "reading the template version: coderd answered 401: You are signed out or your session has expired. Please sign in again to continue. API key is invalid. CODER_SESSION_TOKEN must be of a template admin of the organization",
      }
    `);
  });

  it('as far as AWS lets it, with the commands for the rest', async () => {
    const lab = await open();
    lab.world.ecs.throttleNext('UntagResource', 99);
    const { code, out: text } = await lab.prove();
    expect(code).toBe(1);
    const left = text.slice(text.indexOf('Not undone')).replace(/--config \S+/, '--config FILE');
    expect(left).toMatchInlineSnapshot(`
      "Not undone:
        pool "proving" is paused until 2 March 2026 09:31:00 UTC. Run: autoscaler resume proving --config FILE (changing the tags of service arn:aws:ecs:eu-central-1:123456789012:service/Stack-Cluster-AbC123/Stack-PoolProvingService-A162629C5618: ThrottlingException: Rate exceeded)
      "
    `);
  });
});

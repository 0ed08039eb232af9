/** `autoscaler prove` in worlds that are as assumed, and in worlds that are not. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROW_IDS, type Row } from '../../../cli/prove/bench/rows.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { type ProveLab, proveLabs } from './prove-lab.ts';
import { RIGHT, WRONG } from './worlds.ts';

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
      not covered the renewals by the agent in the task, the first after 10 min; the Spot part of a pool in two parts, which was not tried

    ok            protected-tasks-stay
      assumed     ECS stops no protected task when the desired count falls, and the service tells so
      measured    ECS stopped 0 of 2 protected tasks within 60 s; its service told that it was unable to scale in
      not covered a scale-in that lasts for longer; the Spot part of a pool in two parts, which was not tried

    ok            renewal-while-blocked
      assumed     While a protected task holds a rolling deployment open, ECS renews its protection through the API, or refuses with DEPLOYMENT_BLOCKED
      measured    in a rolling deployment: 4 × DEPLOYMENT_BLOCKED; then with a desired count of 0: 51 × DEPLOYMENT_BLOCKED. Guards drain if a deployment lasts for 40 min
      not covered the renewals by the agent in the task, and deployments that last for longer

    ok            end-may-be-earlier
      assumed     A drain request makes the end of a protection earlier: 23 h instead of 48 h
      measured    answer: 23.0 h left; afterwards: 23.0 h left
      not covered requests during a deployment

    ok            drain-request-arrives
      assumed     The guard of an idle task sees a drain request, and removes the protection within 2 min
      measured    4 s; its guard logged that it was asked
      not covered the Spot part of a pool in two parts, which was not tried

    ok            build-outlives-request
      assumed     A build goes on through a drain request and a deployment, and ECS stops its task only afterwards
      measured    succeeded; the deployment was open for 530 s; ECS stopped its task 1 s after its daemon had exited
      not covered deployments and builds that last for longer

    ok            choice-to-signal
      assumed     ECS chooses the task without protection, and tells it within 3 s that it is to stop
      measured    1 s to 1 s from the choice to the line of its guard
      not covered many tasks at once, and a choice for a deployment

    ok            start
      assumed     A daemon registers within 3 min after ECS created its task
      measured    67 s (17 s network, 35 s image, 6 s container, 9 s guard and daemon) and 52 s (13 s network, 26 s image, 4 s container, 9 s guard and daemon)
      not covered many starts at once

    ok            image-pull
      assumed     A task pulls its image in less than a minute
      measured    35 s and 26 s
      not covered the limits of a registry for many pulls

    ok            messages
      assumed     A message starts the next look, so there are more invocations than the one a minute of the schedule
      measured    3.1 invocations a minute
      not covered messages that come twice or late

    ok            role-can
      assumed     The function's role can read ECS, set a count and send a drain request (IAM's policy simulation)
      measured    it can: DescribeServices, UpdateService, DescribeTasks, GetTaskProtection, UpdateTaskProtection
      not covered policies of the organization, and the tags that services really have: IAM's simulation takes given ones

    ok            role-cannot-stop
      assumed     The function's role cannot stop, start or delete anything in ECS (IAM's policy simulation)
      measured    it cannot: StopTask, RunTask, ExecuteCommand, DeleteService, TagResource
      not covered other services of AWS, and policies that somebody adds later

    12 assumptions: 12 ok, 0 not, 0 not measured
    Bound task roles (aws.bindTaskRoles) were not tried. To try them, write bindTaskRole: true in this pool, deploy, and run this again
    All changes are undone. autoscaler status shows whether its tasks have gone
    "
  `);
  expect(code).toBe(0);
  expect(lab.requests.filter((each) => /Stop|Delete|Run|DELETE/.test(each))).toEqual([]);
  await expectAsBefore(lab);
  expect(lab.world.figures()).toMatchObject({ killed: 0 });
});

/** vitest cuts a `$because` short. */
const named = <T extends { readonly because: string }>(worlds: readonly T[]) =>
  worlds.map((world) => [world.because, world] as const);

it.each(named(WRONG))('calls nothing ok that is not, if %s', async (_, world) => {
  const { make, onWait, options, rows, says = {}, uncovered = [] } = world;
  const lab = await open(options);
  make?.(lab);
  const { code, out: text } = await lab.prove(() => onWait?.(lab));
  const wanted = Object.entries(rows);
  expect(wanted.map(([id]) => [id, rowOf(id)?.result])).toEqual(wanted);
  expect(idsOf('not')).toEqual(wanted.flatMap(([id, result]) => (result === 'not' ? [id] : [])));
  for (const [id, measured] of Object.entries(says)) expect(rowOf(id)?.measured).toContain(measured);
  for (const id of idsOf('not')) expect(text).toContain(`  means       ${rowOf(id)?.means}\n`);
  for (const id of uncovered) expect(rowOf(id)?.uncovered).toContain('the renewals by the agent in the task');
  const isFound = idsOf('not').length > 0 || report().stopped !== null;
  expect(code).toBe(isFound ? 1 : wanted.length > 0 ? 3 : 0);
  expect(report().left).toEqual([]);
});

it.each(named(RIGHT))('measures each row or says why not, if %s', async (_, world) => {
  const { make, onWait, options, unmeasured = [] } = world;
  const lab = await open(options);
  make?.(lab);
  const startedAt = lab.world.timeline.now();
  const { code, out: text } = await lab.prove(() => onWait?.(lab));
  expect(idsOf('not')).toEqual([]);
  expect(idsOf('not measured').toSorted()).toEqual(unmeasured.toSorted());
  expect(text).not.toContain('Safety');
  if (unmeasured.length === 0) expect(code).toBe(0);
  else expect([1, 3]).toContain(code);
  expect(lab.world.timeline.now() - startedAt).toBeLessThan(20 * MINUTE_MS);
});

it('has a wrong world for each row, in which it is not ok', () => {
  const judged = new Set(WRONG.flatMap(({ rows }) => Object.keys(rows)));
  expect(ROW_IDS.filter((id) => !judged.has(id))).toEqual([]);
});

it('says that ECS never refused a renewal', async () => {
  const lab = await open({ deploymentBlocked: 'new-only' });
  await lab.prove();
  const { measured, result } = rowOf('renewal-while-blocked') ?? {};
  expect(measured).toMatch(/: \d+ × granted; .*: \d+ × granted. DEPLOYMENT_BLOCKED was not seen within/);
  expect(result).toBe('ok');
});

it('says why the role is not measured, and tries the rest', async () => {
  const lab = await open();
  lab.world.account.hidesRoles = true;
  expect((await lab.prove()).code).toBe(3);
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
          "the build of version 09eb4ab3-9e48-4340-a4d5-0f245b5d20a1 may still run. It ends by itself within 1200 s (reading the template version: coderd answered 401: You are signed out or your session has expired. Please sign in again to continue. API key is invalid. CODER_SESSION_TOKEN must be of a template admin of the organization)",
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
        pool "proving" is paused until 2 March 2026 09:46:00 UTC. Run: autoscaler resume proving --config FILE (changing the tags of service arn:aws:ecs:eu-central-1:123456789012:service/Stack-Cluster-AbC123/Stack-PoolProvingService-A162629C5618: ThrottlingException: Rate exceeded)
      "
    `);
  });
});

import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownFolder } from '../../../../test/support/own-folder.ts';
import { Random } from '../../../world/base/random.ts';
import type { ContainerHost } from '../../../world/ecs/parts/container.ts';
import type { EcsTask } from '../../../world/ecs/task.ts';
import { GuardProcess } from '../../../world/guarded/guard-process.ts';
import { missingForGuard } from '../../../world/guarded/guarded-tasks.ts';
import { answerProtection } from '../../../world/guarded/task-server.ts';
import { Daemon } from '../../../world/task/daemon.ts';
import { World } from '../../../world/world.ts';
import { Fixture, MINUTE, SECOND, START } from '../ecs/ecs-fixture.ts';
import { until } from './guarded-fixture.ts';

const WORLD = { start: START, seed: 1, pools: [], organizations: ['data'] };

function bootedTask(): { readonly fixture: Fixture; readonly task: EcsTask; readonly host: ContainerHost } {
  const fixture = new Fixture();
  fixture.pass(2 * MINUTE);
  const task = fixture.firstTask();
  const host = fixture.containers.get(task.identity.id)?.host;
  if (host === undefined) throw new Error('booting a task: it has no container');
  return { fixture, task, host };
}

describe.skipIf(missingForGuard().length > 0)('a container that is a process', () => {
  const folder = ownFolder();
  const written = (): readonly string[] => readFileSync(join(folder, 'log'), 'utf8').split('\n').slice(0, -1);
  let log = 0;
  beforeEach(() => {
    log = openSync(join(folder, 'log'), 'w');
  });
  const started: GuardProcess[] = [];
  afterEach(async () => {
    for (const container of started.splice(0)) {
      container.kill();
      await container.ended;
    }
    closeSync(log);
  });

  function start(script: string, file = 'sh') {
    const exits: number[] = [];
    const { host } = bootedTask();
    const container = new GuardProcess({
      host: { ...host, exit: (code) => void exits.push(code) },
      command: [file, '-c', script],
      environment: { PATH: process.env.PATH ?? '' },
      log,
      onEnd: () => {},
    });
    started.push(container);
    return { container, exits };
  }

  it("ends with its first process's exit code, and ends its other processes", async () => {
    const { container, exits } = start('sleep 1000 & echo $!; exit 7');
    await container.ended;
    expect(exits).toEqual([7]);
    expect(container.wasKilled).toBe(false);
    const [sleeper] = written();
    await until(() => !isAlive(sleeper));
  });

  it('passes SIGTERM to its first process only', async () => {
    const { container, exits } = start(
      `sh -c 'trap "echo child" TERM; echo ready; while :; do sleep 0.05; done' &
       trap 'echo first; exit 3' TERM
       while :; do sleep 0.05; done`,
    );
    await until(() => written().includes('ready'));
    container.terminate();
    await container.ended;
    expect(written()).toEqual(['ready', 'first']);
    expect(exits).toEqual([3]);
  });

  it('is killed with all its processes, and reports nothing to ECS', async () => {
    const { container, exits } = start('trap "" TERM; sleep 1000 & echo $!; wait; sleep 1000');
    await until(() => written().length === 1);
    container.terminate();
    container.kill();
    await container.ended;
    const [sleeper] = written();
    await until(() => !isAlive(sleeper));
    expect(exits).toEqual([]);
    expect(container.wasKilled).toBe(true);
  });

  it('terminates a daemon as soon as it starts if SIGTERM came earlier', async () => {
    const { fixture } = bootedTask();
    const { container } = start('sleep 1000');
    const exits: number[] = [];
    const world = { timeline: fixture.timeline, random: new Random(1), server: new World(WORLD).coderd };
    const of = {
      credential: { key: 'k' },
      name: 'gpu-1',
      version: 'v2.30.0',
      connect: [MINUTE, MINUTE],
    } as const;
    const daemon = new Daemon({
      ...world,
      ...of,
      onExit: (code) => void exits.push(code),
      onKilledJob: () => {},
    });
    container.terminateDaemon();
    container.runDaemon(daemon);
    fixture.pass(SECOND);
    expect(exits).toEqual([0]);
  });

  it('ends when its command cannot be run', async () => {
    const { container, exits } = start('', '/no/such/shell');
    await container.ended;
    expect(exits).toEqual([126]);
    container.terminate();
    container.kill();
  });
});

describe('the agent endpoint of a task', () => {
  const put = (body: unknown) => ({ method: 'PUT', body: JSON.stringify(body) });

  it.each([
    { is: 'an empty body', body: '' },
    { is: 'a body that is not JSON', body: '{' },
    { is: 'an unknown field', body: '{"ProtectionEnabled":true,"ExpiresInHours":1}' },
    { is: 'a body without ProtectionEnabled', body: '{"ExpiresInMinutes":60}' },
  ])('refuses $is', async ({ body }) => {
    const { host, task } = bootedTask();
    const { status, body: answer } = await answerProtection(host, { method: 'PUT', body });
    expect(status).toBe(400);
    expect(JSON.stringify(answer)).not.toContain('"protection"');
    expect(task.isProtected).toBe(false);
  });

  it('protects, shows and releases with the answers of the real agent', async () => {
    const { fixture, task, host } = bootedTask();
    const answered = async (request: { method: string; body: string }) => {
      const answer = answerProtection(host, request);
      fixture.pass(MINUTE);
      return answer;
    };
    const taken = await answered(put({ ProtectionEnabled: true, ExpiresInMinutes: 2880 }));
    expect(taken.status).toBe(200);
    expect(taken.body).toEqual({
      protection: {
        ExpirationDate: expect.stringMatching(/^2026-11-22T09:02:\d\dZ$/),
        ProtectionEnabled: true,
        TaskArn: task.identity.arn,
      },
    });
    expect(await answered({ method: 'GET', body: '' })).toEqual(taken);
    const released = await answered(put({ ProtectionEnabled: false }));
    expect(released.body).toEqual({
      protection: { ExpirationDate: null, ProtectionEnabled: false, TaskArn: task.identity.arn },
    });
    expect(task.isProtected).toBe(false);
  });

  it('answers a refusal with status 200 and without the word "protection"', async () => {
    const { fixture, task, host } = bootedTask();
    fixture.desire(0);
    fixture.ecs.protect(task.identity.id, 60);
    const refused = answerProtection(host, put({ ProtectionEnabled: true, ExpiresInMinutes: 2880 }));
    fixture.pass(MINUTE);
    expect(await refused).toEqual({
      status: 200,
      body: { failure: { Arn: task.identity.arn, Reason: 'DEPLOYMENT_BLOCKED', Detail: null } },
    });
  });
});

/** Whether the process runs. A zombie does not: the test does not depend on who reaps orphans. */
function isAlive(pid: string | undefined): boolean {
  try {
    process.kill(Number(pid), 0);
    return !existsSync('/proc/self/stat') || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

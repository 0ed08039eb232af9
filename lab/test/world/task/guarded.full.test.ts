import { describe, expect, it } from 'vitest';
import { daemonVariables } from '../../../../infra/constructs/pool/daemon-variables.ts';
import { missingForGuard } from '../../../world/guarded/guarded-tasks.ts';
import { MINUTE } from '../ecs/ecs-fixture.ts';
import { GuardedWorld } from './guarded-fixture.ts';

const ASK_MINUTES = 1380;

/** A guarded world whose task runs a job of `jobMs` milliseconds. */
async function worldAtWork(jobMs: number): Promise<GuardedWorld> {
  const guarded = await GuardedWorld.open();
  guarded.submit(jobMs);
  await guarded.until(() => guarded.jobs()[0] === 'running');
  return guarded;
}

describe('missingForGuard', () => {
  it('lists the tools that this machine lacks', () => {
    expect(missingForGuard('/nowhere')).toEqual([
      'a POSIX shell as "sh", for example dash',
      'curl',
      'a "date" that knows -d: GNU coreutils or busybox',
    ]);
  });
});

// each test waits for its own processes
describe.skipIf(missingForGuard().length > 0).concurrent('a task that runs the real guard.sh', () => {
  it('names its daemon, takes its lease, and leaves after its job when it gets a drain request', async () => {
    await using guarded = await worldAtWork(3 * MINUTE);
    const task = guarded.firstTask();
    expect(guarded.world.coderd.daemons().map(({ name }) => name)).toEqual([`gpu-${task.identity.id}`]);
    expect(task.isProtected).toBe(true);
    expect(task.isBusy).toBe(true);

    expect(guarded.world.ecs.protect(task.identity.id, ASK_MINUTES)).toBeUndefined();
    await guarded.until(() => guarded.states().includes('draining asked'));
    expect(guarded.jobs()).toEqual(['running']);
    guarded.pass(3 * MINUTE);
    await guarded.until(() => !task.isProtected);
    expect(guarded.jobs()).toEqual(['succeeded']);

    guarded.desire(0);
    await guarded.until(() => task.state.lastStatus === 'STOPPED');
    expect(task.state).toMatchObject({ stopCode: 'ServiceSchedulerInitiated', exitCode: 0 });
    expect(guarded.tasks.figures()).toEqual({ started: 1, exited: 1, killed: 0 });
    expect(guarded.states()).toEqual([
      'leasing started',
      'working leased',
      'draining asked',
      'left daemon-exited',
      'ended signal',
    ]);
  });

  it('passes SIGTERM on to its daemon, which finishes its job within the 120 s', async () => {
    await using guarded = await worldAtWork(MINUTE / 2);
    const task = guarded.firstTask();
    guarded.world.ecs.stopTask(task.identity.id);
    await guarded.until(() => guarded.states().includes('stopping signal'));
    guarded.pass(MINUTE / 2);
    await guarded.until(() => task.state.lastStatus === 'STOPPED');
    expect(guarded.jobs()).toEqual(['succeeded']);
    expect(task.state.exitCode).toBe(0);
    expect(guarded.world.figures().killed).toBe(0);
  });

  it('is killed with its daemon and job after 120 s', async () => {
    await using guarded = await worldAtWork(10 * MINUTE);
    const task = guarded.firstTask();
    guarded.world.ecs.stopTask(task.identity.id);
    await guarded.until(() => guarded.states().includes('stopping signal'));
    guarded.pass(2 * MINUTE);
    expect(task.state.exitCode).toBe(137);
    expect(guarded.world.figures().killed).toBe(1);
    await guarded.until(() => guarded.tasks.figures().killed === 1);
    expect(guarded.tasks.figures()).toMatchObject({ exited: 0 });
  });

  it("ends with its daemon's exit code when coderd does not know its key", async () => {
    await using guarded = await GuardedWorld.open();
    guarded.world.deleteKey('gpu');
    await guarded.until(() => guarded.task()?.state.lastStatus === 'STOPPED');
    expect(guarded.task()?.state).toMatchObject({ stopCode: 'EssentialContainerExited', exitCode: 1 });
    expect(guarded.states()).toContain('died exit-code-1');
  });

  it("gives its daemon the pool's token, organization and tags", async () => {
    const owner = '7d9bd02c-0d1c-4b0b-8d4c-0b0a7d4f6a11';
    const tags = { scope: 'user', owner, gpu: 'a "b", c' };
    const auth = { kind: 'token', secret: { secret: '' } } as const;
    const variables = daemonVariables({ auth, organization: 'data', tags });
    await using guarded = await GuardedWorld.open({ pool: { tags, credential: 'token', variables } });
    await guarded.until(() => guarded.world.coderd.daemons().length > 0);
    expect(guarded.world.coderd.daemons()).toMatchObject([{ keyName: 'user-auth', tags }]);
  });

  it('starts a given daemon, passes SIGTERM on to it, and ends when it exits', async () => {
    const calls: string[] = [];
    await using guarded = await GuardedWorld.open({
      startDaemon: ({ name, onExit }, pool) => {
        calls.push(`${pool} starts ${name}`);
        const terminate = (): void => {
          calls.push(`SIGTERM for ${name}`);
          onExit(0);
        };
        return { isBusy: false, terminate, kill: () => {} };
      },
    });
    await guarded.until(() => calls.length > 0);
    const { id } = guarded.firstTask().identity;
    guarded.world.ecs.stopTask(id);
    await guarded.until(() => guarded.task()?.state.lastStatus === 'STOPPED');
    expect(calls).toEqual(expect.arrayContaining([`gpu starts gpu-${id}`, `SIGTERM for gpu-${id}`]));
    expect(guarded.task()?.state.exitCode).toBe(0);
  });

  it('has no process left after the world is closed', async () => {
    const guarded = await worldAtWork(10 * MINUTE);
    await guarded.close();
    expect(guarded.tasks.figures()).toEqual({ started: 1, exited: 0, killed: 1 });
  });
});

import { describe, expect } from 'vitest';
import { rows } from '../support/runs.ts';
import { HOUR_MS } from './agent-endpoint.ts';
import {
  GUARD_SHELLS,
  type GuardOptions,
  guardTest,
  type RunningGuard,
  type StartGuard,
  TIME_THAT_STANDS,
} from './running-guard.ts';

async function draining(working: StartGuard, options: GuardOptions): Promise<RunningGuard> {
  const guard = await working(options);
  guard.giveJob();
  guard.agent.leaves(23 * HOUR_MS);
  await guard.trace.until('guard: draining');
  await guard.trace.until('daemon: SIGTERM');
  return guard;
}

describe.concurrent.each(GUARD_SHELLS)('a guard that leaves, under $name', ({ isMissing, ...shell }) => {
  const test = guardTest.skipIf(isMissing);

  test('waits for the job for any time, and releases the protection only after the daemon exited', async ({
    working,
  }) => {
    const guard = await draining(working, { shell });
    const { trace, agent } = guard;
    let aliveAtRelease: boolean | undefined;
    agent.onCall = (call) => {
      if (call === 'release') aliveAtRelease ??= guard.isDaemonAlive();
    };
    await trace.until('agent: look', { times: 5, from: trace.events.length });
    expect(trace.having('agent: release')).toEqual([]);
    expect(trace.having('daemon: finished')).toEqual([]);
    guard.finishJob();
    await trace.until('agent: release');
    await trace.until('daemon: finished');
    expect(aliveAtRelease).toBe(false);
    expect(agent.expiresAt).toBe(0);
    await trace.until('guard: left daemon-exited');
  });

  test('sends one SIGTERM to the daemon only, not to Terraform', async ({ working }) => {
    const guard = await working({ shell, environment: { TERRAFORM: process.execPath } });
    const { trace, agent } = guard;
    guard.giveJob();
    await trace.until('daemon: terraform: ready');
    agent.leaves(23 * HOUR_MS);
    await trace.until('daemon: SIGTERM');
    guard.signal('SIGTERM');
    await trace.until('guard: stopping');
    guard.signal('SIGINT');
    await trace.until('agent: look', { times: 2, from: trace.events.length }); // see race.test.ts
    guard.finishJob();
    await trace.until('exit 0');
    expect(trace.having('daemon: SIG')).toEqual(['daemon: SIGTERM']);
    expect(trace.having('daemon: terraform')).toEqual(['daemon: terraform: ready']);
  });

  test.for(
    rows(
      [
        { kind: 'reset' } as const,
        { kind: 'lost' } as const,
        { kind: 'answer', status: 200, body: '{}' } as const,
      ],
      1,
    ),
  )('releases again until it has read that the protection is off: $kind', async (fault, { working }) => {
    const guard = await draining(working, { shell });
    const { trace, agent } = guard;
    agent.misbehaves('release', fault);
    agent.misbehaves('look', fault);
    guard.finishJob();
    await trace.until('agent: release', { times: 3 });
    agent.behaves();
    const from = trace.events.length;
    await trace.until('agent: look', { times: 3, from });
    expect(agent.expiresAt).toBe(0);
    expect(trace.having('agent: release', from).length).toBeLessThanOrEqual(1);
  });

  test('releases the protection, waits and exits with the code of a daemon that died', async ({
    working,
  }) => {
    const guard = await working({ shell, intervalsMs: { DIED: 200 } });
    const { trace, agent } = guard;
    guard.crashDaemon(70);
    await trace.until('guard: died exit-code-70');
    await trace.until('agent: release');
    expect(trace.having('exit')).toEqual([]);
    await trace.until('all gone');
    expect(trace.having('exit')).toEqual(['exit 70']);
    expect(agent.expiresAt).toBe(0);
  });

  test('waits three minutes after a daemon that died within one', async ({ start }) => {
    const guard = await start({ shell, daemon: ['false'], prelude: TIME_THAT_STANDS });
    const { trace } = guard;
    await trace.until('agent: release');
    guard.passTime(179);
    await trace.until('agent: look', { times: 3, from: trace.events.length });
    expect(trace.having('exit')).toEqual([]);
    guard.passTime(180);
    await trace.until('exit 1');
  });

  test('waits a minute after a daemon that lived for one', async ({ working }) => {
    const guard = await working({ shell, prelude: TIME_THAT_STANDS });
    const { trace } = guard;
    guard.passTime(60);
    guard.crashDaemon(70);
    await trace.until('agent: release');
    guard.passTime(119);
    await trace.until('agent: look', { times: 3, from: trace.events.length });
    expect(trace.having('exit')).toEqual([]);
    guard.passTime(120);
    await trace.until('exit 70');
  });

  test('distinguishes a killed daemon from a signal to the guard', async ({ working }) => {
    const guard = await working({ shell, intervalsMs: { DIED: 50 } });
    process.kill(guard.daemonPid, 'SIGKILL');
    await guard.trace.until('guard: died exit-code-137');
    await guard.trace.until('exit 137');
  });

  test.for(
    rows(
      [
        { is: 'exits at once', command: 'false', code: 1, ends: 1 },
        { is: 'does not exist', command: '/opt/no-such-coder', code: 127, ends: 127 },
        { is: 'exits 0 without a request, which is a failure', command: 'true', code: 0, ends: 76 },
      ],
      2,
    ),
  )('releases the protection when its daemon $is', async ({ command, code, ends }, { start }) => {
    const { trace } = await start({ shell, daemon: [command], intervalsMs: { DIED: 50 } });
    await trace.until(`guard: died exit-code-${code}`);
    await trace.until('agent: release');
    await trace.until('all gone');
    expect(trace.having('exit')).toEqual([`exit ${ends}`]);
  });
});

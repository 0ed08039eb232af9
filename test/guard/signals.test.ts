import { spawnSync } from 'node:child_process';
import { describe, expect } from 'vitest';
import { rows } from '../support/runs.ts';
import {
  childrenOf,
  GUARD_SHELLS,
  guardTest,
  LOG_THAT_NOBODY_READS,
  type StartGuard,
} from './running-guard.ts';

const canBeProcess1 = spawnSync('unshare', ['-pf', 'true']).status === 0;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const;

describe.concurrent.each(GUARD_SHELLS)('a guard that ECS stops, under $name', ({ isMissing, ...shell }) => {
  const test = guardTest.skipIf(isMissing);

  test.for(rows(SIGNALS, 1))(
    'passes %s on as SIGTERM, and waits for the job',
    async (signal, { working }) => {
      const guard = await working({ shell });
      const { trace } = guard;
      guard.giveJob();
      guard.signal(signal);
      await trace.until('daemon: SIGTERM');
      await trace.until('guard: stopping signal');
      await trace.until('agent: look', { times: 3, from: trace.events.length });
      expect(trace.having('exit')).toEqual([]);
      guard.finishJob();
      await trace.until('all gone');
      expect(trace.having('daemon: ').slice(1)).toEqual(['daemon: SIGTERM', 'daemon: finished']);
      expect(trace.having('exit')).toEqual(['exit 0']);
      expect(trace.having('guard: ended')).toEqual(['guard: ended daemon-exited']);
    },
  );

  test('says that it stops at once, long before its next look', async ({ working }) => {
    const guard = await working({ shell, intervalsMs: { LOOK: 3_600_000 } });
    guard.giveJob();
    guard.signal('SIGTERM');
    await guard.trace.until('guard: stopping signal');
  });

  test('sends the daemon one SIGTERM, however many the guard gets', async ({ working }) => {
    const guard = await working({ shell });
    guard.giveJob();
    for (const signal of SIGNALS) guard.signal(signal);
    await guard.trace.until('guard: stopping');
    await guard.trace.until('daemon: SIGTERM');
    guard.signal('SIGTERM');
    await guard.trace.until('agent: look', { times: 3, from: guard.trace.events.length });
    guard.finishJob();
    await guard.trace.until('all gone');
    expect(guard.trace.having('daemon: SIGTERM')).toHaveLength(1);
    expect(guard.trace.having('guard: stopping')).toHaveLength(1);
    expect(guard.trace.having('exit')).toEqual(['exit 0']);
  });

  test('passes the stop on to the daemon while a call hangs', async ({ working }) => {
    const guard = await working({ shell });
    const { promise, resolve } = Promise.withResolvers<void>();
    guard.agent.misbehaves('look', { kind: 'held', until: promise });
    await guard.trace.until('agent: look', { from: guard.trace.events.length });
    guard.signal('SIGTERM');
    await guard.trace.until('exit 0');
    resolve();
    await guard.trace.until('all gone');
    expect(guard.trace.having('daemon: ').slice(1)).toEqual(['daemon: SIGTERM', 'daemon: finished']);
  });

  test('ends with its daemon after a stop when nobody reads its log and the log is full', async ({
    start,
  }) => {
    const guard = await start({ shell, prelude: LOG_THAT_NOBODY_READS });
    await guard.trace.until('daemon: started');
    await guard.trace.until('agent: look', { times: 3 });
    guard.fillLog();
    guard.signal('SIGTERM');
    await guard.trace.until('daemon: SIGTERM');
    await guard.trace.until('exit 0');
  });

  test('passes on a stop that comes while the daemon starts', async ({ start }) => {
    const guard = await start({ shell, intervalsMs: { SETTLE: 500 } });
    await guard.trace.until('daemon: started');
    guard.signal('SIGTERM');
    await guard.trace.until('all gone');
    expect(guard.trace.having('daemon: SIGTERM')).toHaveLength(1);
    expect(guard.trace.having('exit')).toEqual(['exit 0']);
    expect(guard.trace.having('guard: ended')).toEqual(['guard: ended daemon-exited']);
  });

  test.for(rows(['protect', 'look', 'metadata'] as const, 1))(
    'exits 0 without having started the daemon in the middle of the first %s',
    async (call, { start }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const guard = await start({
        shell,
        prepare: (agent) => agent.misbehaves(call, { kind: 'held', until: promise }),
      });
      await guard.trace.until(`agent: ${call}`);
      guard.signal('SIGTERM');
      resolve();
      await guard.trace.until('all gone');
      expect(guard.trace.having('exit')).toEqual(['exit 0']);
      expect(guard.trace.having('daemon:')).toEqual([]);
    },
  );

  const asProcess1 = async ({ working }: { readonly working: StartGuard }) => {
    const guard = await working({
      shell,
      under: ['unshare', '-pf', '--kill-child'],
      environment: { ORPHANS: 'yes' },
    });
    const { trace } = guard;
    await trace.until('daemon: orphan', { times: 3 });
    guard.giveJob();
    const [process1 = 0] = childrenOf(guard.process.pid);
    // the keeper, the daemon, and in bash the watcher
    const most = shell.name === 'bash' ? 3 : 2;
    while (childrenOf(process1).length > most)
      await trace.until('agent: look', { from: trace.events.length });
    process.kill(process1, 'SIGTERM');
    await trace.until('daemon: SIGTERM');
    guard.finishJob();
    await trace.until('exit 0');
  };
  if (canBeProcess1) test('reaps orphans and handles signals as process 1', asProcess1);
  else test.todo('reaps orphans and handles signals as process 1');
});

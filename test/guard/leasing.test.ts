import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { rows } from '../support/runs.ts';
import {
  answer,
  BLOCKED,
  DENIED,
  FAULTS,
  HANGS,
  HOUR_MS,
  metadata,
  OTHERS,
  TASK_ID,
} from './agent-endpoint.ts';
import { GUARD_SHELLS, guardTest, type RunningGuard, SECRET, TIME_THAT_STANDS } from './running-guard.ts';

describe.concurrent.each(GUARD_SHELLS)(
  'a guard that takes its lease, under $name',
  ({ isMissing, ...shell }) => {
    const test = guardTest.skipIf(isMissing);

    test('starts the daemon, named after pool and task, once it has read that the lease is there and the task is to run', async ({
      working,
    }) => {
      const { trace, agent, daemonPid } = await working({ shell });
      expect(trace.having('daemon: started')).toEqual([
        `daemon: started ${daemonPid} gpu-${TASK_ID} provisioner start`,
      ]);
      const started = trace.events.findIndex((event) => event.startsWith('daemon: started'));
      const before = trace.events.slice(0, started).filter((event) => event.startsWith('agent:'));
      expect(before).toEqual([
        ...['agent: metadata', 'agent: protect 2880', 'agent: look', 'agent: metadata'],
      ]);
      expect(agent.expiresAt - Date.now()).toBeGreaterThan(47 * HOUR_MS);
    });

    test('reads dates with fractions of a second', async ({ start }) => {
      const { trace } = await start({
        shell,
        prepare: (agent) => {
          agent.fractions = true;
        },
      });
      await trace.until('guard: working');
    });

    test.for(
      rows(
        [
          { is: 'no ARN', task: {} },
          { is: 'null for the ARN', task: { TaskArn: null } },
          { is: 'an ARN of the old format', task: { TaskArn: `arn:aws:ecs:eu-central-1:1:task/${TASK_ID}` } },
        ],
        1,
      ),
    )('reads answers with $is', async ({ task }, { start }) => {
      const { trace } = await start({
        shell,
        prepare: (agent) => {
          agent.task = task;
        },
      });
      await trace.until('guard: working');
    });

    test.for(rows(OTHERS, 1))('starts no daemon while the agent shows $is', async ({ fault }, { start }) => {
      const { trace, agent } = await start({
        shell,
        prepare: (it) => {
          it.misbehaves('protect', fault);
          it.misbehaves('look', fault);
        },
      });
      await trace.until('agent: look', { times: 2 });
      expect(trace.having('agent: protect 2880')).toHaveLength(2);
      expect(trace.having('daemon:')).toEqual([]);
      agent.behaves();
      await trace.until('guard: working');
      expect(trace.having('guard: leasing')).toEqual(['guard: leasing started', 'guard: leasing other-task']);
    });

    test('does not ask for a lease before it knows its task', async ({ start }) => {
      const { trace, agent } = await start({
        shell,
        prepare: (it) => it.misbehaves('metadata', { kind: 'reset' }),
      });
      await trace.until('agent: metadata', { times: 3 });
      expect(trace.having('agent: protect')).toEqual([]);
      agent.behaves();
      await trace.until('guard: working');
    });

    test('keeps little of an answer that never ends', async ({ start }) => {
      const guard = await start({
        shell,
        intervalsMs: { CALL: 2_000 },
        prepare: (agent) => {
          for (const call of ['metadata', 'protect', 'look'] as const)
            agent.misbehaves(call, { kind: 'endless' }, 1);
        },
      });
      await guard.trace.until('guard: working');
      expect(guard.trace.having('guard: leasing')).toEqual([
        'guard: leasing started',
        'guard: leasing metadata-curl-28',
        'guard: leasing curl-28',
      ]);
      expect(guard.peakMib()).toBeLessThan(32);
    });

    test('reads metadata of sixty thousand bytes', async ({ start }) => {
      const { trace } = await start({
        shell,
        prepare: (agent) => agent.misbehaves('metadata', answer(metadata({}, 60_000))),
      });
      await trace.until('guard: working');
      expect(trace.having('guard: leasing')).toEqual(['guard: leasing started']);
    });

    test('counts a lease whose answer was lost', async ({ start }) => {
      const { trace } = await start({
        shell,
        prepare: (agent) => agent.misbehaves('protect', { kind: 'lost' }),
      });
      await trace.until('guard: working');
      expect(trace.having('agent: protect')).toHaveLength(1);
    });

    test.for(rows(FAULTS, 2))(
      'starts no daemon while the agent $is at every write, and takes the lease late',
      async ({ fault, why }, { start }) => {
        const { trace, agent } = await start({
          shell,
          prepare: (it) => it.misbehaves('protect', fault),
        });
        await trace.until('agent: look', { times: 2 });
        expect(trace.having('daemon:')).toEqual([]);
        agent.behaves();
        await trace.until('guard: working');
        expect(trace.having('guard: leasing')).toEqual(['guard: leasing started', `guard: leasing ${why}`]);
      },
    );

    test.for(rows([...FAULTS, { is: 'shows a drain request', fault: undefined }], 2))(
      'starts no daemon while the agent $is at every look',
      async ({ fault }, { start }) => {
        const { trace, agent } = await start({
          shell,
          prepare: (it) => {
            if (fault) it.misbehaves('look', fault);
            it.onCall = (call) => {
              if (fault === undefined && call === 'look') it.leaves(23 * HOUR_MS);
            };
          },
        });
        const end = await trace.until('agent: look', { times: 2 });
        const round = ['agent: metadata', 'agent: protect 2880', 'agent: look'];
        const calls = trace.events.slice(0, end).filter((event) => event.startsWith('agent:'));
        expect(calls).toEqual([...round, ...round]);
        expect(trace.having('daemon:')).toEqual([]);
        agent.behaves();
        agent.onCall = () => {};
        await trace.until('guard: working');
        expect(trace.having('guard: leasing')).toEqual([
          'guard: leasing started',
          'guard: leasing lease-not-seen',
        ]);
      },
    );

    test.for(
      rows(
        [
          { is: 'breaks off', why: 'metadata-curl-52', fault: { kind: 'reset' } as const },
          { is: 'is garbage', why: 'metadata-unreadable', fault: answer('404 page not found') },
          {
            is: 'is too long',
            why: 'metadata-long-answer',
            fault: answer(metadata({}, 66_000)),
          },
          {
            is: 'has a short task id',
            why: 'metadata-unreadable',
            fault: answer(metadata({ TaskARN: 'a/012345' })),
          },
          {
            is: 'has an invalid task id',
            why: 'metadata-unreadable',
            fault: answer(metadata({ TaskARN: 'a/$(id)' })),
          },
          {
            is: 'shows that the task has to stop',
            why: 'not-to-run',
            fault: answer(metadata({ DesiredStatus: 'STOPPED' })),
          },
        ],
        2,
      ),
    )('starts no daemon while the metadata $is', async ({ fault, why }, { start }) => {
      const { trace, agent } = await start({
        shell,
        prepare: (it) => it.misbehaves('metadata', fault),
      });
      await trace.until('agent: metadata', { times: 2 });
      expect(trace.having('daemon:')).toEqual([]);
      agent.behaves();
      await trace.until('guard: working');
      expect(trace.having('guard: leasing')).toEqual(['guard: leasing started', `guard: leasing ${why}`]);
    });

    test.for(
      rows(
        [
          { is: 'agent refuses', why: 'DEPLOYMENT_BLOCKED', options: { prepare: refuse } },
          { is: 'agent is missing', why: 'curl-3', options: { environment: { ECS_AGENT_URI: undefined } } },
          {
            is: 'agent refuses connections',
            why: 'curl-7',
            options: { environment: { ECS_AGENT_URI: 'http://127.0.0.1:1' } },
          },
          { is: 'agent is slow', why: 'curl-28', options: { prepare: hang, intervalsMs: { CALL: 1_500 } } },
          {
            is: 'metadata is missing',
            why: 'metadata-curl-3',
            options: { environment: { ECS_CONTAINER_METADATA_URI_V4: undefined } },
          },
          {
            is: 'pool has no name',
            why: 'pool-not-named',
            options: { environment: { AUTOSCALER_POOL: undefined } },
          },
          {
            is: 'curl does not run',
            why: 'metadata-curl-127',
            options: { prelude: 'curl() { return 127; }\n' },
          },
        ],
        2,
      ),
    )('exits without having started the daemon when the $is', async ({ why, options }, { start }) => {
      const { trace } = await start({
        shell,
        ...options,
        intervalsMs: { LEASE_WITHIN: 150, ...('intervalsMs' in options ? options.intervalsMs : {}) },
      });
      await trace.until('all gone');
      expect(trace.having('exit')).toEqual(['exit 75']);
      expect(trace.having('daemon:')).toEqual([]);
      expect(trace.having('guard:')).toEqual([
        'guard: leasing started',
        `guard: leasing ${why}`,
        'guard: ended no-lease',
      ]);
    });

    test('exits with a code of its own, without having started the daemon, once AWS has refused the role for a while', async ({
      start,
    }) => {
      const prepare = (agent: RunningGuard['agent']): void => agent.misbehaves('protect', DENIED);
      const { trace } = await start({ shell, prepare, intervalsMs: { DENIED: 150 } });
      await trace.until('all gone');
      expect(trace.having('exit')).toEqual(['exit 79']);
      expect(trace.having('daemon:')).toEqual([]);
      expect(trace.having('agent: protect').length).toBeGreaterThan(1);
      expect(trace.having('guard:')).toEqual([
        'guard: leasing started',
        'guard: leasing AccessDeniedException',
        'guard: ended role-refused',
      ]);
    });

    test('counts from the last answer that was no refusal of the role', async ({ start }) => {
      let writes = 0;
      const guard = await start({
        shell,
        prelude: TIME_THAT_STANDS,
        prepare: ({ gate }) => gate.close(),
      });
      const { trace, agent } = guard;
      agent.onCall = (call) => {
        if (call === 'protect') agent.misbehaves('protect', writes++ % 2 === 0 ? DENIED : BLOCKED, 1);
      };
      for (let rounds = 1; rounds <= 6; rounds++) {
        await Promise.race([agent.gate.arrival(), trace.until('exit')]);
        agent.leaves(0);
        guard.passTime(40 * rounds);
        agent.gate.letThrough();
      }
      expect(trace.having('exit')).toEqual([]);
      expect(trace.having('daemon:')).toEqual([]);
    });

    test.for(rows(['curl', 'sleep', 'tr', 'date'], 1))(
      'exits at once and logs the reason if the image has no %s',
      async (tool, { start }) => {
        const { trace } = await start({ shell, prelude: `PATH=$STAND_IN\n${withoutTool(tool)}` });
        await trace.until('all gone');
        expect(trace.having('agent:')).toEqual([]);
        expect(trace.having('guard:')).toEqual(['guard: leasing started', `guard: ended no-${tool}`]);
        expect(trace.having('exit')).toEqual(['exit 78']);
      },
    );

    test("does not send its calls through a proxy, nor heed the user's settings", async ({ working }) => {
      const proxy = 'http://127.0.0.1:1';
      const folder = mkdtempSync(join(tmpdir(), 'curl-'));
      writeFileSync(join(folder, '.curlrc'), 'output = /dev/null\n');
      await working({
        shell,
        environment: {
          CURL_HOME: folder,
          http_proxy: proxy,
          HTTP_PROXY: proxy,
          all_proxy: proxy,
          ALL_PROXY: proxy,
        },
      });
      rmSync(folder, { recursive: true });
    });

    test('logs only JSON without secrets, even if answers contain one', async ({ working }) => {
      const guard = await working({
        shell,
        prepare: (agent) =>
          agent.misbehaves(
            'protect',
            answer(`{"failure":{"Reason":"${SECRET}\\"","Detail":"${SECRET}"}}`),
            1,
          ),
      });
      guard.signal('SIGTERM');
      await guard.trace.until('all gone');
      expect(guard.trace.having('noise')).toEqual([]);
      expect(guard.output).not.toContain(SECRET);
    });
  },
);

/** A prelude for an empty PATH: it defines all tools except one as functions. */
function withoutTool(tool: string): string {
  const others = ['curl', 'sleep', 'tr', 'date'].filter((name) => name !== tool);
  return others.map((name) => `${name}() { :; }\n`).join('');
}

function refuse(agent: RunningGuard['agent']): void {
  agent.misbehaves('protect', BLOCKED);
}

function hang(agent: RunningGuard['agent']): void {
  agent.misbehaves('protect', HANGS);
}

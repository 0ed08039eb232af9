/**
 * The guard's sampler (`sample_usage` in guard.sh). It has no row in the guard's table, so these
 * tests show that a guard with a sampler whose calls fail does what a guard without one does.
 */
import { describe, expect } from 'vitest';
import * as z from 'zod';
import { rows } from '../support/runs.ts';
import { type AgentEndpoint, answer, HANGS, HOUR_MS, type Misbehaviour, TASK_ID } from './agent-endpoint.ts';
import { GUARD_SHELLS, guardTest, type RunningGuard, SECRET, type StartGuard } from './running-guard.ts';

const MIB = 1024 * 1024;
/** A sample every 20 ms. A call may take longer than the whole test. */
const SAMPLING = { USAGE: 20, CALL: 600_000 };

const usageSchema = z.strictObject({
  message: z.literal('usage'),
  pool: z.string(),
  task: z.string(),
  memoryMiB: z.int(),
  peakMiB: z.int(),
  cpuPercent: z.int(),
  throttledPercent: z.int().optional(),
});

/** The events of the guard, of its daemon and of the agent come on different ways, in any order. */
function bySource(events: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Map.groupBy(events, (event) => event.split(/[: ]/, 1)[0] ?? ''));
}

/** The calls that hurt most. */
const HOSTILE: readonly { readonly is: string; readonly fault: Misbehaviour }[] = [
  { is: 'hangs', fault: HANGS },
  { is: 'breaks off', fault: { kind: 'reset' } },
  { is: 'answers 500', fault: answer('{"memory_stats":{"usage":1048576}}', 500) },
  { is: 'sends 10 MB on one line', fault: answer(`{"memory_stats":{"usage":${'1'.repeat(10 * MIB)}`) },
  { is: 'sends 10 MB of short lines', fault: answer('"usage":1,\n'.repeat(MIB)) },
];

/** Answers that have no numbers, or numbers that no container has. */
const UNREADABLE = [
  '',
  'null',
  '{}',
  '[]',
  '{"memory_stats":{},"cpu_stats":{}}',
  '{"memory_stats":{"usage":099},"cpu_stats":{"cpu_usage":{"total_usage":08}}}',
  '{"memory_stats":{"usage":-1},"cpu_stats":{"cpu_usage":{"total_usage":1.5}}}',
  `{"memory_stats":{"usage":${'9'.repeat(40)}},"cpu_stats":{"cpu_usage":{"total_usage":1}}}`,
  '{"memory_stats":{"usage":"$(id >&2)"},"cpu_stats":{"cpu_usage":{"total_usage":"`id >&2`"}}}',
  '{"memory_stats":{"usage":1048576},"precpu_stats":{"cpu_usage":{"total_usage":5}}}',
  '<html>"usage":1</html>',
];

describe.concurrent.each(GUARD_SHELLS)('the sampler of a guard, under $name', ({ isMissing, ...shell }) => {
  const test = guardTest.skipIf(isMissing);

  test('logs memory without file cache, CPU in percent of one vCPU, and throttling', async ({ working }) => {
    const { trace } = await working({ shell, intervalsMs: SAMPLING, prepare: (agent) => void serve(agent) });
    await trace.until('usage: {', { times: 2 });
    const [first, second] = linesOf(trace.having('usage: {'));
    const of = { message: 'usage', pool: 'gpu', task: TASK_ID };
    expect(first).toEqual({ ...of, memoryMiB: 120, peakMiB: 120, cpuPercent: 150, throttledPercent: 20 });
    expect(second).toEqual({ ...of, memoryMiB: 140, peakMiB: 140, cpuPercent: 150, throttledPercent: 20 });
  });

  test.for(
    rows(
      [
        { is: 'cgroup v1', file: { total_inactive_file: 60 * MIB, inactive_file: 1 }, peakMiB: 40 },
        { is: 'cgroup v2', file: { inactive_file: 60 * MIB }, peakMiB: 40 },
        { is: 'an agent that does not tell the file cache', file: {}, peakMiB: 100 },
        {
          is: 'a file cache that is larger than the usage',
          file: { inactive_file: 200 * MIB },
          peakMiB: 100,
        },
      ],
      2,
    ),
  )('reads the memory of $is', async ({ file, peakMiB }, { working }) => {
    const memory_stats = { stats: { active_file: 7, ...file }, usage: 100 * MIB };
    const { trace } = await working({ shell, intervalsMs: SAMPLING, prepare: serving({ memory_stats }) });
    await trace.until('usage: {');
    expect(linesOf(trace.having('usage: {'))[0]).toMatchObject({ peakMiB, memoryMiB: peakMiB });
  });

  test('measures CPU by its own clock when the agent does not tell the time of the machine, and leaves out throttling when there are no periods', async ({
    working,
  }) => {
    const startedAt = performance.now();
    // this container uses two CPUs
    const stats = () => {
      const total_usage = Math.round((performance.now() - startedAt + 1_000) * 2e6);
      const throttling_data = { periods: 0, throttled_periods: 0 };
      return {
        memory_stats: { usage: 100 * MIB },
        cpu_stats: { cpu_usage: { total_usage }, throttling_data },
      };
    };
    const { trace } = await working({
      shell,
      intervalsMs: { ...SAMPLING, USAGE: 400 },
      prepare: (agent) => {
        agent.stats = () => JSON.stringify(stats());
      },
    });
    await trace.until('usage: {');
    const [line] = linesOf(trace.having('usage: {'));
    expect(line?.throttledPercent).toBeUndefined();
    expect(line?.cpuPercent).toBeGreaterThan(120);
    expect(line?.cpuPercent).toBeLessThan(320);
  });

  test('logs the peak of two samples', async ({ working }) => {
    let calls = 0;
    const { trace } = await working({
      shell,
      intervalsMs: SAMPLING,
      prepare: (agent) => {
        agent.stats = () => statsOf(++calls % 2 === 1 ? 900 : 100, calls);
      },
    });
    await trace.until('usage: {');
    expect(linesOf(trace.having('usage: {'))[0]).toMatchObject({ memoryMiB: 100, peakMiB: 900 });
  });

  test('logs nothing for nine minutes in which nothing changes, then one line', async ({ working }) => {
    let calls = 0;
    const { trace } = await working({
      shell,
      intervalsMs: SAMPLING,
      prepare: (agent) => {
        agent.stats = () => {
          calls++;
          return JSON.stringify({
            memory_stats: { usage: (100 + (calls % 3)) * MIB },
            cpu_stats: { cpu_usage: { total_usage: 1_000_000 } },
          });
        };
      },
    });
    await trace.until('usage: {');
    await trace.until('usage: {', { times: 2 });
    const [first = 0, second = 0] = trace.events.flatMap((event, at) =>
      event.startsWith('usage: {') ? [at] : [],
    );
    expect(trace.having('usage: asked').length).toBeGreaterThanOrEqual(22);
    const between = trace.events.slice(first, second).filter((event) => event === 'usage: asked');
    expect(between).toHaveLength(20);
  });

  test.for(rows(UNREADABLE, 2))('ignores %s, and logs the next answer', async (body, { working }) => {
    const guard = await working({
      shell,
      intervalsMs: SAMPLING,
      prepare: (agent) => {
        serve(agent);
        agent.misbehaves('stats', answer(body), 4);
      },
    });
    await guard.trace.until('usage: {');
    expect(linesOf(guard.trace.having('usage: {'))[0]).toMatchObject({ cpuPercent: 150 });
    expect(guard.trace.having('noise')).toEqual([]);
  });

  test.for(rows(HOSTILE, 2))(
    'changes nothing in the life of its guard when the agent $is',
    async ({ fault }, { start }) => {
      const without = await life(start, { shell, environment: { AUTOSCALER_USAGE: 'off' } });
      const hostile = await life(start, {
        shell,
        prepare: (agent) => agent.misbehaves('stats', fault),
      });
      expect(without.filter((event) => event.startsWith('usage'))).toEqual([]);
      expect(hostile.filter((event) => event === 'usage: asked').length).toBeGreaterThan(0);
      expect(hostile.filter((event) => event.startsWith('usage: {'))).toEqual([]);
      expect(bySource(hostile.filter((event) => !event.startsWith('usage')))).toEqual(bySource(without));
    },
  );

  test.for(rows(HOSTILE, 2))('keeps no stop waiting when the agent $is', async ({ fault }, { working }) => {
    const guard = await working({
      shell,
      intervalsMs: SAMPLING,
      prepare: (agent) => agent.misbehaves('stats', fault),
    });
    const { trace } = guard;
    guard.giveJob();
    await trace.until('usage: asked');
    guard.signal('SIGTERM');
    await trace.until('daemon: SIGTERM');
    guard.finishJob();
    await trace.until('exit 0');
    await trace.until('all gone'); // nothing holds the log: not even the call that hangs
  });

  test('ends, and its guard goes on, when it is killed', async ({ working }) => {
    const guard = await working({
      shell,
      intervalsMs: { ...SAMPLING, LEFT: 0 },
      prelude: SAMPLER_THAT_IS_KILLED,
      prepare: (agent) => void serve(agent),
    });
    const { trace, agent } = guard;
    await trace.until('agent: look', { times: 5, from: trace.events.length });
    expect(trace.having('usage: {')).toEqual([]);
    agent.leaves(23 * HOUR_MS);
    await trace.until('exit 0');
    expect(trace.having('guard: draining')).toEqual(['guard: draining asked']);
  });

  test('says nothing when the image has no head', async ({ working }) => {
    const guard = await working({
      shell,
      intervalsMs: SAMPLING,
      prelude: 'head() { no-such-tool; }\n',
      prepare: (agent) => void serve(agent),
    });
    await guard.trace.until('usage: asked', { times: 3 });
    expect(guard.trace.having('usage: {')).toEqual([]);
    expect(guard.trace.having('noise')).toEqual([]);
  });

  test('writes lines of at most 200 bytes without secrets, for the longest name of a pool too', async ({
    working,
  }) => {
    const guard = await working({
      shell,
      intervalsMs: SAMPLING,
      environment: { AUTOSCALER_POOL: 'p'.repeat(LONGEST_POOL_NAME) },
      prepare: (agent) => {
        let calls = 0;
        agent.stats = () => statsOf(120_000, ++calls);
      },
    });
    await guard.trace.until('usage: {');
    const [line = ''] = guard.trace.having('usage: {').map((event) => event.slice('usage: '.length));
    expect(line.length).toBeLessThanOrEqual(200);
    expect(guard.output).not.toContain(SECRET);
  });
});

/** The life of a guard, look by look: lease, work, drain request, end of the job, release, exit. */
async function life(start: StartGuard, options: Parameters<StartGuard>[0]): Promise<readonly string[]> {
  const guard = await start({
    ...options,
    intervalsMs: { ...SAMPLING, LEFT: 0 },
    prepare: (agent) => {
      agent.gate.close();
      options.prepare?.(agent);
    },
  });
  await liveOn(guard, options.environment === undefined);
  await guard.trace.until('all gone');
  const { events } = guard.trace;
  const left = events.indexOf('guard: left daemon-exited');
  const isOfGuard = (event: string): boolean => /^(guard|agent|exit|usage|noise)/.test(event);
  // the keeper may look once more before it ends
  return events.filter((event, at) => isOfGuard(event) && !(at > left && event === 'agent: look'));
}

async function liveOn(guard: RunningGuard, isSampled: boolean): Promise<void> {
  const { agent, trace } = guard;
  guard.giveJob();
  await agent.gate.arrival();
  agent.gate.letThrough();
  await trace.until('daemon: started');
  if (isSampled) await trace.until('usage: asked');
  for (let looks = 0; looks < 3; looks++) {
    await agent.gate.arrival();
    agent.gate.letThrough();
  }
  await agent.gate.arrival();
  agent.leaves(23 * HOUR_MS);
  agent.gate.letThrough();
  await trace.until('daemon: SIGTERM');
  await trace.until('guard: draining');
  await agent.gate.arrival();
  guard.finishJob();
  await trace.until('daemon: finished');
  await trace.until('guard: left');
  agent.gate.open(); // the keeper ends only after its look
}

const LONGEST_POOL_NAME = 30;

/** A sampler that the kernel kills at its first sample, when it checks whether the main process runs. */
const SAMPLER_THAT_IS_KILLED = `kill() {
  [ "$peak $1 $2" != "-1 -0 $$" ] || sh -c 'command kill -KILL $PPID'
  command kill "$@"
}
`;

/** Memory grows by 10 MiB a call. 1.5 of 2 CPUs are busy, and a fifth of the periods is throttled. */
function serve(agent: AgentEndpoint): void {
  let calls = 0;
  agent.stats = () => {
    calls++;
    return statsOf(100 + 10 * calls, calls);
  };
}

function statsOf(memoryMiB: number, call: number): string {
  const cache = 50 * MIB;
  return JSON.stringify({
    read: '2026-11-23T09:00:00.123456789Z',
    cpu_stats: cpuOf(call),
    // the same names, which must not be read
    precpu_stats: cpuOf(call * 100),
    memory_stats: {
      usage: memoryMiB * MIB + cache,
      max_usage: 9_999 * MIB,
      stats: { active_file: 1, inactive_anon: 2, inactive_file: cache },
      limit: 99_999 * MIB,
    },
    name: 'provisioner',
    networks: { eth1: { rx_bytes: 5 } },
  });
}

function cpuOf(call: number) {
  const second = 1e9;
  return {
    cpu_usage: {
      total_usage: 45 * call * second,
      percpu_usage: [30 * call * second, 15 * call * second],
      usage_in_kernelmode: 7,
    },
    system_cpu_usage: 60 * call * second,
    online_cpus: 2,
    throttling_data: { periods: 100 * call, throttled_periods: 20 * call, throttled_time: 5 },
  };
}

function serving(stats: object): (agent: AgentEndpoint) => void {
  return (agent) => {
    agent.stats = () => JSON.stringify({ cpu_stats: cpuOf(1), ...stats }, undefined, 2);
  };
}

function linesOf(events: readonly string[]) {
  return events.map((event) => usageSchema.parse(JSON.parse(event.slice('usage: '.length))));
}

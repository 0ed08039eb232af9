/** The simulated sampler (simulator/task/container-usage.ts) logs what guard.sh logs. */
import { describe, expect } from 'vitest';
import { type DockerStats, UsageLog } from '../../simulator/task/container-usage.ts';
import { TASK_ID } from './agent-endpoint.ts';
import { GUARD_SHELLS, guardTest } from './running-guard.ts';

const MIB = 1024 * 1024;
const LINES = 4;

/** Twelve samples: idle, a build with a peak between them, a throttled one, and an idle end. */
const SAMPLES: readonly (DockerStats | undefined)[] = [
  undefined,
  sample(1, { memory: 80, cache: 0, cpu: 1 }),
  sample(2, { memory: 81, cache: 10, cpu: 1.1 }),
  sample(3, { memory: 82.9, cache: 10, cpu: 1.2 }),
  sample(4, { memory: 700, cache: 300, cpu: 30 }),
  sample(5, { memory: 512.5, cache: 310, cpu: 59, throttled: 77 }),
  sample(6, { memory: 510, cache: 310, cpu: 60, throttled: 80 }),
  undefined,
  sample(8, { memory: 99, cache: 900, cpu: 61, throttled: 80 }),
  sample(9, { memory: 99, cache: 900, cpu: 61.1, throttled: 80 }),
  sample(10, { memory: 99, cache: 900, cpu: 91, throttled: 380 }),
  sample(11, { memory: 400, cache: 0, cpu: 121, throttled: 680 }),
];

describe.concurrent.each(GUARD_SHELLS)(
  'the simulated sampler and guard.sh under $name',
  ({ isMissing, ...shell }) => {
    guardTest.skipIf(isMissing)('log the same lines for the same samples', async ({ working }) => {
      let call = 0;
      const { trace } = await working({
        shell,
        intervalsMs: { USAGE: 20 },
        prepare: (agent) => {
          agent.stats = () => JSON.stringify(SAMPLES[call++ % SAMPLES.length] ?? null);
        },
      });
      await trace.until('usage: asked', { times: SAMPLES.length + 1 });
      const simulated = new UsageLog({ pool: 'gpu', task: TASK_ID });
      const expected = SAMPLES.flatMap((stats) => simulated.take(stats, 0) ?? []);
      expect(expected).toHaveLength(LINES);
      const logged = trace.having('usage: {').map((event) => event.slice('usage: '.length));
      expect(logged.slice(0, expected.length)).toEqual(expected);
    });
  },
);

type Used = {
  readonly memory: number;
  readonly cache: number;
  /** Seconds of CPU. */
  readonly cpu: number;
  readonly throttled?: number;
};

function sample(at: number, { memory, cache, cpu, throttled = 0 }: Used): DockerStats {
  return {
    cpu_stats: {
      cpu_usage: { total_usage: cpu * 1e9 },
      system_cpu_usage: at * 60e9,
      online_cpus: 2,
      throttling_data: { periods: 300 * at, throttled_periods: throttled },
    },
    memory_stats: { usage: (memory + cache) * MIB, stats: { inactive_file: cache * MIB } },
  };
}

import { describe, expect, it } from 'vitest';
import { advise } from '../../../cli/sizes/advise.ts';
import { type Build, measure, type UsageLine } from '../../../cli/sizes/measure.ts';
import { memoriesFor } from '../../../lambda/config/schema/fargate-sizes.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { aPool } from '../../support/parts.ts';
import { table } from '../../support/table.ts';

const WEEK_HOURS = 168;

type Case = {
  readonly of: string;
  /** Of the configuration. */
  readonly size: readonly [cpu: number, memory: number];
  readonly builds?: number;
  readonly killed?: number;
  /** Of every build. */
  readonly peakMiB?: number;
  readonly cpu?: number;
  readonly throttled?: number;
  readonly expected: string;
};

const CASES = table<Case>`
  of                                    | size            | peakMiB | cpu | expected        | throttled | builds | killed
  builds that fit the smallest size     | ${[1024, 2048]} | 300     | 10  | smaller 256/512 |           |        |
  memory that a quarter more just fills | ${[256, 1024]}  | 409.6   | 10  | smaller 256/512 |           |        |
  memory that a quarter more exceeds    | ${[256, 1024]}  | 410     | 10  | keep            |           |        |
  memory with too little headroom       | ${[256, 512]}   | 450     | 10  | larger 256/1024 |           |        |
  memory that needs more CPU too        | ${[256, 2048]}  | 2000    | 10  | larger 512/3072 |           |        |
  more memory than any size has         | ${[16_384, 122_880]} | 110_000 | 10  | none-fits       |           |        |
  CPU that is nearly used up            | ${[1024, 2048]} | 300     | 93  | keep, CPU bound |           |        |
  CPU that is throttled                 | ${[1024, 2048]} | 300     | 20  | keep, CPU bound | 12        |        |
  CPU beyond the size, by a wrong figure | ${[256, 512]}   | 300     | 900 | keep, CPU bound |           |        |
  29 builds                             | ${[1024, 2048]} | 300     | 10  | too-few-builds  |           | 29     |
  29 builds that need more              | ${[1024, 2048]} | 1900    | 10  | larger 1024/3072 |           | 29     |
  29 builds of the right size           | ${[256, 512]}   | 400     | 10  | keep            |           | 29     |
  a build that was killed               | ${[512, 1024]}  | 300     | 10  | larger 512/2048 |           |        | 1
  killed builds that no line measured   | ${[512, 1024]}  |         |     | larger 512/2048 |           | 0      | 2
  no build                              | ${[512, 1024]}  |         |     | no-lines        |           | 0      |
`;

describe('the advice for a pool', () => {
  it.each(CASES)('with $of ($size) is: $expected', ({ size: [cpu, memory], expected, ...of }) => {
    expect(memoriesFor(cpu)).toContain(memory);
    const pool = { ...aPool(), cpu, memory };
    const { verdict, size, isCpuBound } = advise(pool, usageOf(of), WEEK_HOURS);
    const change = size === undefined ? '' : ` ${size.cpu}/${size.memory}`;
    expect(`${verdict}${change}${isCpuBound ? ', CPU bound' : ''}`).toBe(expected);
  });

  it('costs nothing for a pool without task hours', () => {
    const pool = { ...aPool(), cpu: 512, memory: 1024 };
    expect(advise(pool, usageOf({ builds: 0, killed: 1 }), WEEK_HOURS).dollarsAMonth).toBe(0);
  });
});

function usageOf({
  builds = 30,
  killed = 0,
  peakMiB,
  cpu = 0,
  throttled = 0,
}: Omit<Case, 'of' | 'size' | 'expected'>) {
  const measured =
    peakMiB === undefined
      ? undefined
      : {
          memory: { p50MiB: peakMiB, p95MiB: peakMiB, maxMiB: peakMiB },
          cpuP95Percent: cpu,
          throttledPercent: throttled,
        };
  const tasks = builds > 0 ? 1 : 0;
  return {
    builds,
    measuredBuilds: builds,
    killedBuilds: killed,
    tasks,
    measuredTasks: tasks,
    taskHours: tasks,
    measured,
  };
}

const at = (minute: number): EpochMs => (minute * MINUTE_MS) as EpochMs;
const line = (minute: number, peakMiB: number, task = 'a'): UsageLine => ({
  ...{ pool: 'gpu', task, at: at(minute), peakMiB },
  ...{ cpuPercent: peakMiB / 10, throttledPercent: undefined },
});
const build = (from: number, to: number, task = 'a'): Build => ({
  ...{ pool: 'gpu', task, startedAt: at(from), endedAt: at(to), isKilled: false },
});

describe('the measurement of a pool', () => {
  it.each([
    { is: 'within the build', lines: [line(3, 50)], expected: 1 },
    { is: 'whose minute ends after the build', lines: [line(5.5, 50)], expected: 1 },
    { is: 'whose minute begins before the build', lines: [line(2.1, 50)], expected: 1 },
    { is: 'that ends as the build begins', lines: [line(2, 50)], expected: 0 },
    { is: 'that begins as the build ends', lines: [line(6, 50)], expected: 0 },
    { is: 'of another task', lines: [line(3, 50, 'b')], expected: 0 },
  ])('counts a line $is as $expected', ({ lines, expected }) => {
    expect(measure({ lines, seen: lines, builds: [build(2, 5)] }).measuredBuilds).toBe(expected);
  });

  it('takes the peak of each build, and counts a line of two builds once', () => {
    const lines = [line(1, 100), line(2, 300), line(3, 200), line(9, 4_000)];
    const builds = [build(0, 1.5), build(1.5, 3)];
    const { measured } = measure({ lines, seen: lines, builds });
    expect(measured).toEqual({
      memory: { p50MiB: 300, p95MiB: 300, maxMiB: 300 },
      cpuP95Percent: 30,
      throttledPercent: undefined,
    });
  });

  it('counts the hours of tasks from the first line of each to its last', () => {
    const seen = [line(0, 1), line(90, 1), line(10, 1, 'b'), line(40, 1, 'b'), line(7, 1, 'c')];
    expect(measure({ lines: [], seen, builds: [] })).toMatchObject({
      tasks: 3,
      taskHours: 121 / 60,
      measuredTasks: 0,
    });
  });
});

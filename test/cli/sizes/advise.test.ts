import { describe, expect, it } from 'vitest';
import { advise } from '../../../cli/sizes/advise.ts';
import { type Build, measure, type UsageLine } from '../../../cli/sizes/measure.ts';
import { memoriesFor } from '../../../lambda/config/schema/fargate-sizes.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { aPool } from '../../support/parts.ts';

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

const CASES: readonly Case[] = [
  {
    of: 'builds that fit the smallest size',
    size: [1024, 2048],
    peakMiB: 300,
    cpu: 10,
    expected: 'smaller 256/512',
  },
  {
    of: 'memory that a quarter more just fills',
    size: [256, 1024],
    peakMiB: 409.6,
    cpu: 10,
    expected: 'smaller 256/512',
  },
  { of: 'memory that a quarter more exceeds', size: [256, 1024], peakMiB: 410, cpu: 10, expected: 'keep' },
  {
    of: 'memory with too little headroom',
    size: [256, 512],
    peakMiB: 450,
    cpu: 10,
    expected: 'larger 256/1024',
  },
  {
    of: 'memory that needs more CPU too',
    size: [256, 2048],
    peakMiB: 2000,
    cpu: 10,
    expected: 'larger 512/3072',
  },
  {
    of: 'more memory than any size has',
    size: [16_384, 122_880],
    peakMiB: 110_000,
    cpu: 10,
    expected: 'none-fits',
  },
  {
    of: 'CPU that is nearly used up',
    size: [1024, 2048],
    peakMiB: 300,
    cpu: 93,
    expected: 'keep, CPU bound',
  },
  {
    of: 'CPU that is throttled',
    size: [1024, 2048],
    peakMiB: 300,
    cpu: 20,
    throttled: 12,
    expected: 'keep, CPU bound',
  },
  {
    of: 'CPU beyond the size, by a wrong figure',
    size: [256, 512],
    peakMiB: 300,
    cpu: 900,
    expected: 'keep, CPU bound',
  },
  { of: '29 builds', size: [1024, 2048], builds: 29, peakMiB: 300, cpu: 10, expected: 'too-few-builds' },
  {
    of: '29 builds that need more',
    size: [1024, 2048],
    builds: 29,
    peakMiB: 1900,
    cpu: 10,
    expected: 'larger 1024/3072',
  },
  {
    of: '29 builds of the right size',
    size: [256, 512],
    builds: 29,
    peakMiB: 400,
    cpu: 10,
    expected: 'keep',
  },
  {
    of: 'a build that was killed',
    size: [512, 1024],
    killed: 1,
    peakMiB: 300,
    cpu: 10,
    expected: 'larger 512/2048',
  },
  {
    of: 'killed builds that no line measured',
    size: [512, 1024],
    builds: 0,
    killed: 2,
    expected: 'larger 512/2048',
  },
  { of: 'no build', size: [512, 1024], builds: 0, expected: 'no-lines' },
];

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

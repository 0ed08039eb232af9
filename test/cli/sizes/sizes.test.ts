/** `autoscaler sizes` in worlds whose tasks have a known need of memory and CPU. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import type { Sizes } from '../../../cli/sizes/report.ts';
import type { BuildUsage } from '../../../simulator/task/container-usage.ts';
import { type Answer, runIn } from '../../support/cli-run.ts';
import { type Lab, type LabPool, labConfig } from '../../support/lab.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { ownLabs } from '../../support/own-labs.ts';

const folder = ownFolder();
const file = join(folder, 'autoscaler.yaml');
const startOwnLab = ownLabs();

/** 1 vCPU and 2 GB, the default. */
const CPU: LabPool = { organization: 'default', name: 'cpu', tags: {}, desiredCount: 2, min: 2 };
const GPU: LabPool = { ...CPU, name: 'gpu', tags: { cluster: 'gpu' } };

/** A third of the builds is light, and `most` MiB is the most that one needs. */
function needing(most: number, cpuPercent = 30): BuildUsage {
  const peaks = [most / 2, (most * 3) / 4, most];
  let builds = 0;
  const known = new Map<string, number>();
  const peakMiB = (job: string): number => {
    const peak = known.get(job) ?? peaks[builds++ % peaks.length] ?? most;
    known.set(job, peak);
    return peak;
  };
  return { idleMiB: 60, peakMiB, cpuPercent, cacheMiB: 150 };
}

async function open(pools: readonly LabPool[], usages: Readonly<Record<string, BuildUsage>>): Promise<Lab> {
  const lab = await startOwnLab({ pools, usage: (pool) => usages[pool] });
  writeFileSync(file, stringify(labConfig(lab.coderdUrl, pools)));
  return lab;
}

/** One build after another on each of the pool's two tasks. */
function build(lab: Lab, builds: number, { tags }: LabPool, minutes = 4): void {
  for (let left = builds; left > 0; left -= 2) {
    for (let job = 0; job < Math.min(2, left); job++)
      lab.world.coderd.submitJob({
        organization: 'default',
        tags,
        durationMs: minutes * 60_000,
        type: 'template_version_import',
      });
    lab.pass((minutes + 1) * 60);
  }
}

const call = (lab: Lab, ...args: readonly string[]): Promise<Answer> =>
  runIn(
    {
      environment: { AUTOSCALER_CLUSTER: lab.world.ecs.clusterName },
      now: () => lab.world.timeline.now(),
      pollMs: 0,
    },
    ...args,
    ...(args.includes('--config') ? [] : ['--config', file]),
  );

async function sizes(lab: Lab): Promise<Sizes> {
  const { code, out, err } = await call(lab, 'sizes', '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as Sizes;
}

async function adviceOn(pool: string, lab: Lab) {
  return (await sizes(lab)).pools.find((row) => row.pool === pool);
}

describe('autoscaler sizes', () => {
  it('advises the smallest size that holds the known need with a quarter more', async () => {
    const lab = await open([CPU], { cpu: needing(780) });
    build(lab, 40, CPU);
    const row = await adviceOn('cpu', lab);
    expect(row).toMatchObject({
      builds: 40,
      measuredBuilds: 40,
      killedBuilds: 0,
      tasks: 2,
      measured: { memory: { p50MiB: 585, maxMiB: 780 }, throttledPercent: 0 },
      // 780 MiB and a quarter are 975 MiB; 30 % of a vCPU and a quarter are 384 units
      advice: { verdict: 'smaller', size: { cpu: 512, memory: 1024 }, isCpuBound: false },
    });
    expect(row?.measured?.cpuP95Percent).toBeGreaterThanOrEqual(29);
    expect(row?.measured?.cpuP95Percent).toBeLessThanOrEqual(31);
    // two tasks for 100 minutes, which say nothing about a month
    expect(row?.taskHours).toBeGreaterThan(3);
    expect(row?.taskHours).toBeLessThan(3.5);
    expect(row?.advice.dollarsAMonth).toBeUndefined();
  });

  it('advises a larger size when the highest memory leaves less than a quarter', async () => {
    const lab = await open([CPU], { cpu: needing(1_800) });
    build(lab, 6, CPU);
    expect(await adviceOn('cpu', lab)).toMatchObject({
      measuredBuilds: 6,
      // 30 % of a vCPU, but six builds are too few to advise less CPU
      advice: { verdict: 'larger', size: { cpu: 1024, memory: 3072 } },
    });
  });

  it('advises more memory when processes were killed, whatever the samples show', async () => {
    const lab = await open([CPU], { cpu: needing(2_600) });
    build(lab, 6, CPU);
    const row = await adviceOn('cpu', lab);
    expect(row).toMatchObject({ builds: 6, killedBuilds: 2, advice: { verdict: 'larger' } });
    expect(row?.advice.size?.memory).toBeGreaterThan(2_048);
    const { out } = await call(lab, 'sizes');
    expect(out).toContain(
      'cpu: 2 builds had a process killed, most likely because 1 vCPU 2 GB is too little memory.',
    );
  });

  it('advises no smaller size on fewer than 30 measured builds, and says how many it needs', async () => {
    const lab = await open([CPU], { cpu: needing(400) });
    build(lab, 10, CPU);
    const row = await adviceOn('cpu', lab);
    expect(row?.advice).toEqual({ verdict: 'too-few-builds', isCpuBound: false });
    const { out } = await call(lab, 'sizes');
    expect(out).toContain('10 measured builds, but advice to use one needs 30.');
  });

  it('keeps the CPU of builds that use all of it', async () => {
    const lab = await open([CPU], { cpu: needing(400, 180) });
    build(lab, 32, CPU);
    expect((await adviceOn('cpu', lab))?.advice).toMatchObject({ verdict: 'keep', isCpuBound: true });
    expect((await call(lab, 'sizes')).out).toContain('less CPU is not advised');
  });

  it('says why there is nothing to say about a pool', async () => {
    const bare: LabPool = { ...GPU, image: 'bare', scaleIn: 'confirm' };
    const lab = await open([CPU, bare], {});
    lab.pass(300);
    const { out, code } = await call(lab, 'sizes');
    expect(code).toBe(0);
    expect(out).toContain(
      'cpu: its tasks logged nothing about their usage. Either none ran, or they have an older guard',
    );
    expect(out).toContain('gpu: its tasks logged nothing about their usage. Only guards log it');
  });

  it('says so when tasks ran without builds', async () => {
    const lab = await open([CPU], { cpu: needing(400) });
    lab.pass(900);
    expect((await adviceOn('cpu', lab))?.advice.verdict).toBe('no-builds');
  });

  it('reads the lines of other programs, and malformed ones, as none', async () => {
    const lab = await open([CPU], { cpu: needing(780) });
    const put = (line: unknown) => lab.world.logs.put('Stack-PoolCpuLogs', JSON.stringify(line));
    put({ message: 'usage', pool: 'cpu', task: 'abcdef0', peakMiB: 'lots', cpuPercent: 1 });
    put({ message: 'usage', pool: 'cpu', task: 'abcdef0', peakMiB: -5, cpuPercent: 1 });
    put({ message: 'usage' });
    put('usage');
    lab.pass(30);
    expect(await adviceOn('cpu', lab)).toMatchObject({ tasks: 0, advice: { verdict: 'no-lines' } });
  });

  it('gives a figure of a month once tasks were measured for two days', async () => {
    const lab = await open([CPU], { cpu: needing(780) });
    build(lab, 32, CPU);
    lab.pass(2 * 86_400);
    const { from, to, pools } = await sizes(lab);
    const [row] = pools;
    expect((await call(lab, 'sizes')).out).toContain('of these days, so they have no range.\n');
    const hours = (Date.parse(to) - Date.parse(from)) / 3_600_000;
    expect(hours).toBeGreaterThan(48);
    const saving = ((0.5 * 0.03238 + 1 * 0.00356) * (row?.taskHours ?? 0) * 730) / hours;
    expect(row?.advice.dollarsAMonth).toBeCloseTo(-saving, 5);
  });

  it('shows a screen', async () => {
    const lab = await open([CPU, GPU], { cpu: needing(780), gpu: needing(2_600) });
    build(lab, 34, CPU);
    build(lab, 4, GPU);
    const { code, out, err } = await call(lab, 'sizes', '--days', '30');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatchInlineSnapshot(`
      "what tasks used from 2 March 2026 09:01:32 UTC to 2 March 2026 10:35:00 UTC

      pool  builds  tasks  task h  MiB p50   p95   max  CPU p95  throttled  size         would hold
      cpu       34      2     3.1      585   780   780     30 %        0 %  1 vCPU 2 GB  0.5 vCPU 1 GB
      gpu        4      2     3.0     1300  2025  2025     30 %        0 %  1 vCPU 2 GB  1 vCPU 3 GB

        cpu: set cpu: 512 and memory: 1024, and deploy.
        gpu: 1 build had a process killed, most likely because 1 vCPU 2 GB is too little memory. If you have raised it since, use fewer --days.
        gpu: set cpu: 1024 and memory: 3072, and deploy.

      Only 93 min were measured: figures of a month need two days.
      A size holds the highest memory of all builds and 25 % more. CPU is in percent of one vCPU.
      Peaks shorter than 30 s are missed. Nothing was changed.
      "
    `);
  });

  it.each(['0', '91', '-1', 'seven', '1.5', ''])('refuses --days %s', async (days) => {
    const { code, err } = await runIn({}, 'sizes', `--days=${days}`);
    expect(code).toBe(2);
    expect(err).toContain('Write a whole number from 1 to 90.');
  });

  it('says what to ask for when it may not read task definitions', async () => {
    const lab = await open([CPU], { cpu: needing(780) });
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAAUTOSCALER');
    const { code, err, out } = await call(lab, 'sizes');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^finding the log group of arn:.*; ask for ecs:DescribeTaskDefinition$/m);
  });
});

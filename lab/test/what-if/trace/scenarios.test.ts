import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadDeployment } from '../../../../lambda/config/load.ts';
import { canRun } from '../../../../lambda/decision/model/tags.ts';
import { SCENARIOS } from '../../../what-if/scenarios/index.ts';
import { generateTrace } from '../../../what-if/trace/generate/generate.ts';
import { JOB_KINDS, type Trace } from '../../../what-if/trace/trace.ts';

const inRoot = (file: string): string => fileURLToPath(new URL(`../../../../${file}`, import.meta.url));
const traceOf = (name: string): Trace => {
  const trace = traces.get(name);
  if (trace === undefined) throw new Error(`there is no scenario ${name}`);
  return trace;
};
const traces = new Map(
  SCENARIOS.map((scenario) => [scenario.name, generateTrace(scenario, { seed: 1, days: 7 })]),
);

/** Builds in the week. */
const VOLUMES: readonly { readonly name: string; readonly from: number; readonly to: number }[] = [
  { name: 'small-team', from: 180, to: 300 },
  { name: '1k-users', from: 7_500, to: 9_500 },
  { name: '3k-users', from: 23_500, to: 27_500 },
  { name: '10k-users', from: 78_000, to: 95_000 },
  { name: 'gpu-pools', from: 3_200, to: 4_400 },
  { name: 'prebuild-heavy', from: 10_000, to: 14_000 },
  { name: 'bursts', from: 350, to: 900 },
  { name: 'agents', from: 10_000, to: 18_000 },
];

it('each of the eight scenarios has an expected volume', () => {
  expect(SCENARIOS.map(({ name }) => name)).toEqual(VOLUMES.map(({ name }) => name));
});

it.each(VOLUMES)('a week of $name has $from to $to builds', ({ name, from, to }) => {
  const { length } = traceOf(name).jobs;
  expect(length).toBeGreaterThan(from);
  expect(length).toBeLessThan(to);
});

describe.each(SCENARIOS)('$name', ({ name, config: file, templates, groups, bursts = [] }) => {
  const { config, warnings } = loadDeployment(inRoot(file));

  it('has a valid configuration without warnings', () => {
    expect(warnings).toEqual([]);
  });

  it('has a pool for each of its jobs', () => {
    const unserved = traceOf(name).jobs.filter(
      ({ organization, tags }) =>
        !config.pools.some((pool) => pool.organization === organization && canRun(pool.tags, tags)),
    );
    expect(unserved).toEqual([]);
  });

  it('has jobs for each pool', () => {
    const idle = config.pools.filter(
      (pool) =>
        !traceOf(name).jobs.some(
          ({ organization, tags }) => pool.organization === organization && canRun(pool.tags, tags),
        ),
    );
    expect(idle).toEqual([]);
  });

  it('uses each of its templates', () => {
    const used = new Set([
      ...groups.flatMap((group) => Object.keys(group.templates)),
      ...bursts.map(({ template }) => template),
    ]);
    expect([...used].sort()).toEqual(templates.map((template) => template.name).sort());
  });

  it('has a row in docs/backtest.md', () => {
    expect(readFileSync(inRoot('docs/backtest.md'), 'utf8')).toContain(`| \`${name}\` |`);
  });
});

it('every configuration in lab/what-if/scenarios belongs to a scenario', () => {
  const files = readdirSync(inRoot('lab/what-if/scenarios')).filter((file) => file.endsWith('.yaml'));
  const used = SCENARIOS.map(({ config }) => config).filter((file) => file.startsWith('lab/what-if/'));
  expect(files.map((file) => `lab/what-if/scenarios/${file}`).sort()).toEqual(used.sort());
});

/** The most jobs of a minute. */
function busiestMinute({ jobs }: Trace, kind: string): number {
  const counts = new Map<number, number>();
  for (const job of jobs.filter((it) => it.kind === kind)) {
    const minute = Math.floor(job.at / 60_000);
    counts.set(minute, (counts.get(minute) ?? 0) + 1);
  }
  return Math.max(...counts.values());
}

describe('the description of a scenario', () => {
  it('is right that 1k-users has more autostarts in one minute than daemons', () => {
    expect(busiestMinute(traceOf('1k-users'), 'autostart')).toBeGreaterThan(60);
  });

  it('is right that 3k-users has jobs of every kind', () => {
    expect(new Set(traceOf('3k-users').jobs.map(({ kind }) => kind))).toEqual(new Set(JOB_KINDS));
  });

  it('is right that small-team begins with a holiday on which schedules start workspaces', () => {
    const { jobs, from } = traceOf('small-team');
    const first = jobs.filter(({ at }) => at < from + 86_400_000);
    expect(first.filter(({ kind }) => kind === 'autostart').length).toBeGreaterThan(
      first.filter(({ kind }) => kind === 'user').length,
    );
  });

  it('is right that gpu-pools has jobs that two pools can run, in two organizations', () => {
    const { config } = loadDeployment(inRoot('lab/what-if/scenarios/gpu-pools.yaml'));
    const { jobs } = traceOf('gpu-pools');
    expect(new Set(jobs.map(({ organization }) => organization)).size).toBe(2);
    const shared = jobs.filter(
      (job) =>
        config.pools.filter((pool) => pool.organization === job.organization && canRun(pool.tags, job.tags))
          .length > 1,
    );
    expect(shared.length / jobs.length).toBeGreaterThan(0.15);
  });

  it('is right that bursts has 5 to 25 builds within two minutes, and almost none in between', () => {
    const starts = traceOf('bursts').jobs.filter(({ kind }) => kind === 'user');
    const first = starts.filter(({ at }, index) => at - (starts[index - 1]?.at ?? 0) > 120_000);
    expect(first.length / 7).toBeGreaterThan(3);
    expect(first.length / 7).toBeLessThan(10);
    expect(starts.length / first.length).toBeGreaterThanOrEqual(5);
  });

  it('is right that agents has hours with ten times as many builds as others, at night too', () => {
    const { jobs, from } = traceOf('agents');
    const hours = Map.groupBy(jobs, ({ at }) => Math.floor((at - from) / 3_600_000));
    const counts = Array.from({ length: 7 * 24 }, (_, hour) => hours.get(hour)?.length ?? 0);
    const sorted = counts.toSorted((a, b) => a - b);
    expect(sorted.at(-10) ?? 0).toBeGreaterThan(10 * (sorted[9] ?? 0));
  });

  it('is right that prebuild-heavy deletes and builds 60 workspaces in one minute', () => {
    expect(busiestMinute(traceOf('prebuild-heavy'), 'prebuild')).toBeGreaterThanOrEqual(120);
  });
});

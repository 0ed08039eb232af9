/**
 * Tests of the example files for the sizes of Coder's validated architecture.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SIZES } from '../../cli/sizes-page.ts';
import { loadConfig, loadDeployment } from '../../lambda/config/load.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';

const inRoot = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

it('lists every configuration of examples/ among the sizes', () => {
  const files = readdirSync(inRoot('examples'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `examples/${name}`);
  expect(files.sort()).toEqual(SIZES.map(({ file }) => file).sort());
});

/** docs/internals/coder.md §7: as many provisioners as builds at once. */
it.each([
  { users: '1,000', builds: 60 },
  { users: '2,000', builds: 120 },
  { users: '3,000', builds: 180 },
  { users: '10,000', builds: 600 },
])('plans $builds concurrent builds for $users users', ({ users, builds }) => {
  expect(SIZES.find((size) => size.users === users)).toMatchObject({ builds });
});

describe.each(SIZES)('$file', ({ file, users, builds, database }) => {
  const { config, warnings } = loadDeployment(inRoot(file));
  const text = readFileSync(inRoot(file), 'utf8');

  it('is valid and has no warnings', () => {
    expect(warnings).toEqual([]);
  });

  it('limits all pools together to the builds that coderd and the database are sized for', () => {
    expect(config.limits.maxTasks).toBe(builds);
    const max = config.pools.reduce((sum, pool) => sum + pool.max, 0);
    expect(max).toBeGreaterThanOrEqual(builds);
  });

  it('gives the largest pool 1 vCPU and the smallest memory that Fargate offers for it', () => {
    expect(config.pools[0]).toMatchObject({ cpu: 1024, memory: 2048, tags: {} });
  });

  it('keeps free daemons by the price of waiting and wakes pools for transitions', () => {
    for (const pool of config.pools)
      expect(pool).toMatchObject({
        min: 'auto',
        warm: 'auto',
        waiting: { person: 0.1 },
        schedules: [],
        wake: true,
      });
  });

  it('says how many tasks prebuilds may launch in the pool that is reserved for them', () => {
    const own = config.pools.filter(({ tags }) => tags.is_prebuild !== undefined);
    for (const { max } of own) expect(text).toContain(`launch up to 4/5 of it, ${Math.floor(max * 0.8)}`);
  });

  it('states its size and the needs of coderd, database and quotas at the top', () => {
    expect(text).toContain(`# Up to ${users} users`);
    expect(text).toContain('CODER_PROVISIONER_DAEMONS=0');
    expect(text).toContain(`#   database  ${database.replace(', ', ' and ')}`);
    expect(text).toContain(`vCPUs (L-3032A538) of ${mostVcpus(config)} or more`);
  });
});

/** With the largest tasks first. */
function mostVcpus({ pools, limits }: Deployment): number {
  const tasks = pools.flatMap(({ cpu, max }) => Array.from({ length: max }, () => cpu / 1024));
  const largest = tasks.sort((a, b) => b - a).slice(0, limits.maxTasks);
  return largest.reduce((sum, vcpus) => sum + vcpus, 0);
}

const example = fileURLToPath(new URL('../../autoscaler.example.yaml', import.meta.url));

it('accepts the example without warnings', () => {
  const { config, warnings, caBundle } = loadConfig(example);
  expect(warnings).toEqual([]);
  expect(caBundle).toBeUndefined();
  expect(
    config.pools.map(({ name, organization, cpu, architecture }) => [name, organization, cpu, architecture]),
  ).toEqual([
    ['default', 'default', 1024, 'arm64'],
    ['large', 'default', 4096, 'arm64'],
    ['data', 'data', 1024, 'x86_64'],
  ]);
});

it('grants nothing to Terraform in the example, so that deploying it is safe', () => {
  for (const { taskRole } of loadConfig(example).config.pools)
    expect(taskRole).toEqual({ kind: 'own', policies: [] });
});

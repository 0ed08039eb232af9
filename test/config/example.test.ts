import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { loadConfig } from '../../lambda/config/load.ts';

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

it('grants no wildcard action and no wildcard resource in the example, so that deploying it is safe', () => {
  const roles = loadConfig(example).config.pools.map(({ taskRole }) => taskRole);
  const statements = roles.flatMap((role) => (role.kind === 'own' ? role.statements : []));
  expect(roles.every((role) => role.kind === 'own' && role.policies.length === 0)).toBe(true);
  expect(statements.length).toBeGreaterThan(0);
  for (const { actions, resources } of statements) {
    expect(actions.join()).not.toContain('*');
    expect(resources).not.toContain('*');
  }
});

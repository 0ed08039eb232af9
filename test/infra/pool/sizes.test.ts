/**
 * `validate` refuses settings that are too large for ECS or CloudFormation, and accepts those that
 * fit.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Settings } from '../../../infra/constructs/settings.ts';
import { synthesizePlain } from '../../../infra/plain/write-template.ts';
import { loadDeployment } from '../../../lambda/config/load.ts';
import { draftConfig } from '../../../lambda/config/rules/drafts.ts';
import { resourcesOf, templateBytes } from '../../../lambda/config/rules/size-rules.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { pem } from '../support/certificate.ts';
import {
  cpu,
  deployment,
  EVERYTHING,
  EXISTING,
  FIFTY_POOLS,
  MANAGED_KEYS,
  MINIMAL,
  type PoolSettings,
  synthesize,
} from '../support/synthesized.ts';

const folder = ownFolder();

/** The result of `autoscaler validate` for these settings and a CA bundle of this many bytes. */
function judge({ coder, ...rest }: Settings, caBytes: number): string {
  const file = join(folder, 'autoscaler.yaml');
  writeFileSync(join(folder, 'ca.pem'), pem.repeat(Math.ceil(caBytes / pem.length)));
  writeFileSync(file, stringify({ coder: { ...coder, caBundle: 'ca.pem' }, ...rest }));
  try {
    loadDeployment(file);
    return 'valid';
  } catch (error) {
    return String(error);
  }
}

function variables(count: number, length: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`VARIABLE_${i}`, 'x'.repeat(length)]));
}

function pools(count: number, given: Partial<PoolSettings> = {}): PoolSettings[] {
  return Array.from({ length: count }, (_, i) => ({ ...cpu, ...given, name: `p${i}`, tags: { n: `${i}` } }));
}

describe('the sizes of a deployment', () => {
  it.each<{ scenario: string; settings: Settings; caBytes: number; expected: RegExp }>([
    { scenario: 'one usual pool', settings: deployment([cpu]), caBytes: 4_000, expected: /^valid$/ },
    { scenario: '50 usual pools', settings: FIFTY_POOLS, caBytes: 4_000, expected: /^valid$/ },
    {
      scenario: 'a CA bundle of 40 KB',
      settings: deployment([cpu]),
      caBytes: 40_000,
      expected: /^valid$/,
    },
    {
      scenario: 'a CA bundle of 220 KB',
      settings: deployment([cpu]),
      caBytes: 220_000,
      expected: /coder\.caBundle: the CA bundle has \d+ KiB, but a task definition \(at most 64 KiB\) leaves/,
    },
    {
      scenario: 'an environment that leaves no room for the bundle',
      settings: deployment([{ ...cpu, environment: variables(100, 200) }]),
      caBytes: 30_000,
      expected: /pools\[0\]\.environment: the pool's task definition would have about \d+ KiB/,
    },
    {
      scenario: '50 pools with 30 KB of environment each',
      settings: deployment(pools(50, { environment: variables(100, 270) })),
      caBytes: 1_000,
      expected:
        /pools: the template of 50 pools would have about \d+ KiB, but CloudFormation accepts at most 1 MB/,
    },
    {
      scenario: '10 pools with 30 KB of environment each',
      settings: deployment(pools(10, { environment: variables(100, 270) })),
      caBytes: 1_000,
      expected: /^valid$/,
    },
  ])('of $scenario give $expected', ({ settings, caBytes, expected }) => {
    expect(judge(settings, caBytes)).toMatch(expected);
  });

  it.each([
    { scenario: 'everything on', settings: EVERYTHING },
    { scenario: '50 pools', settings: FIFTY_POOLS },
    {
      scenario: 'many secrets and tags',
      settings: deployment(
        pools(3, {
          secrets: Object.fromEntries(Object.keys(variables(40, 0)).map((name) => [name, { secret: name }])),
        }),
        { tags: variables(35, 100), metrics: { perPool: true } },
      ),
    },
  ])('are estimated a little too high for $scenario', ({ settings }) => {
    const bytes = Buffer.byteLength(JSON.stringify(synthesize(settings).toJSON()));
    const estimate = templateBytes(draftConfig(settings), undefined);
    expect(estimate).toBeGreaterThan(bytes);
    expect(estimate).toBeLessThan(1.8 * bytes);
  });
});

/** Pools with managed keys. */
function managed(count: number, aws: Settings['aws'] = {}, given: Partial<PoolSettings> = {}): Settings {
  const its = Array.from({ length: count }, (_, i) => ({
    name: `p${i}`,
    organization: 'default',
    tags: { n: `${i}` },
  }));
  return {
    ...deployment(
      its.map((pool) => ({ ...pool, key: 'managed' as const, ...given })),
      aws,
    ),
    managedKeys: { token: { secret: 'coder/key-manager-token' } },
  };
}

const ROLE = { taskRole: { arn: 'arn:aws:iam::123456789012:role/x' } };
const BOTH_PARTS = { capacity: ['spot', 'on-demand'] } as const satisfies Partial<PoolSettings>;

describe('the resources of a template', () => {
  const count = (template: unknown) => Object.keys((template as { Resources: object }).Resources).length;

  it.each<{ scenario: string; settings: Settings }>([
    { scenario: 'everything on', settings: EVERYTHING },
    { scenario: 'existing resources', settings: EXISTING },
    { scenario: 'managed keys', settings: MANAGED_KEYS },
    { scenario: '50 pools', settings: FIFTY_POOLS },
    { scenario: '42 managed pools', settings: managed(42) },
    { scenario: 'an e-mail for alarms', settings: managed(1, { alarms: { emails: ['a@example.com'] } }) },
    {
      scenario: 'two NAT gateways and endpoints',
      settings: managed(1, { network: { natGateways: 2, endpoints: true } }),
    },
    {
      scenario: 'earlySuccess with bindTaskRoles',
      settings: managed(2, { earlySuccess: true, bindTaskRoles: true }),
    },
    { scenario: 'Spot with fail-over', settings: managed(2, { bindTaskRoles: true }, BOTH_PARTS) },
    {
      scenario: 'parts and one log group',
      settings: deployment(pools(2, BOTH_PARTS), { logs: { group: '/x' } }),
    },
    {
      scenario: 'roles of their own',
      settings: managed(2, { bindTaskRoles: true }, { ...BOTH_PARTS, ...ROLE }),
    },
    { scenario: 'instances', settings: managed(1, {}, { capacity: { provider: 'x' } }) },
    { scenario: 'no alarms', settings: managed(1, { alarms: { enabled: false } }) },
    { scenario: 'Spot by default', settings: { ...MINIMAL, defaults: { spot: true } } },
  ])('are counted exactly for $scenario', ({ settings }) => {
    const counted = resourcesOf(draftConfig(settings), undefined);
    expect(counted).toBe(
      count(synthesizePlain(settings, { work: ownFolder(), existing: undefined }).template),
    );
    // the metadata that cdk deploy adds
    expect(count(synthesize(settings).toJSON()) + 1).toBeLessThanOrEqual(counted);
  });

  const longer: Settings['aws'] = { network: { natGateways: 2 }, alarms: { emails: ['a@example.com'] } };

  it.each<{ scenario: string; settings: Settings; expected: RegExp }>([
    { scenario: '42 managed pools', settings: managed(42), expected: /^valid$/ },
    {
      scenario: '42 managed pools with two NAT gateways and an e-mail',
      settings: managed(42, longer),
      expected:
        /:\d+:\d+: pools: the template of 42 pools would have 502 resources, but CloudFormation accepts at most 500\. Split the pools over several files, each with its own stack \(aws\.stack\), or give pools a key of their own \(3 each\), or /,
    },
    { scenario: '41 of them', settings: managed(41, longer), expected: /^valid$/ },
    {
      scenario: '42 of them in an existing VPC',
      settings: managed(42, { ...longer, network: EXISTING.aws?.network ?? {} }),
      expected: /^valid$/,
    },
  ])('of $scenario are $expected', ({ settings, expected }) => {
    expect(judge(settings, 100)).toMatch(expected);
  });
});

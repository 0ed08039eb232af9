/**
 * `validate` refuses settings that are too large for ECS or CloudFormation, and accepts those that
 * fit.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Settings } from '../../../infra/constructs/settings.ts';
import { loadDeployment } from '../../../lambda/config/load.ts';
import { draftConfig } from '../../../lambda/config/rules/drafts.ts';
import { templateBytes } from '../../../lambda/config/rules/size-rules.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { pem } from '../support/certificate.ts';
import {
  cpu,
  deployment,
  EVERYTHING,
  FIFTY_POOLS,
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

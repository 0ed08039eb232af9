/** Stacks to look at: two pools, synthesized with the feature flags that are deployed. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll } from 'vitest';
import { AutoscalerStack } from '../../infra/stack.ts';
import type { PoolName } from '../../lambda/core/brands.ts';
import type { Config, PoolConfig } from '../../lambda/core/config.ts';

export const cpu: PoolConfig = {
  name: 'cpu' as PoolName,
  organization: 'default',
  tags: {},
  key: { secret: 'coder/keys/cpu', jsonKey: 'value' },
  min: 1,
  max: 20,
  warm: 0,
  idleTimeoutMs: 300_000,
  scaleIn: 'lease',
  image: 'ghcr.io/coder/coder:v2.30.0',
  cpu: 1024,
  memory: 2048,
  architecture: 'arm64',
  spot: false,
  environment: { HTTPS_PROXY: 'http://proxy.internal:3128' },
  secrets: {
    TF_TOKEN: { secret: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:tf-token-AbCdEf' },
  },
};
export const gpu: PoolConfig = {
  ...cpu,
  name: 'gpu' as PoolName,
  tags: { gpu: 'true' },
  key: { secret: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:coder/keys/gpu' },
  cpu: 4096,
  memory: 8192,
  architecture: 'x86_64',
  environment: {},
  secrets: {},
};
export const config: Config = {
  coder: { url: 'https://coder.example.com', token: { secret: 'coder/autoscaler-token' } },
  limits: { maxTasks: 100 },
  alertAfterMs: 300_000,
  looks: { everyMs: 10_000 },
  roll: { atOncePercent: 25 },
  pools: [cpu, gpu],
};

const functionDir = mkdtempSync(join(tmpdir(), 'function-'));
writeFileSync(join(functionDir, 'index.mjs'), 'export const handler = async () => {};\n');
afterAll(() => rmSync(functionDir, { recursive: true }));

export function synthesize(config: Config): Template {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  return Template.fromStack(new AutoscalerStack(new App({ context }), 'Test', { config, functionDir }));
}

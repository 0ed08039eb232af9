/** Stacks to look at: two pools, synthesized with the feature flags that are deployed. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll } from 'vitest';
import { AutoscalerStack } from '../../infra/stack.ts';
import type { Config } from '../../lambda/core/config.ts';
import { aConfig, aPool, poolName } from '../support/parts.ts';

export const cpu = aPool({
  key: { secret: 'coder/keys/cpu', jsonKey: 'value' },
  min: 1,
  environment: { HTTPS_PROXY: 'http://proxy.internal:3128' },
  secrets: {
    TF_TOKEN: { secret: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:tf-token-AbCdEf' },
  },
});
export const gpu = aPool({
  name: poolName('gpu'),
  tags: { gpu: 'true' },
  key: { secret: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:coder/keys/gpu' },
  min: 1,
  cpu: 4096,
  memory: 8192,
  architecture: 'x86_64',
});
export const config: Config = {
  ...aConfig(cpu, gpu),
  coder: { url: 'https://coder.example.com', token: { secret: 'coder/autoscaler-token' } },
};

const functionDir = mkdtempSync(join(tmpdir(), 'function-'));
writeFileSync(join(functionDir, 'index.mjs'), 'export const handler = async () => {};\n');
afterAll(() => rmSync(functionDir, { recursive: true }));

export function synthesize(config: Config): Template {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  return Template.fromStack(new AutoscalerStack(new App({ context }), 'Test', { config, functionDir }));
}

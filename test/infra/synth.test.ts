import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const dir = mkdtempSync(join(tmpdir(), 'synth-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** The real CLI, as in a fresh clone: no AWS credentials or region, nothing in the home, nobody answers outside. */
function synth(...args: string[]): SpawnSyncReturns<string> {
  const nowhere = 'http://127.0.0.1:9';
  return spawnSync(
    process.execPath,
    ['node_modules/aws-cdk/bin/cdk', 'synth', '--output', join(dir, 'out'), ...args],
    {
      encoding: 'utf8',
      env: {
        // for the child `node infra/app.ts`, as npx would
        PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
        HOME: dir,
        HTTP_PROXY: nowhere,
        HTTPS_PROXY: nowhere,
        AWS_EC2_METADATA_DISABLED: 'true',
      },
    },
  );
}

describe('cdk synth', () => {
  it('makes a template of the example, with a service a pool', { timeout: 60_000 }, () => {
    const { status, stderr } = synth('-c', 'config=autoscaler.example.yaml');
    expect(stderr).not.toMatch(/\[(warning|error)/i);
    expect(status).toBe(0);
    const template = JSON.parse(
      readFileSync(join(dir, 'out/CoderProvisionerAutoscaler.template.json'), 'utf8'),
    );
    const types = Object.values<{ Type: string }>(template.Resources).map(({ Type }) => Type);
    expect(types).toContain('AWS::ECS::Service');
    expect(types).toContain('AWS::Scheduler::Schedule');
  });

  it('says what is wrong with a configuration, without a stack trace', { timeout: 60_000 }, () => {
    const configFile = join(dir, 'wrong.yaml');
    writeFileSync(
      configFile,
      'coder: { url: https://coder.example.com, token: { secret: t } }\npools: [{ naem: x }]\n',
    );
    const { status, stderr } = synth('-c', `config=${configFile}`);
    expect(status).toBe(1);
    expect(stderr).toContain('naem');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

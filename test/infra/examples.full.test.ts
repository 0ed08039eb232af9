/**
 * Synthesizes the CDK apps of examples/ like a user: with the CDK CLI in their folder, without
 * access to AWS.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';
import { idsOf, roleOf, serviceOf, statementsOf, taskOf } from './support/template-parts.ts';

const out = ownFolder();

type Synthesis = {
  readonly status: number | null;
  readonly stderr: string;
  readonly template: () => Template;
  /** Values that CDK would have to look up in AWS. */
  readonly missing: () => unknown;
};

/** Synthesizes each example once. */
const syntheses = new Map<string, Promise<Synthesis>>();
function synthesisOf(example: string): Promise<Synthesis> {
  const known = syntheses.get(example) ?? synthesize(example);
  syntheses.set(example, known);
  return known;
}

function synthesize(example: string): Promise<Synthesis> {
  const folder = join(out, example);
  const nowhere = 'http://127.0.0.1:9';
  const env = {
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: out,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    CDK_VALIDATION: process.env.CDK_VALIDATION,
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  const args = [resolve('node_modules/aws-cdk/bin/cdk'), 'synth', '--quiet', '--output', folder];
  const readJson = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  return new Promise((done) => {
    const options = { cwd: `examples/${example}`, env, encoding: 'utf8' } as const;
    const child = execFile(process.execPath, args, options, (_, __, stderr) =>
      done({
        status: child.exitCode,
        stderr,
        template: () => Template.fromJSON(readJson('CoderProvisioners.template.json')),
        missing: () => readJson('manifest.json').missing,
      }),
    );
  });
}

// examples/plan has a snapshot instead of an app
const examples = readdirSync('examples').filter((name) => existsSync(`examples/${name}/app.ts`));

const MINUTES_2 = { timeout: 120_000 };

it('has an example of each kind of deployment', () => {
  expect(examples.sort()).toEqual([
    'existing-network',
    'own-network',
    'spot-for-prebuilds',
    'two-organizations',
  ]);
});

describe.each(examples)('the example %s', (example) => {
  it('makes a stack offline, without a warning and without a lookup', MINUTES_2, async () => {
    const { status, stderr, missing } = await synthesisOf(example);
    expect(stderr).not.toMatch(/warning|error/i);
    expect(status).toBe(0);
    expect(missing()).toBeUndefined();
  });

  it('imports the construct by the name of its package', () => {
    const { name } = JSON.parse(readFileSync('package.json', 'utf8'));
    const imported = [...readFileSync(`examples/${example}/app.ts`, 'utf8').matchAll(/ from '([^']+)'/g)];
    expect(imported.map(([, from]) => from)).toContain(name);
    expect(imported.filter(([, from = '']) => from.startsWith('.'))).toEqual([]);
  });

  it('has a short README, which the list of examples links to', () => {
    expect(existsSync(`examples/${example}/README.md`)).toBe(true);
    expect(readFileSync('examples/README.md', 'utf8')).toContain(`](${example}/)`);
  });
});

describe('the example', () => {
  it('own-network makes a VPC and a cluster', MINUTES_2, async () => {
    const template = (await synthesisOf('own-network')).template();
    template.resourceCountIs('AWS::EC2::VPC', 1);
    template.resourceCountIs('AWS::ECS::Cluster', 1);
  });

  it('existing-network makes no VPC and no cluster, and opens the load balancer', MINUTES_2, async () => {
    const template = (await synthesisOf('existing-network')).template();
    template.resourceCountIs('AWS::EC2::VPC', 0);
    template.resourceCountIs('AWS::ECS::Cluster', 0);
    const { Cluster, NetworkConfiguration } = serviceOf(template, 'default').Properties;
    expect(Cluster).toBe('platform');
    expect(NetworkConfiguration.AwsvpcConfiguration.Subnets).toContain('subnet-0123456789abcdef0');
    template.hasResourceProperties('AWS::EC2::SecurityGroupIngress', {
      GroupId: 'sg-0123456789abcdef0',
      FromPort: 443,
    });
  });

  it('two-organizations grants the bucket to the builds of one organization only', MINUTES_2, async () => {
    const template = (await synthesisOf('two-organizations')).template();
    const mayUseBuckets = (pool: string): boolean =>
      JSON.stringify(statementsOf(template, roleOf(taskOf(template, pool).TaskRoleArn))).includes('s3:');
    expect({ data: mayUseBuckets('data'), engineering: mayUseBuckets('engineering') }).toEqual({
      data: true,
      engineering: false,
    });
  });

  it('spot-for-prebuilds runs only prebuilds on Spot, and watches them', MINUTES_2, async () => {
    const template = (await synthesisOf('spot-for-prebuilds')).template();
    const providersOf = (pool: string): unknown =>
      serviceOf(template, pool).Properties.CapacityProviderStrategy;
    expect(providersOf('prebuilds')).toEqual([{ CapacityProvider: 'FARGATE_SPOT', Weight: 1 }]);
    expect(providersOf('people')).toEqual([{ CapacityProvider: 'FARGATE', Weight: 1 }]);
    expect(idsOf(template, 'AWS::CloudWatch::Alarm').join()).toContain('PrebuildsWait');
  });
});

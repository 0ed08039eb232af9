/** The contents of a plain template, and the differences after a change of settings. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fullDiff } from '@aws-cdk/cloudformation-diff';
import { App } from 'aws-cdk-lib';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { DockerImageAsset } from 'aws-cdk-lib/aws-ecr-assets';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { ConfigParameters } from '../../../infra/constructs/plain/config-parameters.ts';
import { PlainStack } from '../../../infra/constructs/plain/plain-stack.ts';
import { PlainSynthesizer } from '../../../infra/constructs/plain/plain-synthesizer.ts';
import { ProvisionerAutoscaler } from '../../../infra/constructs/provisioner-autoscaler.ts';
import type { Settings } from '../../../infra/constructs/settings.ts';
import { FEATURE_FLAGS, synthesizePlain, type TemplateOptions } from '../../../infra/plain/write-template.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { normalized } from '../support/normalized.ts';
import {
  cpu,
  deployment,
  EVERYTHING,
  EXISTING,
  FIFTY_POOLS,
  MANAGED_KEYS,
  MINIMAL,
} from '../support/synthesized.ts';
import type { Resource } from '../support/template-parts.ts';

const dir = ownFolder();

type PlainTemplate = {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly [section: string]: unknown;
};

/** The template without its files: folder.test.ts writes them. */
function write(settings: Settings, existing?: TemplateOptions['existing']): PlainTemplate {
  const work = mkdtempSync(join(dir, 'work-'));
  return synthesizePlain(settings, { work, existing }).template as PlainTemplate;
}

const ofType = ({ Resources }: PlainTemplate, type: string) =>
  Object.values(Resources).filter(({ Type }) => Type === type);

const everything = write(EVERYTHING);
const templates = [
  { name: 'of minimal settings', template: write(MINIMAL) },
  { name: 'with everything on', template: everything },
  { name: 'in an existing network and cluster', template: write(EXISTING) },
];

describe.each(templates)('the plain template $name', ({ template }) => {
  const text = JSON.stringify(template);

  it('allows updates of services with the task definitions of its stack, and of no others', () => {
    const stackName = { Ref: 'AWS::StackName' };
    expect(text).toContain(`":task-definition/",${JSON.stringify(stackName)},"-*"`);
    for (const { Properties } of ofType(template, 'AWS::ECS::TaskDefinition'))
      expect(Properties.Family).toMatchObject({ 'Fn::Join': ['', [stackName, expect.stringMatching(/^-/)]] });
  });

  it('needs no bootstrap, no custom resource and no macro', () => {
    expect(Object.keys(template).sort()).toEqual([
      'Conditions',
      'Mappings',
      'Outputs',
      'Parameters',
      'Resources',
    ]);
    expect(Object.keys(template.Parameters as object)).toEqual([
      'AssetBucket',
      'AssetPrefix',
      'TemplateHash',
      'PermissionsBoundary',
    ]);
    expect(text).not.toMatch(/cdk-hnb659fds|Custom::|AWS::CDK::Metadata|CustomResource/);
    expect(text).not.toContain('Token[');
  });

  it('takes its code from the bucket and prefix of its parameters', () => {
    expect(ofType(template, 'AWS::Lambda::Function').map(({ Properties }) => Properties.Code)).toEqual([
      {
        S3Bucket: { Ref: 'AssetBucket' },
        S3Key: { 'Fn::Join': ['', [{ Ref: 'AssetPrefix' }, expect.stringMatching(/^[0-9a-f]{64}\.zip$/)]] },
      },
    ]);
  });

  it('has no name of a resource that a second stack of the account would have too', () => {
    const NAMES = /^(?:Name|Family|\w+Name)$/;
    const fixed = Object.values(template.Resources).flatMap(({ Type, Properties = {} }) =>
      Object.entries(Properties)
        .filter(([key, value]) => NAMES.test(key) && typeof value === 'string')
        .map(([key]) => `${Type} ${key}`),
    );
    // A role's policies have a name in this role only.
    expect([...new Set(fixed)].filter((name) => name !== 'AWS::IAM::Policy PolicyName')).toEqual([]);
  });

  it('calls its deployment by the name that the stack gets', () => {
    const tags = ofType(template, 'AWS::ECS::Service').flatMap(({ Properties }) => Properties.Tags);
    const stacks = tags.filter(({ Key }: { Key: string }) => Key === 'coder-autoscaler:stack');
    expect(stacks.length).toBeGreaterThan(0);
    for (const { Value } of stacks) expect(Value).toEqual({ Ref: 'AWS::StackName' });
  });

  it('allows the function to read exactly its parameters, and to write its record alone', () => {
    const ids = Object.keys(template.Resources).filter((id) => id.startsWith('AutoscalerConfig'));
    const statements = ofType(template, 'AWS::IAM::Policy')
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .filter(({ Action }) => JSON.stringify(Action).includes('"ssm:'));
    const [config, record] = statements;
    expect(statements).toHaveLength(2);
    expect(config).toMatchObject({ Action: 'ssm:GetParameters', Effect: 'Allow' });
    const idsOf = ({ Resource }: { readonly Resource: unknown }) =>
      [Resource].flat().map((arn) => /:parameter",\{"Ref":"(\w+)"\}/.exec(JSON.stringify(arn))?.[1]);
    expect(idsOf(config)).toEqual(ids);
    expect(record).toMatchObject({ Action: ['ssm:GetParameters', 'ssm:PutParameter'], Effect: 'Allow' });
    expect(idsOf(record)).toEqual([expect.stringMatching(/^AutoscalerRecordParameter/)]);
  });
});

describe('a plain template', () => {
  it('changes its parameter and the environment of its function alone when max changes', () => {
    const diff = fullDiff(write(deployment([cpu])), write(deployment([{ ...cpu, max: 50 }])));
    const changes = Object.fromEntries(
      diff.resources.logicalIds.map((id) => {
        const change = diff.resources.get(id);
        return [change.resourceType, Object.keys(change.propertyUpdates)];
      }),
    );
    expect(changes).toEqual({
      'AWS::SSM::Parameter': ['Value'],
      'AWS::Lambda::Function': ['Environment'],
    });
    expect(diff.iamChanges.hasChanges).toBe(false);
    expect(diff.differenceCount).toBe(2);
  });

  it('has the same code for every configuration', () => {
    const keys = templates.map(({ template }) =>
      JSON.stringify(
        ofType(template, 'AWS::Lambda::Function').map(({ Properties }) => Properties.Code.S3Key),
      ),
    );
    expect(new Set(keys).size).toBe(1);
  });

  it('stores 50 pools in parameters of at most 4 KB, and stays below 1 MB', () => {
    const fifty = write(FIFTY_POOLS);
    const values: string[] = ofType(fifty, 'AWS::SSM::Parameter')
      .filter(({ Properties }) => Properties.Tier === 'Standard')
      .map(({ Properties }) => Properties.Value);
    expect(values.length).toBeGreaterThan(1);
    for (const value of values) expect(Buffer.byteLength(value)).toBeLessThanOrEqual(4096);
    expect(JSON.parse(values.join('')).config.pools).toHaveLength(50);
    expect(Buffer.byteLength(JSON.stringify(fifty))).toBeLessThan(1_000_000);
  });

  it('refuses a configuration that does not fit, with its size and the limit', () => {
    const environment = { TF_VAR_long: 'x'.repeat(25_000) };
    const pools = ['a', 'b', 'c'].map((name) => ({ ...cpu, name, tags: { name }, environment }));
    expect(() => write(deployment(pools))).toThrow(
      /^storing the configuration: it has 7\d{4} characters, and a plain template can store 65536; divide the pools/,
    );
  });

  it('stores as many characters as sixteen parameters have, and no more', () => {
    const stackWith = (length: number) =>
      new ConfigParameters(new PlainStack(new App(), 'Plain'), 'Config', {
        text: 'x'.repeat(length),
        sha256: 'h',
      });
    expect(() => stackWith(16 * 4096)).not.toThrow();
    expect(() => stackWith(16 * 4096 + 1)).toThrow('it has 65537 characters');
  });

  it('has a permissions boundary of its own only where its parameter may set it', () => {
    const boundary = {
      'Fn::If': ['HasPermissionsBoundary', { Ref: 'PermissionsBoundary' }, { Ref: 'AWS::NoValue' }],
    };
    for (const { Properties } of ofType(write(MINIMAL), 'AWS::IAM::Role'))
      expect(Properties.PermissionsBoundary).toEqual(boundary);
    for (const { Properties } of ofType(everything, 'AWS::IAM::Role'))
      expect(Properties.PermissionsBoundary).toMatch(/policy\/boundary$/);
  });

  it('has these parameters, conditions and outputs, and resources of these types', async () => {
    const { Resources, ...others } = write(MINIMAL);
    const types = Object.entries(Resources).map(([id, { Type }]) => [id, Type]);
    const shown = normalized({ ...others, Resources: Object.fromEntries(types) });
    await expect(shown).toMatchFileSnapshot('../__snapshots__/plain.template.snap');
  });

  it('has an endpoint for its parameters if it has endpoints', () => {
    const services = ofType(everything, 'AWS::EC2::VPCEndpoint').map(({ Properties }) =>
      JSON.stringify(Properties.ServiceName),
    );
    expect(services.filter((name) => name.includes('.ssm"'))).toHaveLength(1);
  });

  it('refuses a lookup, and names the settings for the ids', () => {
    const existing: TemplateOptions['existing'] = (stack) => ({
      vpc: Vpc.fromLookup(stack, 'Shared', { vpcName: 'shared' }),
    });
    expect(() => write(MINIMAL, existing)).toThrow(
      /^importing existing resources: a lookup \(vpc-provider\) would have to ask AWS.*write ids instead, in the configuration \(aws\.network: vpc, subnets and securityGroups/,
    );
  });

  it('keeps the cause of a refused lookup, and throws other errors of an import as they are', () => {
    const existing: TemplateOptions['existing'] = (stack) => ({
      vpc: Vpc.fromLookup(stack, 'V', { vpcName: 'v' }),
    });
    const errorOf = (act: () => unknown): Error => {
      try {
        act();
      } catch (cause) {
        return cause as Error;
      }
      throw new Error('no error');
    };
    const refused = errorOf(() => write(MINIMAL, existing));
    expect(refused.name).toBe('PlainTemplateError');
    expect(refused.cause).toMatchObject({ message: expect.stringContaining('context provider') });
    const other = new Error('no such file');
    const throwing = () => {
      throw other;
    };
    expect(errorOf(() => write(MINIMAL, throwing))).toBe(other);
  });

  it('refuses an asset without a file', () => {
    expect(() => new PlainSynthesizer().addFileAsset({ sourceHash: 'hash' })).toThrow(
      'writing a plain template: an asset without a file cannot be written',
    );
  });

  it('refuses an image that would have to be built', () => {
    const stack = new PlainStack(new App(), 'Plain');
    expect(() => new DockerImageAsset(stack, 'Image', { directory: 'guard', file: 'guard.sh' })).toThrow(
      /would have to be built and pushed; push it to a registry/,
    );
  });

  it('has only findings of cdk-nag that are acknowledged', () => {
    const app = new App({ context: FEATURE_FLAGS, outdir: mkdtempSync(join(dir, 'nag-')) });
    const stack = new PlainStack(app, 'Plain');
    new ProvisionerAutoscaler(stack, 'Autoscaler', EVERYTHING);
    expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([]);
  });

  it('has the feature flags of cdk.json', () => {
    const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
    expect(context).toMatchObject(FEATURE_FLAGS);
  });
});

describe('a plain template with managed keys', () => {
  const template = write(MANAGED_KEYS);
  const functions = ofType(template, 'AWS::Lambda::Function');

  it('takes the code of all three functions from the bucket of its parameters', () => {
    const buckets = functions.map(({ Properties }) => Properties.Code.S3Bucket);
    expect(buckets).toEqual(Array(3).fill({ Ref: 'AssetBucket' }));
    expect(JSON.stringify(template)).not.toMatch(/cdk-hnb659fds|AWS::CDK::Metadata|Token\[/);
  });

  it('stores the configuration once, for the function and the key function', () => {
    const variables = functions.map(({ Properties }) => Properties.Environment?.Variables ?? {});
    const hashes = variables.flatMap(({ AUTOSCALER_CONFIG_SHA256: hash }) => hash ?? []);
    expect(hashes).toHaveLength(2);
    expect(new Set(hashes).size).toBe(1);
  });
});

/**
 * Existing resources, from the settings or from a user's CDK app. The stack uses them and does not
 * change them.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, Lazy, Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Cluster, type ICluster } from 'aws-cdk-lib/aws-ecs';
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { type ExistingResources, ProvisionerAutoscaler, type Settings } from 'coder-provisioner-autoscaler';
import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../lambda/config/check.ts';
import { loadConfig } from '../../lambda/config/load.ts';
import { ownFolder } from '../support/own-folder.ts';
import {
  ACCOUNT,
  arnOf,
  cpu,
  deployment,
  EVERYTHING,
  EXISTING,
  gpu,
  newApp,
  stackOf,
  synthesize,
  templateOf,
} from './support/synthesized.ts';
import { idsOf, resourcesOf, serviceOf, taskOf } from './support/template-parts.ts';

const folder = ownFolder();

describe('existing resources in the settings', () => {
  const template = synthesize(EXISTING);

  it.each([
    'AWS::EC2::VPC',
    'AWS::EC2::SecurityGroup',
    'AWS::ECS::Cluster',
    'AWS::Logs::LogGroup',
    'AWS::SNS::Topic',
  ])('is not made again: no %s', (type) => template.resourceCountIs(type, 0));

  it('hold the services', () => {
    expect(serviceOf(template, 'cpu').Properties).toMatchObject({
      Cluster: 'platform',
      NetworkConfiguration: {
        AwsvpcConfiguration: {
          AssignPublicIp: 'DISABLED',
          Subnets: ['subnet-0123456789abcdef0', 'subnet-0fedcba9876543210'],
          SecurityGroups: ['sg-0123456789abcdef0'],
        },
      },
    });
    template.resourceCountIs('AWS::ECS::ClusterCapacityProviderAssociations', 0);
  });

  it('hold the function', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ AUTOSCALER_CLUSTER: 'platform' }) },
      VpcConfig: {
        SubnetIds: ['subnet-0123456789abcdef0', 'subnet-0fedcba9876543210'],
        SecurityGroupIds: ['sg-0123456789abcdef0'],
      },
      LoggingConfig: Match.objectLike({ LogGroup: '/platform/coder' }),
    });
  });

  it('take the logs, with a stream prefix for each pool', () => {
    for (const pool of ['cpu', 'gpu'])
      expect(taskOf(template, pool).ContainerDefinitions[0].LogConfiguration.Options).toMatchObject({
        'awslogs-group': '/platform/coder',
        'awslogs-stream-prefix': pool,
      });
    expect(serviceOf(template, 'cpu').Properties.Tags).toContainEqual({
      Key: 'coder-autoscaler:log-group',
      Value: '/platform/coder',
    });
  });

  it('get the alarms', () => {
    template.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [arnOf('sns', 'oncall')] });
  });
});

describe('existing resources in the props of a CDK app', () => {
  const stack = new Stack(newApp(), 'Platform');
  const vpc = new Vpc(stack, 'Vpc', {
    subnetConfiguration: [
      { name: 'out', subnetType: SubnetType.PUBLIC },
      { name: 'builds', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      { name: 'other', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
    ],
    restrictDefaultSecurityGroup: false,
  });
  const securityGroup = new SecurityGroup(stack, 'Group', { vpc });
  const given: ExistingResources = {
    vpc,
    subnets: { subnetGroupName: 'builds' },
    securityGroups: [securityGroup],
    cluster: new Cluster(stack, 'Cluster', { vpc, enableFargateCapacityProviders: true }),
    logGroup: new LogGroup(stack, 'Logs'),
    kmsKey: new Key(stack, 'Key'),
    alarmTopic: new Topic(stack, 'Topic'),
    permissionsBoundary: ManagedPolicy.fromManagedPolicyName(stack, 'Boundary', 'given'),
  };
  const autoscaler = new ProvisionerAutoscaler(stack, 'Builds', { ...EVERYTHING, ...given });
  const template = templateOf(stack);
  const ref = (construct: { node: { defaultChild?: unknown } }): object => ({
    Ref: stack.getLogicalId(construct.node.defaultChild as never),
  });

  it.each([
    'AWS::EC2::VPC',
    'AWS::EC2::SecurityGroup',
    'AWS::ECS::Cluster',
    'AWS::Logs::LogGroup',
    'AWS::SNS::Topic',
    'AWS::KMS::Key',
  ])('wins over what the settings say: one %s', (type) => template.resourceCountIs(type, 1));

  it('hold the services', () => {
    const subnets = vpc.selectSubnets({ subnetGroupName: 'builds' }).subnets.map((subnet) => ref(subnet));
    expect(serviceOf(template, 'cpu').Properties).toMatchObject({
      Cluster: ref(autoscaler.cluster),
      NetworkConfiguration: {
        AwsvpcConfiguration: {
          Subnets: subnets,
          SecurityGroups: [
            { 'Fn::GetAtt': [stack.getLogicalId(securityGroup.node.defaultChild as never), 'GroupId'] },
          ],
        },
      },
    });
  });

  it('get the alarms, bound the roles and allow the logs to use the key', () => {
    template.allResourcesProperties('AWS::CloudWatch::Alarm', {
      AlarmActions: [ref(given.alarmTopic as Topic)],
    });
    expect(JSON.stringify(template.findResources('AWS::IAM::Role'))).toContain(':policy/given');
    expect(JSON.stringify(template.findResources('AWS::KMS::Key'))).toContain('logs.');
  });

  it('get the created constructs as properties', () => {
    expect(Object.keys(autoscaler.services)).toEqual(['cpu', 'gpu', 'old']);
    expect(autoscaler.topic).toBe(given.alarmTopic);
    expect(autoscaler.logGroup).toBe(given.logGroup);
    expect(idsOf(template, 'AWS::Lambda::Function')).toContain(
      stack.getLogicalId(autoscaler.function.node.defaultChild as never),
    );
  });
});

describe('a cluster', () => {
  const stack = new Stack(newApp(), 'Shared');
  const [ours, theirs] = ['Ours', 'Theirs'].map(
    (id) => new Vpc(stack, id, { restrictDefaultSecurityGroup: false }),
  );
  const shared = new Cluster(stack, 'Cluster', { vpc: theirs as Vpc, enableFargateCapacityProviders: true });
  new ProvisionerAutoscaler(stack, 'Builds', { ...deployment([cpu]), vpc: ours as Vpc, cluster: shared });
  const template = templateOf(stack);

  it('can be used in another VPC than its own, because a cluster has no VPC', () => {
    const subnets = ours?.privateSubnets.map((subnet) => ({
      Ref: stack.getLogicalId(subnet.node.defaultChild as never),
    }));
    expect(serviceOf(template, 'cpu').Properties.NetworkConfiguration.AwsvpcConfiguration.Subnets).toEqual(
      subnets,
    );
  });

  it.each<{ by: string; given: (stack: Stack) => object; isOwn: boolean }>([
    { by: 'nobody', given: () => ({}), isOwn: true },
    { by: 'a setting', given: () => ({ aws: { cluster: 'platform' } }), isOwn: false },
    {
      by: 'a property',
      given: (stack) => ({ cluster: Cluster.fromClusterArn(stack, 'C', arnOf('ecs', 'cluster/platform')) }),
      isOwn: false,
    },
  ])('that $by gives is the own one of the function: $isOwn', ({ given, isOwn }) => {
    const stack = new Stack(newApp(), 'Given');
    const vpc = new Vpc(stack, 'Vpc', { restrictDefaultSecurityGroup: false });
    new ProvisionerAutoscaler(stack, 'Builds', { ...deployment([cpu]), vpc, ...given(stack) });
    const template = JSON.stringify(templateOf(stack).toJSON());
    expect(template.includes('"AUTOSCALER_OWNS_CLUSTER":"true"')).toBe(isOwn);
  });

  it('has its capacity providers before a service starts', () => {
    const [providers] = idsOf(template, 'AWS::ECS::ClusterCapacityProviderAssociations');
    expect(serviceOf(template, 'cpu').DependsOn).toContain(providers);
  });

  it('can be given by its ARN alone if the VPC is given', () => {
    const other = new Stack(newApp(), 'Imported');
    const vpc = new Vpc(other, 'Vpc', { restrictDefaultSecurityGroup: false });
    const cluster = Cluster.fromClusterArn(other, 'Cluster', arnOf('ecs', 'cluster/platform'));
    new ProvisionerAutoscaler(other, 'Builds', { ...deployment([cpu]), vpc, cluster });
    expect(serviceOf(templateOf(other), 'cpu').Properties.Cluster).toBe('platform');
  });
});

describe('a cluster of another account or region', () => {
  const elsewhere = { account: ACCOUNT, region: 'us-east-1' };

  it.each<{ scenario: string; clusterIn: (scope: App, stack: Stack) => ICluster }>([
    {
      scenario: 'of another region, by its ARN',
      clusterIn: (_, stack) =>
        Cluster.fromClusterArn(stack, 'C', `arn:aws:ecs:us-east-1:${ACCOUNT}:cluster/platform`),
    },
    {
      scenario: 'of another account, by its ARN',
      clusterIn: (_, stack) =>
        Cluster.fromClusterArn(stack, 'C', 'arn:aws:ecs:eu-central-1:999999999999:cluster/platform'),
    },
    {
      scenario: 'of a stack in another region',
      clusterIn: (app) => {
        const other = new Stack(app, 'Other', { env: elsewhere });
        return new Cluster(other, 'C', { vpc: new Vpc(other, 'Vpc') });
      },
    },
  ])('is refused: $scenario', ({ clusterIn }) => {
    const app = newApp();
    const stack = new Stack(app, 'Here', { env: { account: ACCOUNT, region: 'eu-central-1' } });
    const props = { ...deployment([cpu]), vpc: new Vpc(stack, 'Vpc'), cluster: clusterIn(app, stack) };
    expect(() => new ProvisionerAutoscaler(stack, 'Builds', props)).toThrow(
      /cluster .* is in account .*, but stack Here is in account 123456789012, region eu-central-1; use a cluster of that account/,
    );
  });
});

describe('settings', () => {
  it('make the same stack from props and from a file', () => {
    const configFile = join(folder, 'autoscaler.yaml');
    writeFileSync(configFile, JSON.stringify(deployment([cpu])));
    const fromFile = templateOf(stackOf({ configFile } as unknown as Settings));
    const fromProps = synthesize(deployment([cpu]));
    const withoutCode = (template: typeof fromFile): object =>
      Object.values(resourcesOf(template)).filter(({ Type }) => Type !== 'AWS::Lambda::Function');
    expect(withoutCode(fromFile)).toEqual(withoutCode(fromProps));
  });

  it('from props are written to the directory of the function', () => {
    const settings = deployment([{ ...cpu, idleTimeout: '7m' }]);
    const app = newApp();
    stackOf(settings, app);
    const [asset] = readdirSync(app.outdir).filter((name) => name.startsWith('asset.'));
    const { config } = loadConfig(join(app.outdir, asset ?? '', 'autoscaler.yaml'));
    expect(config).toEqual(checkConfig(settings).config);
  });

  it.each([
    {
      because: 'a setting does not exist',
      settings: deployment([{ ...cpu, naem: 'x' } as never]),
      expected: /^pools\[0\]\.naem: /,
    },
    {
      because: 'a value is known only at deployment',
      settings: deployment([{ ...cpu, image: `${Lazy.string({ produce: () => 'repository' })}:v2.30.0` }]),
      expected: /^pools\[0\]\.image: is a CDK token, whose value is known only at deployment/,
    },
    {
      because: 'there are too many pools for a stack',
      settings: deployment(
        Array.from({ length: 51 }, (_, i) => ({ ...cpu, name: `p${i}`, tags: { i: String(i) } })),
      ),
      expected: /^pools: 51 pools, but one deployment supports at most 50; split the file by organization/,
    },
  ])('are refused with the name of the prop if $because', ({ settings, expected }) => {
    expect(() => stackOf(settings)).toThrow(expected);
  });

  it('of a second autoscaler are refused, because its alarms have the name of the stack', () => {
    const stack = stackOf(deployment([cpu]));
    expect(() => new ProvisionerAutoscaler(stack, 'Second', deployment([gpu]))).toThrow(
      /^cannot create the autoscaler .*Second: its stack already has .*; use one stack for each/,
    );
  });

  it('cause warnings in the synthesis if they are risky', () => {
    const stack = stackOf(deployment([{ ...cpu, environment: { PASSWORD: 'AKIAIOSFODNN7EXAMPLE' } }]));
    Annotations.fromStack(stack).hasWarning('*', Match.stringLikeRegexp('looks like a secret'));
  });
});

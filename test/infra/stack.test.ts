/** The stack as a whole. The other files test one part each. */
import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  cpu,
  deployment,
  EVERYTHING,
  EXISTING,
  FIFTY_POOLS,
  gpu,
  MANAGED_KEYS,
  MINIMAL,
  synthesize,
} from './support/synthesized.ts';
import { idsOf, resourcesOf } from './support/template-parts.ts';

const everything = synthesize(EVERYTHING);
const stacks = [
  { name: 'minimal', template: synthesize(MINIMAL) },
  { name: 'everything on', template: everything },
  { name: 'in an existing network and cluster', template: synthesize(EXISTING) },
  { name: 'with 50 pools', template: synthesize(FIFTY_POOLS) },
];

it('leaves after a failed first deployment what deploy.md lists', () => {
  const settings = [
    MINIMAL,
    MANAGED_KEYS,
    deployment([cpu, gpu], { earlySuccess: true }),
    deployment([cpu, gpu], { bindTaskRoles: true }),
    deployment([cpu, gpu], { earlySuccess: true, bindTaskRoles: true }),
  ];
  const [, page = ''] =
    /^### What a failed first deployment leaves\n(.*?)^## /ms.exec(readFileSync('docs/deploy.md', 'utf8')) ??
    [];
  const listed = [...page.matchAll(/^\| `(AWS::[\w:]+)` \|/gm)].map(([, type = '']) => type);
  const kept = settings.map((each) =>
    Object.values<{ Type: string; DeletionPolicy?: string }>(synthesize(each).toJSON().Resources)
      .filter(({ DeletionPolicy }) => DeletionPolicy?.startsWith('Retain'))
      .map(({ Type }) => Type),
  );
  expect(listed.toSorted()).toEqual([...new Set(kept.flat())].toSorted());
  const count = (type: string) => kept.map((types) => types.filter((each) => each === type).length);
  // two pools: their groups and the function's; both roles of a pool, and the bound one
  expect(count('AWS::Logs::LogGroup').slice(2)).toEqual([3, 3, 3]);
  expect(count('AWS::IAM::Role')).toEqual([0, 0, 4, 2, 6]);
  expect(count('AWS::IAM::Policy')).toEqual([0, 0, 4, 0, 4]);
  // the commands delete each kind: a policy goes with its role
  for (const command of ['logs delete-log-group', 'iam delete-role-policy', 'iam delete-role '])
    expect(page).toContain(`aws ${command}`);
});

describe.each(stacks)('the stack, $name,', ({ template }) => {
  const resources = Object.entries(resourcesOf(template));

  it('grants no permission to start or stop tasks, or to change a service except its count', () => {
    const text = JSON.stringify(template.toJSON());
    const written = [...text.matchAll(/"ecs:(\w+|\*)"/g)].map(([, action]) => action);
    const changing = new Set(written.filter((action) => !/^(Describe|List|Get)/.test(action ?? '')));
    changing.delete('cluster');
    expect([...changing].sort()).toEqual(['UpdateService', 'UpdateTaskProtection']);
  });

  it('allows updates of services with the task definitions of its pools, and of no others', () => {
    const [, pattern = ''] = /task-definition\/(\w+)\*/.exec(JSON.stringify(template.toJSON())) ?? [];
    const families = Object.values(template.findResources('AWS::ECS::TaskDefinition'));
    expect(pattern).toMatch(/^\w+AutoscalerPool$/);
    expect(families.filter(({ Properties }) => !Properties.Family.startsWith(pattern))).toEqual([]);
  });

  it('lets AWS services assume its roles for its own account only', () => {
    const account = { StringEqualsIfExists: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };
    const roles = Object.values(template.findResources('AWS::IAM::Role'));
    for (const { Properties } of roles)
      expect(Properties.AssumeRolePolicyDocument.Statement).toMatchObject([{ Condition: account }]);
  });

  it('leaves only logs behind when it is destroyed', () => {
    const kept = resources.filter(([, { DeletionPolicy }]) => DeletionPolicy?.startsWith('Retain'));
    expect(new Set(kept.map(([, { Type }]) => Type))).toEqual(
      new Set(idsOf(template, 'AWS::Logs::LogGroup').length > 0 ? ['AWS::Logs::LogGroup'] : []),
    );
    expect(kept.map(([id]) => id)).toEqual(idsOf(template, 'AWS::Logs::LogGroup'));
  });

  it('refers to secrets and neither creates nor resolves any', () => {
    template.resourceCountIs('AWS::SecretsManager::Secret', 0);
    expect(JSON.stringify(template.toJSON())).not.toContain('{{resolve:');
  });

  it('describes in its outputs what it created and what a destroy keeps', () => {
    template.hasOutput('ClusterName', {});
    template.hasOutput('FunctionName', {});
    template.hasOutput('LogGroupName', {
      Description: Match.stringLikeRegexp('It keeps only this log group'),
    });
  });

  it('stays below the limits of CloudFormation: 500 resources and 1 MB', () => {
    expect(resources.length).toBeLessThan(450);
    expect(Buffer.byteLength(JSON.stringify(template.toJSON(), undefined, 1))).toBeLessThan(800_000);
  });
});

describe('the stack', () => {
  it('has seven resources for each pool', () => {
    const [one, two] = [[cpu], [cpu, { ...cpu, name: 'other', tags: { other: 'yes' } }]].map(
      (pools) => Object.keys(resourcesOf(synthesize(deployment(pools)))).length,
    );
    expect((two ?? 0) - (one ?? 0)).toBe(7);
  });

  it('creates a service for each of several pools with similar names', () => {
    const names = ['a-b', 'ab', 'a-b-'];
    const similar = synthesize(deployment(names.map((name) => ({ ...cpu, name, tags: { name } }))));
    similar.resourceCountIs('AWS::ECS::Service', 3);
  });

  it('tags every resource that supports tags in all partitions', () => {
    const tagged = Object.values(resourcesOf(everything)).filter((resource) =>
      JSON.stringify(resource.Properties ?? {}).includes('cost-center'),
    );
    expect([...new Set(tagged.map(({ Type }) => Type))].sort()).toEqual([
      'AWS::CloudWatch::Alarm',
      'AWS::EC2::EIP',
      'AWS::EC2::InternetGateway',
      'AWS::EC2::NatGateway',
      'AWS::EC2::RouteTable',
      'AWS::EC2::SecurityGroup',
      'AWS::EC2::Subnet',
      'AWS::EC2::VPC',
      'AWS::EC2::VPCEndpoint',
      'AWS::ECS::Cluster',
      'AWS::ECS::Service',
      'AWS::ECS::TaskDefinition',
      'AWS::IAM::Role',
      'AWS::Lambda::Function',
      'AWS::Logs::LogGroup',
      'AWS::SNS::Topic',
      'AWS::SQS::Queue',
      'AWS::SSM::Parameter',
      'AWS::Scheduler::ScheduleGroup',
    ]);
  });
});

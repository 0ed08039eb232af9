/** What a stack with managed keys adds: secrets, key function, custom resources, rotation, sweep. */
import { AccountPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import { actionsIn, callsIn, deploy, statementsFor } from './support/public-api.ts';
import { EVERYTHING, MANAGED_KEYS, MINIMAL, synthesize } from './support/synthesized.ts';
import {
  idsOf,
  type Resource,
  resourcesOf,
  serviceOf,
  statementsOf,
  taskOf,
} from './support/template-parts.ts';

const template = synthesize(MANAGED_KEYS);
const resources = resourcesOf(template);
const KEY = 'Custom::CoderProvisionerKey';

const ofType = (type: string): readonly Resource[] =>
  Object.values(resources).filter(({ Type }) => Type === type);
const nameOf = (id: string): string => (id.includes('gpu') ? 'gpu' : 'default');

/** The logical ids that a resource waits for, itself and through others. */
function waitsFor(id: string, known = new Set<string>()): ReadonlySet<string> {
  const { DependsOn = [] } = resources[id] ?? {};
  const references = [...JSON.stringify(resources[id]).matchAll(/"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/g)];
  for (const other of [DependsOn, references.map(([, name]) => `${name}`)].flat())
    if (!known.has(other) && resources[other] !== undefined) waitsFor(other, known.add(other));
  return known;
}

describe('a stack with managed keys', () => {
  it('has a secret without a value for each such pool', () => {
    const secrets = ofType('AWS::SecretsManager::Secret');
    expect(secrets.map(({ Properties }) => Object.keys(Properties).sort())).toEqual([
      ['Description', 'Tags'],
      ['Description', 'Tags'],
    ]);
    const tags = secrets.map(({ Properties }) => Properties.Tags);
    expect(
      tags.map((list) => list.find(({ Key }: { Key: string }) => Key === 'coder-autoscaler:pool').Value),
    ).toEqual(['default', 'gpu']);
  });

  it('gives tasks the field of that secret, and the role of the tasks may read it', () => {
    const [secret] = idsOf(template, 'AWS::SecretsManager::Secret').filter((id) => nameOf(id) === 'gpu');
    const [container] = taskOf(template, 'gpu').ContainerDefinitions;
    expect(container.Secrets).toEqual([
      { Name: 'CODER_PROVISIONER_DAEMON_KEY', ValueFrom: { 'Fn::Join': ['', [{ Ref: secret }, ':key::']] } },
    ]);
    const role = taskOf(template, 'gpu').ExecutionRoleArn['Fn::GetAtt'][0];
    expect(JSON.stringify(statementsOf(template, role))).toContain(`{"Ref":"${secret}"}`);
  });

  it('describes the key of each pool to the key function, and nothing secret', () => {
    const [, gpu] = ofType(KEY);
    expect(gpu?.Properties).toEqual({
      ServiceToken: expect.anything(),
      Pool: 'gpu',
      Organization: 'ml',
      Tags: '{"gpu":"true","size":"large"}',
      SecretArn: expect.anything(),
      // so that another coderd gives the pool a key before its tasks connect
      CoderUrl: MANAGED_KEYS.coder.url,
    });
  });

  it('starts a service after its secret has a value', () => {
    for (const pool of ['default', 'gpu']) {
      const [key] = idsOf(template, KEY).filter((id) => nameOf(id) === pool);
      expect(serviceOf(template, pool).DependsOn).toContain(key);
    }
    expect(JSON.stringify(serviceOf(template, 'cpu').DependsOn)).not.toContain('AutoscalerKeys');
  });

  it('deletes a key while the function still has its permissions and its route to coderd', () => {
    const types = ['AWS::IAM::Policy', 'AWS::EC2::Route', 'AWS::EC2::NatGateway', 'AWS::Lambda::Function'];
    const needed = Object.entries(resources)
      .filter(
        ([id, { Type }]) => types.includes(Type) && (id.includes('Keys') || Type.startsWith('AWS::EC2')),
      )
      .map(([id]) => id);
    // the only NAT gateway is in the first public subnet
    const used = needed.filter((id) => !id.includes('PublicSubnet2'));
    expect(used.length).toBeGreaterThanOrEqual(6);
    for (const id of idsOf(template, KEY)) expect([...waitsFor(id)]).toEqual(expect.arrayContaining(used));
  });

  it('rotates each key by the settings, not on each deployment, and once it has a value', () => {
    const rotations = Object.entries(template.findResources('AWS::SecretsManager::RotationSchedule'));
    expect(rotations).toHaveLength(2);
    for (const [id, { Properties, DependsOn }] of rotations) {
      expect(Properties.RotationRules).toEqual({ AutomaticallyAfterDays: 60 });
      expect(Properties.RotateImmediatelyOnUpdate).toBe(false);
      const [key] = idsOf(template, KEY).filter((other) => nameOf(other) === nameOf(id));
      expect(DependsOn).toContain(key);
    }
  });

  it('sweeps every 15 minutes', () => {
    expect(ofType('AWS::Events::Rule').map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({
        ScheduleExpression: 'rate(15 minutes)',
        Targets: [expect.objectContaining({ Input: '{"sweep":true}' })],
      }),
    ]);
  });

  it('lets only the key function write, and only secrets with the tag of this stack', () => {
    const writing = ofType('AWS::IAM::Policy').filter(({ Properties }) =>
      JSON.stringify(Properties.PolicyDocument).includes('secretsmanager:PutSecretValue'),
    );
    expect(writing).toHaveLength(1);
    const [statement] = (writing[0]?.Properties.PolicyDocument.Statement ?? []).filter(
      ({ Action }: { Action: string | string[] }) => Action.includes('secretsmanager:PutSecretValue'),
    );
    expect(JSON.stringify(statement.Resource)).toContain(':secret:*');
    expect(statement.Condition).toEqual({
      StringEquals: { 'aws:ResourceTag/coder-autoscaler:stack': 'Test' },
    });
    for (const { Properties } of ofType('AWS::SecretsManager::Secret'))
      expect(Properties.Tags).toContainEqual({ Key: 'coder-autoscaler:stack', Value: 'Test' });
    expect(JSON.stringify(writing)).toContain('coder/key-manager-token');
  });

  it('lets the key function call exactly what its adapters call', () => {
    const [role] = idsOf(template, 'AWS::IAM::Role').filter((id) => id.includes('KeysFunctionRole'));
    const actions = statementsOf(template, role ?? '').flatMap((statement) => {
      const { Action, Effect } = statement as { Action: string | string[]; Effect: string };
      return Effect === 'Allow' ? [Action].flat() : [];
    });
    const called = callsIn('lambda/keys/adapters/secrets-manager.ts', 'secretsmanager');
    expect(called).toHaveLength(6);
    const ecs = ['DescribeServices', 'DescribeTasks', 'ListServices', 'ListTasks'];
    const own = actions.filter((action) => /^(?:secretsmanager|ecs):/.test(action));
    expect(new Set(own)).toEqual(new Set([...called, ...ecs.map((action) => `ecs:${action}`)]));
  });

  it('gives the token of the key function to no other role', () => {
    const readers = ofType('AWS::IAM::Policy').filter((policy) =>
      JSON.stringify(policy).includes('key-manager-token'),
    );
    expect(readers).toHaveLength(1);
  });

  it('lets an operator start rotations of exactly these secrets', () => {
    const { stack, autoscaler } = deploy(MANAGED_KEYS);
    const role = new Role(stack, 'Operator', { assumedBy: new AccountPrincipal('123456789012') });
    autoscaler.grantRotateKeys(role).assertSuccess();
    const statements = statementsFor(stack, role);
    const allowing = (action: string) => statements.find(({ Action }) => Action.includes(action));
    expect(actionsIn(statements)).toEqual([
      'cloudformation:DescribeStacks',
      'ecs:DescribeServices',
      'ecs:ListServices',
      'lambda:InvokeFunction',
      'secretsmanager:DescribeSecret',
      'secretsmanager:ListSecrets',
      'secretsmanager:RotateSecret',
    ]);
    const rotating = allowing('secretsmanager:RotateSecret');
    expect(JSON.stringify(rotating?.Resource).match(/Ref/g)).toHaveLength(2);
    // an event of their own could delete keys
    expect(allowing('lambda:InvokeFunction')?.Condition).toEqual({ Bool: { 'aws:ViaAWSService': 'true' } });
  });
});

/** The last pool with a managed key is gone. */
const WITHOUT_POOLS = { ...MINIMAL, managedKeys: MANAGED_KEYS.managedKeys };

describe('a stack whose last pool with a managed key is gone', () => {
  it('keeps the key function and its sweep while the section managedKeys is there', () => {
    const left = synthesize(WITHOUT_POOLS);
    left.resourceCountIs(KEY, 0);
    left.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(15 minutes)' });
    const before = idsOf(template, 'AWS::Lambda::Function').filter((id) => id.includes('Keys'));
    const after = idsOf(left, 'AWS::Lambda::Function').filter((id) => id.includes('Keys'));
    expect(after).toEqual(before);
  });
});

describe('a stack without managed keys', () => {
  it.each([{ settings: MINIMAL }, { settings: EVERYTHING }])('has nothing of them', ({ settings }) => {
    const text = JSON.stringify(synthesize(settings).toJSON().Resources);
    expect(text).not.toMatch(/AWS::SecretsManager|Custom::|AWS::Events::Rule/);
  });

  it.each([
    { name: 'of its last pool', settings: WITHOUT_POOLS },
    { name: 'at all', settings: MINIMAL },
  ])('refuses to grant rotations if it has none $name', ({ settings }) => {
    const { stack, autoscaler } = deploy(settings);
    const role = new Role(stack, 'Operator', { assumedBy: new AccountPrincipal('123456789012') });
    expect(() => autoscaler.grantRotateKeys(role)).toThrow('no pool has "key: managed"');
  });
});

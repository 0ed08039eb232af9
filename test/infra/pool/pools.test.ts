/** The service of a pool, its task and its two roles. */
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  cpu,
  deployment,
  EVERYTHING,
  gpu,
  type PoolSettings,
  synthesize,
} from '../support/synthesized.ts';
import {
  containerOf,
  idsOf,
  resourcesOf,
  roleOf,
  serviceOf,
  statementsOf,
  taskOf,
} from '../support/template-parts.ts';

const template = synthesize(deployment([cpu, gpu]));
const withPool = (pool: Partial<PoolSettings>) => synthesize(deployment([{ ...cpu, ...pool }]));

const arn = (...parts: unknown[]): object => ({
  'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ...parts]],
});
const region = { Ref: 'AWS::Region' };
const account = { Ref: 'AWS::AccountId' };
const secretByName = (name: string): object =>
  arn(':secretsmanager:', region, ':', account, `:secret:${name}`);
const [cluster] = idsOf(template, 'AWS::ECS::Cluster');
const protectTasks = {
  Effect: 'Allow',
  Action: ['ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
  Resource: arn(':ecs:', region, ':', account, ':task/', { Ref: cluster }, '/*'),
};

describe('the service of a pool', () => {
  it('sets neither count nor name, so no deployment resets or replaces it', () => {
    for (const each of [template, synthesize(EVERYTHING)])
      each.allResourcesProperties('AWS::ECS::Service', {
        DesiredCount: Match.absent(),
        ServiceName: Match.absent(),
        LaunchType: Match.absent(),
        DeploymentController: Match.absent(),
      });
  });

  it('waits for old builds, unless earlySuccess ends a deployment with the first healthy task', () => {
    template.allResourcesProperties('AWS::ECS::Service', {
      DeploymentConfiguration: { EarlySuccessCriteria: Match.absent() },
    });
    synthesize(deployment([cpu, gpu], { earlySuccess: true })).allResourcesProperties('AWS::ECS::Service', {
      DeploymentConfiguration: {
        MinimumHealthyPercent: 0,
        MaximumPercent: 100,
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
        EarlySuccessCriteria: {
          Enable: true,
          HealthyPercent: 1,
          SourceServiceRevisionCleanup: 'DEFERRED',
        },
      },
    });
  });

  it.each<{ pool: Partial<PoolSettings>; expected: object[]; because: string }>([
    {
      pool: {},
      expected: [{ CapacityProvider: 'FARGATE', Weight: 1 }],
      because: 'a change of the launch type would replace the service',
    },
    {
      pool: { spot: true },
      expected: [{ CapacityProvider: 'FARGATE_SPOT', Weight: 1 }],
      because: 'AWS may reclaim all its tasks',
    },
  ])('runs on $expected with the settings $pool: $because', ({ pool, expected }) => {
    expect(serviceOf(withPool(pool), 'cpu').Properties.CapacityProviderStrategy).toEqual(expected);
  });
});

describe('the task of a pool', () => {
  it('stays below the 64 KiB of a task definition with 100 variables and 50 secrets', () => {
    const variables = Array.from({ length: 100 }, (_, i) => [`VARIABLE_${i}`, 'x'.repeat(300)]);
    const secrets = Array.from({ length: 50 }, (_, i) => [`SECRET_${i}`, { secret: 'x'.repeat(100) }]);
    const large = withPool({
      environment: Object.fromEntries(variables),
      secrets: Object.fromEntries(secrets),
    });
    const bytes = Buffer.byteLength(
      JSON.stringify([taskOf(large, 'cpu'), containerOf(large, 'cpu').EntryPoint]),
    );
    expect(bytes).toBeGreaterThan(100 * 300);
    expect(bytes).toBeLessThan(64 * 1024);
  });

  const credential = { secret: 'coder/credential', jsonKey: 'value' };
  const OWNER = '7d9bd02c-0d1c-4b0b-8d4c-0b0a7d4f6a11';

  it.each<{ way: string; pool: Partial<PoolSettings>; variable: string; plain: Record<string, string> }>([
    {
      way: 'a pre-shared key',
      pool: { psk: credential, tags: { gpu: 'true', note: 'a,b' } },
      variable: 'CODER_PROVISIONER_DAEMON_PSK',
      plain: { CODER_PROVISIONERD_TAGS: 'gpu=true,"note=a,b"' },
    },
    {
      way: 'a token',
      pool: { token: credential, tags: {} },
      variable: 'CODER_SESSION_TOKEN',
      plain: { CODER_ORGANIZATION: 'default' },
    },
    {
      way: 'a token for the jobs of one user',
      pool: { token: credential, tags: { scope: 'user', owner: OWNER, gpu: 'true' } },
      variable: 'CODER_SESSION_TOKEN',
      plain: { CODER_ORGANIZATION: 'default', CODER_PROVISIONERD_TAGS: 'gpu=true,scope=user' },
    },
  ])('with $way gets the tags of its pool and never the owner', ({ pool, variable, plain }) => {
    const container = containerOf(withPool({ key: undefined, secrets: {}, environment: {}, ...pool }), 'cpu');
    const variables = { ...plain, CODER_URL: 'https://coder.example.com', AUTOSCALER_POOL: 'cpu' };
    expect(container).toMatchObject({
      Secrets: [{ Name: variable, ValueFrom: secretByName('coder/credential:value::') }],
      Environment: Object.entries(variables).map(([Name, Value]) => ({ Name, Value })),
    });
  });
});

describe('the task role', () => {
  describe('bound to its pool', () => {
    const granted = { policies: ['arn:aws:iam::aws:policy/ReadOnlyAccess'] };
    const settings = [
      { ...cpu, taskRole: granted },
      { ...gpu, taskRole: { arn: `arn:aws:iam::${ACCOUNT}:role/terraform/gpu` } },
    ];
    const unbound = synthesize(deployment(settings));
    const bound = synthesize(deployment(settings, { bindTaskRoles: true }));
    const roleBefore = roleOf(taskOf(unbound, 'cpu').TaskRoleArn);
    const roleNow = roleOf(taskOf(bound, 'cpu').TaskRoleArn);

    it('can change the protection of tasks with the tags of its pool and stack only', () => {
      const { Policies, ManagedPolicyArns } = resourcesOf(bound)[roleNow]?.Properties ?? {};
      const { Resource } = protectTasks;
      expect(Policies).toMatchObject([
        {
          PolicyDocument: {
            Statement: [
              { Action: 'ecs:GetTaskProtection', Resource },
              {
                Action: 'ecs:UpdateTaskProtection',
                Resource,
                Condition: {
                  StringEquals: Object.fromEntries(
                    taskOf(bound, 'cpu').Tags.map(({ Key, Value }: { Key: string; Value: string }) => [
                      `aws:ResourceTag/${Key}`,
                      Value,
                    ]),
                  ),
                },
              },
            ],
          },
        },
      ]);
      expect(ManagedPolicyArns).toEqual(granted.policies);
    });

    it('is a new role, while old tasks keep their unchanged role', () => {
      expect(roleNow).not.toBe(roleBefore);
      expect(resourcesOf(bound)[roleBefore]).toEqual(resourcesOf(unbound)[roleBefore]);
      expect(statementsOf(bound, roleBefore)).toEqual(statementsOf(unbound, roleBefore));
    });

    it('is retained after its removal from the template, because tasks may still use it', () => {
      expect(resourcesOf(bound)[roleNow]?.DeletionPolicy).toBe('Retain');
      expect(JSON.stringify(bound.findResources('AWS::IAM::Policy'))).not.toContain(roleNow);
    });

    it('of one pool only, where the pool says so and the deployment does not', () => {
      const one = synthesize(deployment([{ ...cpu, taskRole: granted, bindTaskRole: true }, gpu]));
      expect(roleOf(taskOf(one, 'cpu').TaskRoleArn)).toBe(roleNow);
      expect(roleOf(taskOf(one, 'gpu').TaskRoleArn)).not.toContain('Bound');
    });

    it('does not change an existing role when it is bound', () => {
      expect(taskOf(bound, 'gpu').TaskRoleArn).toBe(taskOf(unbound, 'gpu').TaskRoleArn);
    });
  });
});

describe('the execution role', () => {
  it("can pull GuardDuty's agent if the configuration says so", () => {
    const watched = synthesize(deployment([cpu], { guardDuty: true }));
    const statements = statementsOf(watched, roleOf(taskOf(watched, 'cpu').ExecutionRoleArn));
    expect(statements.slice(3)).toEqual([
      { Effect: 'Allow', Action: 'ecr:GetAuthorizationToken', Resource: '*' },
      {
        Effect: 'Allow',
        Action: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
        Resource: arn(':ecr:', region, ':*:repository/aws-guardduty-agent-fargate'),
      },
    ]);
  });
});

describe('the permission to pull an image', () => {
  const repositoryOf = (image: string): string | undefined => {
    const pulling = withPool({ image });
    const text = JSON.stringify(statementsOf(pulling, roleOf(taskOf(pulling, 'cpu').ExecutionRoleArn)));
    return /:ecr:([^"]*)"/.exec(text)?.[1];
  };

  it.each([
    {
      image: '123456789012.dkr.ecr.eu-central-1.amazonaws.com/coder/base:v2',
      of: 'eu-central-1:123456789012:repository/coder/base',
    },
    {
      image: '123456789012.dkr.ecr.eu-central-1.amazonaws.com/coder@sha256:0a1b',
      of: 'eu-central-1:123456789012:repository/coder',
    },
    {
      image: '123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com/coder',
      of: 'us-gov-west-1:123456789012:repository/coder',
    },
    {
      image: '123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/coder:v2',
      of: 'cn-north-1:123456789012:repository/coder',
    },
    { image: 'proxy.example.com/123456789012.dkr.ecr.eu-central-1.amazonaws.com/coder:v2', of: undefined },
    { image: 'public.ecr.aws/acme/coder:v2', of: undefined },
    { image: 'ghcr.io/coder/coder:v2', of: undefined },
  ])('of $image is that for $of', ({ image, of }) => {
    expect(repositoryOf(image)).toBe(of);
  });
});

it.each([
  { variables: 39, secrets: 39, listed: 40 },
  { variables: 60, secrets: 39, listed: 40 },
  { variables: 40, secrets: 40, listed: 1 },
])('names each secret of the pools once, or all of the account: $listed for $secrets', (row) => {
  const secrets = Object.fromEntries(
    Array.from({ length: row.variables }, (_, index) => [`S${index}`, { secret: `s${index % row.secrets}` }]),
  );
  const many = synthesize(deployment([{ ...cpu, secrets }]));
  const policies = Object.values(resourcesOf(many)).filter(({ Type }) => Type === 'AWS::IAM::Policy');
  const [resources] = policies
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .filter(({ Action }) => Action === 'secretsmanager:ListSecretVersionIds')
    .map(({ Resource }) => [Resource].flat());
  expect(resources).toHaveLength(row.listed);
});

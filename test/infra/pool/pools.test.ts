/** The service of a pool, its task and its two roles. */
import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  arnOf,
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
const everything = synthesize(EVERYTHING);
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
  it('exists once for each pool and has its tag', () => {
    template.resourceCountIs('AWS::ECS::Service', 2);
    for (const pool of ['cpu', 'gpu']) expect(serviceOf(template, pool).Type).toBe('AWS::ECS::Service');
  });

  it('has tags for pool, organization, scaleIn, log group and stack, which only the task has too', () => {
    const logGroup = template.toJSON().Outputs.LogGroupName.Value;
    expect(serviceOf(template, 'cpu').Properties.Tags).toEqual([
      { Key: 'coder-autoscaler:log-group', Value: logGroup },
      { Key: 'coder-autoscaler:organization', Value: 'default' },
      { Key: 'coder-autoscaler:pool', Value: 'cpu' },
      { Key: 'coder-autoscaler:scale-in', Value: 'lease' },
      { Key: 'coder-autoscaler:stack', Value: 'Test' },
    ]);
    // tasks get the tags of their definition
    expect(taskOf(template, 'cpu').Tags).toEqual([
      { Key: 'coder-autoscaler:pool', Value: 'cpu' },
      { Key: 'coder-autoscaler:stack', Value: 'Test' },
    ]);
    template.allResourcesProperties('AWS::ECS::Service', { PropagateTags: 'TASK_DEFINITION' });
    const tagged = Object.values(resourcesOf(template)).filter(({ Properties }) =>
      JSON.stringify(Properties?.Tags ?? '').includes('coder-autoscaler:'),
    );
    expect(new Set(tagged.map(({ Type }) => Type))).toEqual(
      new Set(['AWS::ECS::Service', 'AWS::ECS::TaskDefinition']),
    );
  });

  it('sets neither count nor name, so no deployment resets or replaces it', () => {
    for (const each of [template, everything])
      each.allResourcesProperties('AWS::ECS::Service', {
        DesiredCount: Match.absent(),
        ServiceName: Match.absent(),
        LaunchType: Match.absent(),
        DeploymentController: Match.absent(),
      });
  });

  it('stops old tasks before it starts new ones, and does not rebalance zones', () => {
    template.allResourcesProperties('AWS::ECS::Service', {
      AvailabilityZoneRebalancing: 'DISABLED',
      DeploymentConfiguration: {
        MinimumHealthyPercent: 0,
        MaximumPercent: 100,
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      },
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
    {
      pool: { spot: true, spotBase: 2 },
      expected: [
        { CapacityProvider: 'FARGATE', Base: 2, Weight: 0 },
        { CapacityProvider: 'FARGATE_SPOT', Weight: 1 },
      ],
      because: 'AWS does not reclaim the first two tasks, and only these cost the full price',
    },
  ])('runs on $expected with the settings $pool: $because', ({ pool, expected }) => {
    expect(serviceOf(withPool(pool), 'cpu').Properties.CapacityProviderStrategy).toEqual(expected);
  });

  it.each([
    {
      type: 'AWS::ECS::ClusterCapacityProviderAssociations',
      because: 'ECS refuses an unknown capacity provider',
    },
    { type: 'AWS::EC2::Route', because: 'the first task pulls its image through the NAT gateway' },
    { type: 'AWS::EC2::VPCEndpoint', because: 'the first task pulls its image through the endpoints' },
    { type: 'AWS::IAM::Policy', because: 'the first task reads its secrets' },
  ])('is created after $type: $because', ({ type }) => {
    const resources = new Set(idsOf(everything, type));
    for (const pool of ['cpu', 'gpu', 'old']) {
      const needed = serviceOf(everything, pool).DependsOn?.filter(
        (id: string) => resources.has(id) && !id.includes('TaskRole'),
      );
      expect(needed).not.toEqual([]);
    }
  });

  it('is in private subnets without ingress', () => {
    const subnets = template.findResources('AWS::EC2::Subnet', {
      Properties: { MapPublicIpOnLaunch: false },
    });
    const [group, ...others] = idsOf(template, 'AWS::EC2::SecurityGroup');
    expect(Object.keys(subnets)).toHaveLength(2);
    expect(others).toEqual([]);
    template.allResourcesProperties('AWS::ECS::Service', {
      NetworkConfiguration: {
        AwsvpcConfiguration: {
          AssignPublicIp: 'DISABLED',
          Subnets: Object.keys(subnets).map((Ref) => ({ Ref })),
          SecurityGroups: [{ 'Fn::GetAtt': [group, 'GroupId'] }],
        },
      },
    });
    template.allResourcesProperties('AWS::EC2::SecurityGroup', { SecurityGroupIngress: Match.absent() });
    template.resourceCountIs('AWS::EC2::SecurityGroupIngress', 0);
  });
});

describe('the task of a pool', () => {
  it.each([
    { pool: 'cpu', Cpu: '1024', Memory: '2048', architecture: 'ARM64' },
    { pool: 'gpu', Cpu: '4096', Memory: '8192', architecture: 'X86_64' },
  ])('has the size and architecture of $pool', ({ pool, Cpu, Memory, architecture }) => {
    expect(taskOf(template, pool)).toMatchObject({
      Cpu,
      Memory,
      RuntimePlatform: { CpuArchitecture: architecture, OperatingSystemFamily: 'LINUX' },
    });
  });

  it('runs only the provisioner with the unchanged guard, an init process and 120 s to stop', () => {
    expect(taskOf(template, 'cpu').ContainerDefinitions).toHaveLength(1);
    expect(containerOf(template, 'cpu')).toMatchObject({
      Image: 'ghcr.io/coder/coder:v2.29.19',
      EntryPoint: ['sh', '-c', readFileSync('guard/guard.sh', 'utf8'), 'guard'],
      Command: ['/opt/coder', 'provisioner', 'start'],
      StopTimeout: 120,
      LinuxParameters: { InitProcessEnabled: true },
      User: '1000:1000',
    });
    expect(containerOf(template, 'cpu')).not.toHaveProperty('HealthCheck');
    expect(containerOf(template, 'cpu')).not.toHaveProperty('RestartPolicy');
  });

  it('logs without blocking, because a build is worth more than a log line', () => {
    expect(containerOf(template, 'cpu')).toMatchObject({
      LogConfiguration: {
        LogDriver: 'awslogs',
        Options: { 'awslogs-stream-prefix': 'cpu', mode: 'non-blocking' },
      },
    });
  });

  it('stays below the 64 KiB of a task definition with 100 variables and 50 secrets', () => {
    const variables = Array.from({ length: 100 }, (_, i) => [`VARIABLE_${i}`, 'x'.repeat(300)]);
    const secrets = Array.from({ length: 50 }, (_, i) => [`SECRET_${i}`, { secret: 'x'.repeat(100) }]);
    const large = withPool({
      readonlyRootFilesystem: true,
      environment: Object.fromEntries(variables),
      secrets: Object.fromEntries(secrets),
    });
    const bytes = Buffer.byteLength(
      JSON.stringify([taskOf(large, 'cpu'), containerOf(large, 'cpu').EntryPoint]),
    );
    expect(bytes).toBeGreaterThan(100 * 300);
    expect(bytes).toBeLessThan(64 * 1024);
  });

  it('has the URL of coderd, the name of its pool and the environment of its pool', () => {
    expect(containerOf(template, 'cpu').Environment).toEqual([
      { Name: 'HTTPS_PROXY', Value: 'http://proxy.internal:3128' },
      { Name: 'CODER_URL', Value: 'https://coder.example.com' },
      { Name: 'AUTOSCALER_POOL', Value: 'cpu' },
    ]);
  });

  it.each([
    {
      pool: 'cpu',
      because: 'its key is a JSON key of a secret by name, its other secret is given by ARN',
      expected: [
        { Name: 'TF_TOKEN', ValueFrom: arnOf('secretsmanager', 'secret:tf-token-AbCdEf') },
        { Name: 'CODER_PROVISIONER_DAEMON_KEY', ValueFrom: secretByName('coder/keys/cpu:value::') },
      ],
    },
    {
      pool: 'gpu',
      because: 'its key is a whole secret',
      expected: [
        { Name: 'CODER_PROVISIONER_DAEMON_KEY', ValueFrom: arnOf('secretsmanager', 'secret:coder/keys/gpu') },
      ],
    },
  ])('of $pool reads its secrets from Secrets Manager: $because', ({ pool, expected }) => {
    expect(containerOf(template, pool)).toMatchObject({ Secrets: expected });
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

  it('has the configured disk, and sets nothing for the default of 20 GiB', () => {
    expect(taskOf(everything, 'cpu').EphemeralStorage).toEqual({ SizeInGiB: 50 });
    expect(taskOf(template, 'cpu')).not.toHaveProperty('EphemeralStorage');
  });

  it('serves metrics only on the configured port', () => {
    const { Environment, ...container } = containerOf(everything, 'cpu');
    expect(container).toMatchObject({ PortMappings: [{ ContainerPort: 2112, Protocol: 'tcp' }] });
    expect(Environment).toContainEqual({ Name: 'CODER_PROMETHEUS_ENABLE', Value: 'true' });
    expect(Environment).toContainEqual({ Name: 'CODER_PROMETHEUS_ADDRESS', Value: '0.0.0.0:2112' });
    expect(JSON.stringify(taskOf(template, 'cpu'))).not.toMatch(/PROMETHEUS|PortMappings/);
  });

  it('writes to two volumes that belong to its user if its root file system is read-only', () => {
    const { ContainerDefinitions, Volumes } = taskOf(everything, 'cpu');
    const [provisioner, folders] = ContainerDefinitions;
    expect(Volumes).toEqual([{ Name: 'home' }, { Name: 'tmp' }]);
    for (const container of [provisioner, folders])
      expect(container).toMatchObject({
        ReadonlyRootFilesystem: true,
        MountPoints: [
          { SourceVolume: 'home', ContainerPath: '/home/coder', ReadOnly: false },
          { SourceVolume: 'tmp', ContainerPath: '/tmp', ReadOnly: false },
        ],
      });
    expect(provisioner.DependsOn).toEqual([{ ContainerName: 'folders', Condition: 'SUCCESS' }]);
    expect(folders).toMatchObject({
      Essential: false,
      User: '0',
      EntryPoint: ['chown'],
      Command: [provisioner.User, '/home/coder', '/tmp'],
    });
  });
});

describe('the task role', () => {
  it('can protect the tasks of this cluster and do nothing else', () => {
    for (const pool of ['cpu', 'gpu'])
      expect(statementsOf(template, roleOf(taskOf(template, pool).TaskRoleArn))).toEqual([protectTasks]);
  });

  it('has the permissions that the operator wrote for Terraform', () => {
    const role = roleOf(taskOf(everything, 'cpu').TaskRoleArn);
    expect(statementsOf(everything, role)).toMatchObject([
      { Action: protectTasks.Action },
      { Effect: 'Allow', Action: ['ec2:RunInstances', 'ec2:TerminateInstances'], Resource: '*' },
    ]);
    expect(resourcesOf(everything)[role]?.Properties.ManagedPolicyArns).toEqual([
      'arn:aws:iam::aws:policy/ReadOnlyAccess',
    ]);
  });

  describe('bound to its pool', () => {
    const granted = {
      policies: ['arn:aws:iam::aws:policy/ReadOnlyAccess'],
      statements: [{ actions: ['ec2:RunInstances'], resources: ['*'] }],
    };
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
              { Action: 'ec2:RunInstances', Resource: '*' },
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

    it('does not change an existing role when it is bound', () => {
      expect(taskOf(bound, 'gpu').TaskRoleArn).toBe(taskOf(unbound, 'gpu').TaskRoleArn);
    });
  });

  it('is not changed if it exists', () => {
    const arn = `arn:aws:iam::${ACCOUNT}:role/terraform/gpu`;
    expect(taskOf(everything, 'gpu').TaskRoleArn).toBe(arn);
    const policies = JSON.stringify(everything.findResources('AWS::IAM::Policy'));
    expect(policies).not.toContain('terraform/gpu');
  });
});

describe('the execution role', () => {
  const role = roleOf(taskOf(template, 'cpu').ExecutionRoleArn);
  const secrets = [
    // ECS asks for a secret by name without a suffix (aws/aws-cdk#18555)
    secretByName('coder/keys/cpu'),
    secretByName('coder/keys/cpu-??????'),
    arnOf('secretsmanager', 'secret:tf-token-AbCdEf'),
    arnOf('secretsmanager', 'secret:tf-token-AbCdEf-??????'),
  ];

  it('can read the secrets of its pool, write its logs and do nothing else', () => {
    const logGroup = containerLogGroup('cpu');
    expect(statementsOf(template, role)).toEqual([
      { Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource: expect.arrayContaining(secrets) },
      {
        Effect: 'Allow',
        Action: 'kms:Decrypt',
        Resource: arn(':kms:', region, ':*:key/*'),
        Condition: {
          StringEquals: {
            'kms:ViaService': [
              { 'Fn::Join': ['', ['secretsmanager.', region, '.amazonaws.com']] },
              { 'Fn::Join': ['', ['secretsmanager.', region, '.', { Ref: 'AWS::URLSuffix' }]] },
            ],
          },
          StringLike: { 'kms:EncryptionContext:SecretARN': expect.arrayContaining(secrets) },
        },
      },
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: { 'Fn::GetAtt': [logGroup, 'Arn'] },
      },
    ]);
  });

  it('is a different role for each pool', () => {
    expect(roleOf(taskOf(template, 'gpu').ExecutionRoleArn)).not.toBe(role);
  });

  it('can pull exactly the repository of its image if that is in ECR', () => {
    const statements = statementsOf(everything, roleOf(taskOf(everything, 'cpu').ExecutionRoleArn));
    expect(statements.slice(3)).toEqual([
      { Effect: 'Allow', Action: 'ecr:GetAuthorizationToken', Resource: '*' },
      {
        Effect: 'Allow',
        Action: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
        Resource: arn(`:ecr:eu-central-1:${ACCOUNT}:repository/coder/provisioner`),
      },
    ]);
  });

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

  function containerLogGroup(pool: string): string {
    return taskOf(template, pool).ContainerDefinitions[0].LogConfiguration.Options['awslogs-group'].Ref;
  }
});

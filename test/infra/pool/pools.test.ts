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
  it('exists once a pool, found by its tag', () => {
    template.resourceCountIs('AWS::ECS::Service', 2);
    for (const pool of ['cpu', 'gpu']) expect(serviceOf(template, pool).Type).toBe('AWS::ECS::Service');
  });

  it('names log group and stack of the autoscaler and the settings to drain by beside its pool, and beside the task no other resource has such tags', () => {
    const logGroup = template.toJSON().Outputs.LogGroupName.Value;
    expect(serviceOf(template, 'cpu').Properties.Tags).toEqual([
      { Key: 'coder-autoscaler:log-group', Value: logGroup },
      { Key: 'coder-autoscaler:organization', Value: 'default' },
      { Key: 'coder-autoscaler:pool', Value: 'cpu' },
      { Key: 'coder-autoscaler:scale-in', Value: 'lease' },
      { Key: 'coder-autoscaler:stack', Value: 'Test' },
    ]);
    // tasks get those of their definition
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

  it('leaves count and name alone, so that no deployment resets or replaces it', () => {
    for (const each of [template, everything])
      each.allResourcesProperties('AWS::ECS::Service', {
        DesiredCount: Match.absent(),
        ServiceName: Match.absent(),
        LaunchType: Match.absent(),
        DeploymentController: Match.absent(),
      });
  });

  it('stops old tasks before it starts new ones, and never to balance zones', () => {
    template.allResourcesProperties('AWS::ECS::Service', {
      AvailabilityZoneRebalancing: 'DISABLED',
      DeploymentConfiguration: {
        MinimumHealthyPercent: 0,
        MaximumPercent: 100,
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      },
    });
  });

  it('waits for old builds unless a deployment may succeed early, with the first healthy task', () => {
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
      because: 'a launch type could not be changed without replacing the service',
    },
    {
      pool: { spot: true },
      expected: [{ CapacityProvider: 'FARGATE_SPOT', Weight: 1 }],
      because: 'all of it may be taken back',
    },
    {
      pool: { spot: true, spotBase: 2 },
      expected: [
        { CapacityProvider: 'FARGATE', Base: 2, Weight: 0 },
        { CapacityProvider: 'FARGATE_SPOT', Weight: 1 },
      ],
      because: 'the first two are not taken back, and no more than them cost the full price',
    },
  ])('with $pool runs on $expected: $because', ({ pool, expected }) => {
    expect(serviceOf(withPool(pool), 'cpu').Properties.CapacityProviderStrategy).toEqual(expected);
  });

  it.each([
    { type: 'AWS::ECS::ClusterCapacityProviderAssociations', because: 'ECS refuses a provider it lacks' },
    { type: 'AWS::EC2::Route', because: 'the first task pulls its image through the NAT gateway' },
    { type: 'AWS::EC2::VPCEndpoint', because: 'or through the endpoints' },
    { type: 'AWS::IAM::Policy', because: 'the first task reads its secrets' },
  ])('comes after $type: $because', ({ type }) => {
    const resources = new Set(idsOf(everything, type));
    for (const pool of ['cpu', 'gpu', 'old']) {
      const needed = serviceOf(everything, pool).DependsOn?.filter(
        (id: string) => resources.has(id) && !id.includes('TaskRole'),
      );
      expect(needed).not.toEqual([]);
    }
  });

  it('lies in private subnets, and nothing can connect to it', () => {
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

  it('is one provisioner under the guard, byte for byte, with an init process and the full 120 s to stop, and no second container', () => {
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

  it('is the provisioner alone, under the name of its host, where its image has no shell', () => {
    const bare = withPool({ scaleIn: 'confirm', environment: {} });
    expect(containerOf(bare, 'cpu')).toMatchObject({
      EntryPoint: ['/opt/coder'],
      Command: ['provisioner', 'start'],
      Environment: [{ Name: 'CODER_URL', Value: 'https://coder.example.com' }],
    });
    // those of before may have a guard still
    expect(statementsOf(bare, roleOf(taskOf(bare, 'cpu').TaskRoleArn))).toEqual([protectTasks]);
  });

  it('logs without ever waiting for the log: a build is worth more than a line', () => {
    expect(containerOf(template, 'cpu')).toMatchObject({
      LogConfiguration: {
        LogDriver: 'awslogs',
        Options: { 'awslogs-stream-prefix': 'cpu', mode: 'non-blocking' },
      },
    });
  });

  it('stays below the 64 KiB of a task definition, with 100 variables and 50 secrets', () => {
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

  it('gets the URL of coderd and the name of its pool beside the environment of its pool', () => {
    expect(containerOf(template, 'cpu').Environment).toEqual([
      { Name: 'HTTPS_PROXY', Value: 'http://proxy.internal:3128' },
      { Name: 'CODER_URL', Value: 'https://coder.example.com' },
      { Name: 'AUTOSCALER_POOL', Value: 'cpu' },
    ]);
  });

  it.each([
    {
      pool: 'cpu',
      because: 'its key is a field of a secret given by name, its other secret is given by ARN',
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
  ])('of $pool reads its secrets from where they lie: $because', ({ pool, expected }) => {
    expect(containerOf(template, pool)).toMatchObject({ Secrets: expected });
  });

  it('has the disk that it asks for, and says nothing of the 20 GiB that every task has', () => {
    expect(taskOf(everything, 'cpu').EphemeralStorage).toEqual({ SizeInGiB: 50 });
    expect(taskOf(template, 'cpu')).not.toHaveProperty('EphemeralStorage');
  });

  it('serves metrics on the port that is asked for, and none otherwise', () => {
    const { Environment, ...container } = containerOf(everything, 'cpu');
    expect(container).toMatchObject({ PortMappings: [{ ContainerPort: 2112, Protocol: 'tcp' }] });
    expect(Environment).toContainEqual({ Name: 'CODER_PROMETHEUS_ENABLE', Value: 'true' });
    expect(Environment).toContainEqual({ Name: 'CODER_PROMETHEUS_ADDRESS', Value: '0.0.0.0:2112' });
    expect(JSON.stringify(taskOf(template, 'cpu'))).not.toMatch(/PROMETHEUS|PortMappings/);
  });

  it('writes to two volumes of its own where its root file system is read-only, once they have been handed to its user', () => {
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
  it('may protect the tasks of this cluster, and nothing else', () => {
    for (const pool of ['cpu', 'gpu'])
      expect(statementsOf(template, roleOf(taskOf(template, pool).TaskRoleArn))).toEqual([protectTasks]);
  });

  it('may besides do what the operator wrote for Terraform', () => {
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

    it('is a new role: tasks of before keep theirs, which does not change', () => {
      expect(roleNow).not.toBe(roleBefore);
      expect(resourcesOf(bound)[roleBefore]).toEqual(resourcesOf(unbound)[roleBefore]);
      expect(statementsOf(bound, roleBefore)).toEqual(statementsOf(unbound, roleBefore));
    });

    it('outlives its removal from the template, since tasks may still have it', () => {
      expect(resourcesOf(bound)[roleNow]?.DeletionPolicy).toBe('Retain');
      expect(JSON.stringify(bound.findResources('AWS::IAM::Policy'))).not.toContain(roleNow);
    });

    it('leaves a role alone that exists', () => {
      expect(taskOf(bound, 'gpu').TaskRoleArn).toBe(taskOf(unbound, 'gpu').TaskRoleArn);
    });
  });

  it('is left as it is where it exists', () => {
    const arn = `arn:aws:iam::${ACCOUNT}:role/terraform/gpu`;
    expect(taskOf(everything, 'gpu').TaskRoleArn).toBe(arn);
    const policies = JSON.stringify(everything.findResources('AWS::IAM::Policy'));
    expect(policies).not.toContain('terraform/gpu');
  });
});

describe('the execution role', () => {
  const role = roleOf(taskOf(template, 'cpu').ExecutionRoleArn);
  const secrets = [
    secretByName('coder/keys/cpu-??????'),
    arnOf('secretsmanager', 'secret:tf-token-AbCdEf'),
    arnOf('secretsmanager', 'secret:tf-token-AbCdEf-??????'),
  ];

  it('may read the secrets of its pool and write its logs, and nothing else', () => {
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

  it('is another one for each pool', () => {
    expect(roleOf(taskOf(template, 'gpu').ExecutionRoleArn)).not.toBe(role);
  });

  it('may pull exactly the repository of its image, where that lies in ECR', () => {
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

  function containerLogGroup(pool: string): string {
    return taskOf(template, pool).ContainerDefinitions[0].LogConfiguration.Options['awslogs-group'].Ref;
  }
});

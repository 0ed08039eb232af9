import { readFileSync } from 'node:fs';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { PoolName } from '../../lambda/core/brands.ts';
import { config, cpu, gpu, synthesize } from './synthesized.ts';

const template = synthesize(config);
const serviceOf = (pool: string): object => ({ Tags: [{ Key: 'coder-autoscaler:pool', Value: pool }] });
const arn = (...parts: unknown[]): object => ({
  'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ...parts]],
});
const region = { Ref: 'AWS::Region' };
const account = { Ref: 'AWS::AccountId' };
const clusterId = Object.keys(template.findResources('AWS::ECS::Cluster'))[0];
const ofCluster = (kind: string): object =>
  arn(':ecs:', region, ':', account, `:${kind}/`, { Ref: clusterId }, '/*');

describe('the service of a pool', () => {
  it('exists once a pool, found by its tag', () => {
    template.resourceCountIs('AWS::ECS::Service', 2);
    for (const pool of ['cpu', 'gpu']) {
      const services = template.findResources('AWS::ECS::Service', { Properties: serviceOf(pool) });
      expect(Object.keys(services)).toHaveLength(1);
    }
  });

  it('has the tag for itself: neither its tasks nor any other resource get it', () => {
    template.allResourcesProperties('AWS::ECS::Service', { PropagateTags: Match.absent() });
    const tagged = Object.values(template.toJSON().Resources as Record<string, { Type: string }>)
      .filter((resource) => JSON.stringify(resource).includes('coder-autoscaler:pool'))
      .map((resource) => resource.Type);
    expect(tagged).toEqual(['AWS::ECS::Service', 'AWS::ECS::Service']);
  });

  it('leaves count and name alone, so that no deployment resets or replaces it', () => {
    template.allResourcesProperties('AWS::ECS::Service', {
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

  it('runs on Fargate by a capacity provider, not by a launch type', () => {
    template.allResourcesProperties('AWS::ECS::Service', {
      CapacityProviderStrategy: [{ CapacityProvider: 'FARGATE', Weight: 1 }],
    });
  });

  it.each([
    { type: 'AWS::ECS::ClusterCapacityProviderAssociations', because: 'ECS refuses a provider it lacks' },
    { type: 'AWS::EC2::Route', because: 'the first task pulls its image through the NAT gateway' },
    { type: 'AWS::IAM::Policy', because: 'the first task reads its secrets' },
  ])('comes after $type: $because', ({ type }) => {
    const resources = new Set(Object.keys(template.findResources(type)));
    for (const service of Object.values(template.findResources('AWS::ECS::Service'))) {
      const dependencies: string[] = service.DependsOn;
      const needed = dependencies.filter((id) => resources.has(id) && !id.includes('TaskRole'));
      expect(needed).not.toEqual([]);
    }
  });

  it('lies in private subnets, and nothing can connect to it', () => {
    const privateSubnets = Object.keys(
      template.findResources('AWS::EC2::Subnet', { Properties: { MapPublicIpOnLaunch: false } }),
    ).map((Ref) => ({ Ref }));
    expect(privateSubnets).toHaveLength(2);
    template.allResourcesProperties('AWS::ECS::Service', {
      NetworkConfiguration: {
        AwsvpcConfiguration: { AssignPublicIp: 'DISABLED', Subnets: privateSubnets },
      },
    });
    template.allResourcesProperties('AWS::EC2::SecurityGroup', { SecurityGroupIngress: Match.absent() });
    template.resourceCountIs('AWS::EC2::SecurityGroupIngress', 0);
  });
});

describe('the task of a pool', () => {
  it.each([
    { pool: cpu, cpuArchitecture: 'ARM64' },
    { pool: gpu, cpuArchitecture: 'X86_64' },
  ])('has the size and architecture of $pool.name', ({ pool, cpuArchitecture }) => {
    template.hasResourceProperties('AWS::ECS::TaskDefinition', {
      Cpu: String(pool.cpu),
      Memory: String(pool.memory),
      RuntimePlatform: { CpuArchitecture: cpuArchitecture, OperatingSystemFamily: 'LINUX' },
      ContainerDefinitions: [Match.objectLike({ Image: pool.image })],
    });
  });

  it('is one provisioner under the guard, byte for byte, with an init process and the full 120 s to stop, and no second container', () => {
    template.allResourcesProperties('AWS::ECS::TaskDefinition', {
      ContainerDefinitions: [
        Match.objectLike({
          EntryPoint: ['sh', '-c', readFileSync('guard/guard.sh', 'utf8'), 'guard'],
          Command: ['/opt/coder', 'provisioner', 'start'],
          StopTimeout: 120,
          LinuxParameters: { InitProcessEnabled: true },
          HealthCheck: Match.absent(),
          RestartPolicy: Match.absent(),
          LogConfiguration: Match.objectLike({ LogDriver: 'awslogs' }),
        }),
      ],
    });
  });

  it.each(['confirm', 'never'] as const)(
    'is the provisioner alone, under the name of its host, where the pool scales in by "%s"',
    (scaleIn) => {
      const bare = synthesize({ ...config, pools: [{ ...gpu, scaleIn }] });
      hasContainer(
        {
          EntryPoint: ['/opt/coder'],
          Command: ['provisioner', 'start'],
          Environment: [{ Name: 'CODER_URL', Value: 'https://coder.example.com' }],
        },
        bare,
      );
      expect(taskRolesOf(bare).flatMap((role) => statementsOf(role, bare))).toEqual([]);
    },
  );

  it('stays below the 64 KiB of a task definition, with 100 variables and 50 secrets', () => {
    const variables = Array.from({ length: 100 }, (_, i) => [`VARIABLE_${i}`, 'x'.repeat(300)]);
    const secrets = Array.from({ length: 50 }, (_, i) => [`SECRET_${i}`, { secret: 'x'.repeat(100) }]);
    const large = synthesize({
      ...config,
      pools: [{ ...cpu, environment: Object.fromEntries(variables), secrets: Object.fromEntries(secrets) }],
    });
    const [definition] = Object.values(large.findResources('AWS::ECS::TaskDefinition'));
    const bytes = Buffer.byteLength(JSON.stringify(definition));
    expect(bytes).toBeGreaterThan(100 * 300);
    expect(bytes).toBeLessThan(64 * 1024);
  });

  it('gets the URL of coderd and the name of its pool beside the environment of its pool', () => {
    hasContainer({
      Environment: [
        { Name: 'HTTPS_PROXY', Value: 'http://proxy.internal:3128' },
        { Name: 'CODER_URL', Value: 'https://coder.example.com' },
        { Name: 'AUTOSCALER_POOL', Value: 'cpu' },
      ],
    });
  });

  it('reads its key from the field of a secret that is given by name, and its other secrets by ARN', () => {
    hasContainer({
      Secrets: [
        {
          Name: 'TF_TOKEN',
          ValueFrom: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:tf-token-AbCdEf',
        },
        {
          Name: 'CODER_PROVISIONER_DAEMON_KEY',
          ValueFrom: arn(':secretsmanager:', region, ':', account, ':secret:coder/keys/cpu:value::'),
        },
      ],
    });
  });

  it('reads its key whole where no field is named', () => {
    hasContainer({ Secrets: [{ Name: 'CODER_PROVISIONER_DAEMON_KEY', ValueFrom: gpu.key.secret }] });
  });

  it('may protect the tasks of this cluster, and nothing else', () => {
    const taskRoles = taskRolesOf(template);
    expect(taskRoles).toHaveLength(2);
    for (const role of taskRoles) {
      expect(statementsOf(role)).toEqual([
        {
          Effect: 'Allow',
          Action: ['ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
          Resource: ofCluster('task'),
        },
      ]);
    }
  });
});

describe('the function', () => {
  it('runs the bundle within its minute, and knows its cluster', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Handler: 'index.handler',
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      MemorySize: 512,
      Timeout: 55,
      Environment: { Variables: Match.objectLike({ AUTOSCALER_CLUSTER: { Ref: clusterId } }) },
      VpcConfig: Match.objectLike({ SubnetIds: Match.anyValue() }),
    });
  });

  it('is scheduled every minute, and a tick that fails or is late is not repeated', () => {
    template.resourceCountIs('AWS::Scheduler::Schedule', 1);
    template.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: Match.objectLike({
        Input: '{"tick":true}',
        RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
      }),
    });
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    });
  });

  it('may do exactly what a tick needs', () => {
    expect(statementsOf(functionRole())).toEqual([
      {
        Effect: 'Allow',
        Action: ['ecs:ListServices', 'ecs:ListTasks'],
        Resource: '*',
        Condition: { ArnEquals: { 'ecs:cluster': { 'Fn::GetAtt': [clusterId, 'Arn'] } } },
      },
      {
        Effect: 'Allow',
        Action: ['ecs:DescribeServices', 'ecs:UpdateService'],
        Resource: ofCluster('service'),
      },
      {
        Effect: 'Allow',
        Action: ['ecs:DescribeTasks', 'ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
        Resource: ofCluster('task'),
      },
      {
        Effect: 'Allow',
        Action: 'secretsmanager:GetSecretValue',
        Resource: arn(':secretsmanager:', region, ':', account, ':secret:coder/autoscaler-token-??????'),
      },
    ]);
  });

  it.each([
    {
      because: 'it may be complete, or a name that ends so',
      secret: 'coder/token-AbCdEf',
      expected: ['coder/token-AbCdEf', 'coder/token-AbCdEf-??????'],
    },
    { because: 'AWS appends six characters', secret: 'coder/token', expected: ['coder/token-??????'] },
  ])('reads the token given by ARN "$secret": $because', ({ secret, expected }) => {
    const prefix = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:';
    const byArn = synthesize({ ...config, coder: { ...config.coder, token: { secret: prefix + secret } } });
    const arns = expected.map((name) => prefix + name);
    byArn.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          {
            Effect: 'Allow',
            Action: 'secretsmanager:GetSecretValue',
            Resource: arns.length === 1 ? arns[0] : arns,
          },
        ]),
      },
    });
  });

  it('is named in the outputs, with its cluster', () => {
    template.hasOutput('ClusterName', { Value: { Ref: clusterId } });
    template.hasOutput('FunctionName', {});
  });
});

describe('the stack', () => {
  it('lets nobody start or stop a task', () => {
    expect(JSON.stringify(template.toJSON())).not.toMatch(/ecs:(StopTask|RunTask|StartTask|\*)/);
  });

  it('keeps all logs for a limited time', () => {
    template.resourceCountIs('AWS::Logs::LogGroup', 3);
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
  });

  it('refers to secrets, and neither makes nor resolves one', () => {
    template.resourceCountIs('AWS::SecretsManager::Secret', 0);
    expect(JSON.stringify(template.toJSON())).not.toContain('{{resolve:');
  });

  it('gives pools of nearly the same name a service each', () => {
    const names = ['a-b', 'ab', 'a-b-'].map((name) => name as PoolName);
    const similar = synthesize({ ...config, pools: names.map((name) => ({ ...cpu, name })) });
    similar.resourceCountIs('AWS::ECS::Service', 3);
  });
});

type TaskDefinition = {
  readonly Properties: { readonly TaskRoleArn: { readonly 'Fn::GetAtt': [string, string] } };
};
type Policy = {
  readonly Properties: {
    readonly Roles: readonly { readonly Ref: string }[];
    readonly PolicyDocument: { readonly Statement: readonly unknown[] };
  };
};

function hasContainer(container: object, of = template): void {
  of.hasResourceProperties('AWS::ECS::TaskDefinition', {
    ContainerDefinitions: [Match.objectLike(container)],
  });
}

function functionRole(): string {
  const functions = template.findResources('AWS::Lambda::Function', {
    Properties: { Handler: 'index.handler' },
  });
  const role = Object.values(functions)[0]?.Properties.Role['Fn::GetAtt'][0];
  return String(role);
}

function taskRolesOf(of: Template): string[] {
  const definitions = of.findResources('AWS::ECS::TaskDefinition') as Record<string, TaskDefinition>;
  return Object.values(definitions).map(({ Properties }) => Properties.TaskRoleArn['Fn::GetAtt'][0]);
}

function statementsOf(role: string, of = template): unknown[] {
  const policies = Object.values(of.findResources('AWS::IAM::Policy') as Record<string, Policy>);
  return policies
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }) => Ref === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
}

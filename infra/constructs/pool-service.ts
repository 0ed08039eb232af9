import { readFileSync } from 'node:fs';
import { Duration, Tags } from 'aws-cdk-lib';
import { type IVpc, SubnetType } from 'aws-cdk-lib/aws-ec2';
import {
  AvailabilityZoneRebalancing,
  type Cluster,
  ContainerImage,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  LinuxParameters,
  LogDrivers,
  OperatingSystemFamily,
  Secret,
} from 'aws-cdk-lib/aws-ecs';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Architecture, Config, PoolConfig, SecretRef } from '../../lambda/core/config.ts';
import { POOL_TAG } from '../../lambda/core/supply.ts';
import { importSecret } from './imported-secret.ts';

export type PoolServiceProps = {
  readonly vpc: IVpc;
  readonly cluster: Cluster;
  readonly coderUrl: Config['coder']['url'];
  readonly pool: PoolConfig;
};

/** One pool: a task definition that holds one provisioner daemon, and the ECS service that the autoscaler sizes. */
export class PoolService extends Construct {
  readonly service: FargateService;

  constructor(scope: Construct, id: string, props: PoolServiceProps) {
    super(scope, id);
    const { vpc, cluster } = props;
    const subnets = vpc.selectSubnets({ subnetType: SubnetType.PRIVATE_WITH_EGRESS });
    const taskDefinition = defineTask(this, props);
    this.service = new FargateService(this, 'Service', {
      cluster,
      taskDefinition,
      // no desiredCount: the count is the autoscaler's, and CloudFormation would set it back on each update;
      // no serviceName and no launchType: to change them would replace the service (aws-facts §7)
      capacityProviderStrategies: [
        { capacityProvider: props.pool.spot ? 'FARGATE_SPOT' : 'FARGATE', weight: 1 },
      ],
      // old tasks leave before new ones come: with both at once the counts run away (design, "The lease")
      minHealthyPercent: 0,
      maxHealthyPercent: 100,
      // it stops tasks, and is on unless switched off (aws-facts §1)
      availabilityZoneRebalancing: AvailabilityZoneRebalancing.DISABLED,
      circuitBreaker: { rollback: true },
      vpcSubnets: subnets,
    });
    // the first task starts with the service: by then the cluster must have the capacity provider, the task
    // a way to the registry and the permission to read its secrets, or the circuit breaker trips
    this.service.node.addDependency(
      cluster,
      subnets.internetConnectivityEstablished,
      taskDefinition.obtainExecutionRole(),
    );
    Tags.of(this.service).add(POOL_TAG, props.pool.name, { includeResourceTypes: ['AWS::ECS::Service'] });
  }
}

function defineTask(scope: Construct, { cluster, coderUrl, pool }: PoolServiceProps): FargateTaskDefinition {
  const definition = new FargateTaskDefinition(scope, 'Task', {
    cpu: pool.cpu,
    memoryLimitMiB: pool.memory,
    runtimePlatform: {
      cpuArchitecture: cpuArchitectures[pool.architecture],
      operatingSystemFamily: OperatingSystemFamily.LINUX,
    },
  });
  if (pool.scaleIn === 'lease') {
    definition.addToTaskRolePolicy(
      new PolicyStatement({
        // a task guards itself against scale-in while it may hold a job
        actions: ['ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
        resources: [cluster.arnForTasks('*')],
      }),
    );
  }
  definition.addContainer('provisioner', {
    image: ContainerImage.fromRegistry(pool.image),
    ...daemonCommand(pool),
    environment: containerEnvironment(pool, coderUrl),
    secrets: containerSecrets(scope, { ...pool.secrets, CODER_PROVISIONER_DAEMON_KEY: pool.key }),
    // the longest that Fargate grants between SIGTERM and SIGKILL (aws-facts §2)
    stopTimeout: Duration.seconds(120),
    linuxParameters: new LinuxParameters(scope, 'LinuxParameters', { initProcessEnabled: true }),
    logging: LogDrivers.awsLogs({
      streamPrefix: pool.name,
      logGroup: new LogGroup(scope, 'Logs', { retention: RetentionDays.ONE_MONTH }),
    }),
  });
  return definition;
}

/** The guard travels as text: a changed one is a new revision of the task definition. */
const guard = readFileSync(new URL('../../guard/guard.sh', import.meta.url), 'utf8');

function daemonCommand({ scaleIn }: PoolConfig): {
  readonly entryPoint: string[];
  readonly command: string[];
} {
  // the image's own entry point is `/opt/coder server` (contract §6)
  if (scaleIn !== 'lease') return { entryPoint: ['/opt/coder'], command: ['provisioner', 'start'] };
  return { entryPoint: ['sh', '-c', guard, 'guard'], command: ['/opt/coder', 'provisioner', 'start'] };
}

function containerEnvironment(
  { name, scaleIn, environment }: PoolConfig,
  coderUrl: string,
): Record<string, string> {
  const all = { ...environment, CODER_URL: coderUrl };
  // the guard names the daemon after pool and task; without a guard it has the name of its host
  return scaleIn === 'lease' ? { ...all, AUTOSCALER_POOL: name } : all;
}

const cpuArchitectures: Readonly<Record<Architecture, CpuArchitecture>> = {
  arm64: CpuArchitecture.ARM64,
  x86_64: CpuArchitecture.X86_64,
};

function containerSecrets(
  scope: Construct,
  refs: Readonly<Record<string, SecretRef>>,
): Record<string, Secret> {
  const secrets = Object.entries(refs).map(([name, ref]): [string, Secret] => [
    name,
    Secret.fromSecretsManager(importSecret(scope, `Secret-${name}`, ref), ref.jsonKey),
  ]);
  return Object.fromEntries(secrets);
}

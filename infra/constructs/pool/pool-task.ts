import { Aws, Duration, Size, Tags } from 'aws-cdk-lib';
import {
  AwsLogDriverMode,
  CfnTaskDefinition,
  ContainerImage,
  CpuArchitecture,
  FargateTaskDefinition,
  type ICluster,
  LinuxParameters,
  type LogDriver,
  LogDrivers,
  OperatingSystemFamily,
  Secret,
} from 'aws-cdk-lib/aws-ecs';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import { poolOfPart } from '../../../lambda/decision/model/brands.ts';
import type { Architecture } from '../../../lambda/decision/model/config.ts';
import { isPlain } from '../plain/plain-stack.ts';
import { acknowledge } from '../shared/nag.ts';
import { importSecret, KEY_FIELD, type ManagedKey } from '../shared/secrets.ts';
import { CA_BUNDLE_VARIABLE, credential, DAEMON_KEY, daemonVariables, trusting } from './daemon-variables.ts';
import { executionRole, taskRole, taskTags } from './pool-roles.ts';

export type PoolTaskProps = {
  readonly cluster: ICluster;
  readonly coderUrl: string;
  readonly pool: DeployedPool;
  /** Of a pool with `key: managed`: the key function fills its secret. */
  readonly managedKey: ManagedKey | undefined;
  /** The text of guard.sh. */
  readonly guard: string;
  /** PEM text of CA certificates that the tasks trust for coderd, in addition to those of the image. */
  readonly caBundle?: string | undefined;
  readonly logGroup: ILogGroup;
  /** The task role of the pool's other part. @default a role of its own */
  readonly taskRole?: IRole;
  /** Whether the execution role may pull GuardDuty's agent. */
  readonly guardDuty: boolean;
};

/** The task definition of a pool: one provisioner daemon, which the guard runs. */
export class PoolTask extends Construct {
  readonly definition: FargateTaskDefinition;
  /** The role with its permissions. The service has to wait for it. */
  readonly executionRole: IRole;

  constructor(scope: Construct, id: string, props: PoolTaskProps) {
    super(scope, id);
    const { cluster, pool } = props;
    const secrets = secretsOf(this, props);
    const role = executionRole(this, { ...props, secrets: secrets.map(({ secret }) => secret) });
    this.executionRole = role;
    this.definition = new FargateTaskDefinition(this, 'Definition', {
      family: isPlain(this) ? `${Aws.STACK_NAME}-${pool.name.replace('/', '_')}` : undefined,
      cpu: pool.cpu,
      memoryLimitMiB: pool.memory,
      // Every task has 20 GiB, and Fargate accepts only larger values.
      ephemeralStorageGiB: pool.ephemeralStorage > 20 ? pool.ephemeralStorage : undefined,
      runtimePlatform: {
        cpuArchitecture: cpuArchitectures[pool.architecture],
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
      taskRole: props.taskRole ?? taskRole(this, { cluster, pool, isBound: pool.bindTaskRole === true }),
      // The role has exactly the permissions that it needs. CDK would add more.
      executionRole: role.withoutPolicyUpdates(),
    });
    acknowledgeFindings(this.definition);
    if (pool.instances) allowInstances(this.definition);
    for (const [tag, value] of Object.entries(taskTags(this, poolOfPart(pool.name))))
      Tags.of(this.definition).add(tag, value, { includeResourceTypes: ['AWS::ECS::TaskDefinition'] });
    addProvisioner(this, props, secrets);
  }
}

/**
 * Without this list ECS checks the definition against no launch type. CDK always has one, and the
 * name of a provider does not tell whether it is EC2 or MANAGED_INSTANCES.
 */
function allowInstances({ node }: FargateTaskDefinition): void {
  for (const child of node.children)
    if (child instanceof CfnTaskDefinition) child.addPropertyDeletionOverride('RequiresCompatibilities');
}

function acknowledgeFindings(definition: FargateTaskDefinition): void {
  acknowledge(
    definition,
    {
      id: 'AwsSolutions-ECS2',
      reason:
        'The plain variables are the URL of coderd and settings of Terraform. Secrets come from Secrets Manager',
    },
    {
      id: 'Annotation::@aws-cdk/aws-ecs:ecrImageRequiresPolicy',
      reason: 'The execution role may pull exactly the repository of the image',
    },
  );
}

const cpuArchitectures: Readonly<Record<Architecture, CpuArchitecture>> = {
  arm64: CpuArchitecture.ARM64,
  x86_64: CpuArchitecture.X86_64,
};

type InjectedSecret = {
  readonly name: string;
  readonly secret: ISecret;
  readonly jsonKey: string | undefined;
};

/** The secrets of the settings, and the key that the stack makes. */
function secretsOf(scope: Construct, { pool, managedKey }: PoolTaskProps): readonly InjectedSecret[] {
  const imported = Object.entries({ ...pool.secrets, ...credential(pool) }).map(([name, ref]) => ({
    name,
    secret: importSecret(scope, `Secret-${name}`, ref),
    jsonKey: ref.jsonKey,
  }));
  return managedKey === undefined
    ? imported
    : [...imported, { name: DAEMON_KEY, secret: managedKey.secret, jsonKey: KEY_FIELD }];
}

/** The user of coder's image (docs/internals/coder.md §6). */
const DAEMON_USER = '1000:1000';

function addProvisioner(task: PoolTask, props: PoolTaskProps, secrets: readonly InjectedSecret[]): void {
  const { pool } = props;
  task.definition.addContainer('provisioner', {
    image: ContainerImage.fromRegistry(pool.image),
    ...daemonCommand(props),
    user: DAEMON_USER,
    // earlier versions wrote it: without it every task definition would get a new revision
    readonlyRootFilesystem: false,
    environment: containerEnvironment(props),
    secrets: Object.fromEntries(
      secrets.map(({ name, secret, jsonKey }) => [name, Secret.fromSecretsManager(secret, jsonKey)]),
    ),
    // The longest time that Fargate allows between SIGTERM and SIGKILL (docs/internals/aws.md §2).
    stopTimeout: Duration.seconds(120),
    linuxParameters: new LinuxParameters(task, 'LinuxParameters', { initProcessEnabled: true }),
    logging: logDriver(props),
  });
}

function daemonCommand({ guard, caBundle }: PoolTaskProps): {
  readonly entryPoint: string[];
  readonly command: string[];
} {
  // The entry point of the image is `/opt/coder server` (docs/internals/coder.md §6).
  const guarded = ['sh', '-c', guard, 'guard'];
  return {
    entryPoint: caBundle === undefined ? guarded : trusting(guarded),
    command: ['/opt/coder', 'provisioner', 'start'],
  };
}

function containerEnvironment({ pool, coderUrl, caBundle }: PoolTaskProps): Record<string, string> {
  const { name, environment } = pool;
  return {
    ...environment,
    ...daemonVariables(pool),
    CODER_URL: coderUrl,
    // the guard names the daemon after pool and task
    AUTOSCALER_POOL: poolOfPart(name),
    ...(caBundle !== undefined && { [CA_BUNDLE_VARIABLE]: caBundle }),
  };
}

/**
 * Non-blocking: a slow log must not block the guard or a build. Lines that do not fit the buffer
 * are lost.
 */
function logDriver({ pool, logGroup }: PoolTaskProps): LogDriver {
  return LogDrivers.awsLogs({
    streamPrefix: poolOfPart(pool.name),
    logGroup,
    mode: AwsLogDriverMode.NON_BLOCKING,
    maxBufferSize: Size.mebibytes(10),
  });
}

import { Aws, Duration, Size, Tags } from 'aws-cdk-lib';
import {
  AwsLogDriverMode,
  type ContainerDefinition,
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
import type { Architecture, PoolAuth, SecretRef } from '../../../lambda/decision/model/config.ts';
import { isPlain } from '../plain/plain-stack.ts';
import { acknowledge } from '../shared/acknowledge.ts';
import { importSecret } from '../shared/imported-secret.ts';
import { KEY_FIELD } from '../shared/managed-key.ts';
import { daemonVariables } from './daemon-variables.ts';
import { executionRole, taskRole, taskTags } from './pool-roles.ts';
import { CA_BUNDLE_VARIABLE, trusting } from './trust.ts';
import { addWritableFolders } from './writable-folders.ts';

export type PoolTaskProps = {
  readonly cluster: ICluster;
  readonly coderUrl: string;
  readonly pool: DeployedPool;
  /** The secret that the key function fills, for a pool with a managed key. */
  readonly managedKey: ISecret | undefined;
  /** The text of guard.sh. */
  readonly guard: string;
  /** PEM text of CA certificates to trust for coderd, in addition to those of the image. */
  readonly caBundle?: string | undefined;
  readonly logGroup: ILogGroup;
  /** Whether the role can change the protection of tasks of the own pool only. */
  readonly bindTaskRoles: boolean;
};

/** The task definition of a pool: one provisioner daemon, which the guard runs. */
export class PoolTask extends Construct {
  readonly definition: FargateTaskDefinition;
  /** The role with its permissions. The service has to wait for it. */
  readonly executionRole: IRole;

  constructor(scope: Construct, id: string, props: PoolTaskProps) {
    super(scope, id);
    const { cluster, pool, logGroup } = props;
    const secrets = [...importSecrets(this, pool), ...managed(props.managedKey)];
    const role = executionRole(this, { pool, logGroup, secrets: secrets.map(({ secret }) => secret) });
    this.executionRole = role;
    this.definition = new FargateTaskDefinition(this, 'Definition', {
      family: isPlain(this) ? `${Aws.STACK_NAME}-${pool.name}` : undefined,
      cpu: pool.cpu,
      memoryLimitMiB: pool.memory,
      // Every task has 20 GiB, and Fargate accepts only larger values.
      ephemeralStorageGiB: pool.ephemeralStorage > 20 ? pool.ephemeralStorage : undefined,
      runtimePlatform: {
        cpuArchitecture: cpuArchitectures[pool.architecture],
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
      taskRole: taskRole(this, { cluster, pool, isBound: props.bindTaskRoles }),
      // The role has exactly the permissions that it needs. CDK would add more.
      executionRole: role.withoutPolicyUpdates(),
    });
    acknowledgeFindings(this.definition);
    for (const [tag, value] of Object.entries(taskTags(this, pool.name)))
      Tags.of(this.definition).add(tag, value, { includeResourceTypes: ['AWS::ECS::TaskDefinition'] });
    const provisioner = addProvisioner(this, props, secrets);
    const folders = { provisioner, image: pool.image, owner: DAEMON_USER, logging: logDriver(props) };
    if (pool.readonlyRootFilesystem) addWritableFolders(this.definition, folders);
  }
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

function addProvisioner(
  task: PoolTask,
  props: PoolTaskProps,
  secrets: readonly InjectedSecret[],
): ContainerDefinition {
  const { pool } = props;
  return task.definition.addContainer('provisioner', {
    image: ContainerImage.fromRegistry(pool.image),
    ...daemonCommand(props),
    user: DAEMON_USER,
    readonlyRootFilesystem: pool.readonlyRootFilesystem,
    environment: containerEnvironment(props),
    secrets: containerSecrets(secrets),
    portMappings: pool.prometheusPort === undefined ? [] : [{ containerPort: pool.prometheusPort }],
    // The longest time that Fargate allows between SIGTERM and SIGKILL (docs/internals/aws.md §2).
    stopTimeout: Duration.seconds(120),
    linuxParameters: new LinuxParameters(task, 'LinuxParameters', { initProcessEnabled: true }),
    logging: logDriver(props),
  });
}

/** The user of coder's image (docs/internals/coder.md §6). */
const DAEMON_USER = '1000:1000';

function daemonCommand({ pool, guard, caBundle }: PoolTaskProps): {
  readonly entryPoint: string[];
  readonly command: string[];
} {
  // The entry point of the image is `/opt/coder server` (docs/internals/coder.md §6).
  if (pool.scaleIn !== 'lease') return { entryPoint: ['/opt/coder'], command: ['provisioner', 'start'] };
  const guarded = ['sh', '-c', guard, 'guard'];
  return {
    entryPoint: caBundle === undefined ? guarded : trusting(guarded),
    command: ['/opt/coder', 'provisioner', 'start'],
  };
}

function containerEnvironment({ pool, coderUrl, caBundle }: PoolTaskProps): Record<string, string> {
  const { name, scaleIn, environment, prometheusPort } = pool;
  const isGuarded = scaleIn === 'lease';
  return {
    ...environment,
    ...daemonVariables(pool),
    CODER_URL: coderUrl,
    // The guard names the daemon after pool and task. Without a guard the daemon has the name of
    // its host.
    ...(isGuarded && { AUTOSCALER_POOL: name }),
    ...(isGuarded && caBundle !== undefined && { [CA_BUNDLE_VARIABLE]: caBundle }),
    ...(prometheusPort !== undefined && {
      CODER_PROMETHEUS_ENABLE: 'true',
      CODER_PROMETHEUS_ADDRESS: `0.0.0.0:${prometheusPort}`,
    }),
  };
}

/**
 * Non-blocking: a slow log must not block the guard or a build. Lines that do not fit the buffer
 * are lost.
 */
function logDriver({ pool, logGroup }: PoolTaskProps): LogDriver {
  return LogDrivers.awsLogs({
    streamPrefix: pool.name,
    logGroup,
    mode: AwsLogDriverMode.NON_BLOCKING,
    maxBufferSize: Size.mebibytes(10),
  });
}

const cpuArchitectures: Readonly<Record<Architecture, CpuArchitecture>> = {
  arm64: CpuArchitecture.ARM64,
  x86_64: CpuArchitecture.X86_64,
};

/** docs/internals/coder.md §5 */
const DAEMON_KEY = 'CODER_PROVISIONER_DAEMON_KEY';

type InjectedSecret = {
  readonly name: string;
  readonly secret: ISecret;
  readonly jsonKey: string | undefined;
};

function importSecrets(scope: Construct, { secrets, auth }: DeployedPool): InjectedSecret[] {
  return Object.entries({ ...secrets, ...credential(auth) }).map(([name, ref]) => ({
    name,
    secret: importSecret(scope, `Secret-${name}`, ref),
    jsonKey: ref.jsonKey,
  }));
}

/** The key that the stack makes. */
function managed(secret: ISecret | undefined): InjectedSecret[] {
  return secret === undefined ? [] : [{ name: DAEMON_KEY, secret, jsonKey: KEY_FIELD }];
}

/** docs/internals/coder.md §5 */
function credential(auth: PoolAuth): Readonly<Record<string, SecretRef>> {
  switch (auth.kind) {
    case 'key':
      return { [DAEMON_KEY]: auth.secret };
    case 'psk':
      return { CODER_PROVISIONER_DAEMON_PSK: auth.secret };
    case 'token':
      return { CODER_SESSION_TOKEN: auth.secret };
    case 'managed':
      return {};
  }
}

function containerSecrets(injected: readonly InjectedSecret[]): Record<string, Secret> {
  return Object.fromEntries(
    injected.map(({ name, secret, jsonKey }) => [name, Secret.fromSecretsManager(secret, jsonKey)]),
  );
}

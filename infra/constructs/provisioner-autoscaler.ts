import { join } from 'node:path';
import { Annotations, CfnOutput, Stack, Stage, Tags } from 'aws-cdk-lib';
import type { Alarm, Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { Connections, type IConnectable, type IVpc } from 'aws-cdk-lib/aws-ec2';
import type { FargateService, ICluster } from 'aws-cdk-lib/aws-ecs';
import { type Grant, type IGrantable, ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct, DependencyGroup } from 'constructs';
import { formatProblem, type Problem } from '../../lambda/config/problems/problems.ts';
import { type Deployment, secretsOf } from '../../lambda/config/rules/deployment.ts';
import { isSpotPart } from '../../lambda/decision/model/brands.ts';
import { ownValue } from '../../lambda/decision/model/collections.ts';
import { type AutoscalerMetric, STATISTICS } from '../../lambda/telemetry/statistics.ts';
import { bundleKeyFunction } from './bundle.ts';
import { clusterIn, makeCluster } from './cluster.ts';
import { allowServices } from './encryption.ts';
import { type ExistingResources, type ProvisionerAutoscalerProps, split } from './existing-resources.ts';
import { AutoscalerFunction } from './function/autoscaler-function.ts';
import { ManagedKeys, type ManagedKeysProps } from './function/managed-keys.ts';
import { grantOverriding, grantReading } from './function/operator-grants.ts';
import { Network } from './network.ts';
import { addPools, taskFamilies } from './pool/pools.ts';
import type { ProvisionerPool } from './pool/provisioner-pool.ts';
import { bundle } from './settings.ts';
import { StackError } from './shared/errors.ts';
import { type LogSettings, logGroup } from './shared/log-group.ts';
import { importSecret, poolSecrets } from './shared/secrets.ts';
import { Alarms } from './watching/alarms.ts';
import { LogQueries } from './watching/log-queries.ts';
import { publishedMetric } from './watching/look-metrics.ts';

/**
 * The whole autoscaler: network, cluster, one service for each pool, the function that scales them,
 * alarms and saved queries. A stack can have only one.
 */
export class ProvisionerAutoscaler extends Construct implements IConnectable {
  /** The VPC of the tasks, and of the function if `aws.function.inVpc` is true. */
  readonly vpc: IVpc;
  /**
   * The security groups of the tasks and the function. For example,
   * `autoscaler.connections.allowTo(loadBalancer, Port.HTTPS)` lets them reach coderd. Groups that
   * `aws.network.securityGroups` names by id are not changed.
   */
  readonly connections: Connections;
  /** The cluster of the services. */
  readonly cluster: ICluster;
  /** The function that scales the pools. EventBridge Scheduler invokes it once a minute. */
  readonly function: IFunction;
  /** The log group of the function. */
  readonly logGroup: ILogGroup;
  /** The pools, by name. `pool(name)` is the same with an error for a wrong name. */
  readonly pools: Readonly<Record<string, ProvisionerPool>>;
  /** The ECS services, by pool name. */
  readonly services: Readonly<Record<string, FargateService>>;
  /** Gets every alarm. Absent if `aws.alarms.enabled` is false. */
  readonly topic: ITopic | undefined;
  /**
   * The alarms, by the name of their section in docs/operate.md, such as `no-tick`. Empty if
   * `aws.alarms.enabled` is false.
   */
  readonly alarms: Readonly<Record<string, Alarm>>;
  readonly #token: ISecret;
  readonly #poolSecrets: readonly string[];
  readonly #managedKeys: ManagedKeys | undefined;
  readonly #record: IParameter;

  /**
   * Throws a ConfigError with every problem of the settings, or a StackError for unusable existing
   * resources.
   */
  constructor(scope: Construct, id: string, props: ProvisionerAutoscalerProps) {
    super(scope, id);
    const { existing, source } = split(props);
    refuseSecond(this);
    const functionDir = join(Stage.of(this)?.outdir ?? '', `function-${this.node.addr}`);
    const { config, warnings, caBundle, parameters } = bundle(this, source, functionDir);
    for (const problem of warnings) warn(this, problem);
    const { aws, coder } = config;
    const { network, cluster, kmsKey, logs } = placeIn(this, aws, existing);
    const { vpc, subnets: vpcSubnets, securityGroups } = network;
    this.vpc = vpc;
    this.connections = new Connections({ securityGroups });
    this.cluster = cluster;
    this.logGroup = logGroup(this, logs);
    const ofFunctions = { cluster, vpc, vpcSubnets, securityGroups, logGroup: this.logGroup, kmsKey };
    const functionProps = { ...ofFunctions, parameters, settings: aws.function, functionDir };
    this.#managedKeys = manageKeys(this, config, { ...functionProps, ready: network.ready });
    this.pools = addPools(this, config, {
      network,
      logs,
      caBundle,
      autoscalerLogGroup: this.logGroup,
      cluster: existing.cluster ? clusterIn(this, vpc, existing.cluster) : cluster,
      ready: new DependencyGroup(cluster, network.ready),
      managedKeys: this.#managedKeys?.byPool ?? {},
    });
    this.services = Object.fromEntries(
      Object.values(this.pools).map(({ poolName, service }) => [poolName, service]),
    );
    this.#poolSecrets = secretsOfPools(this, config, this.#managedKeys);
    const autoscaler = new AutoscalerFunction(this, 'Autoscaler', {
      ...functionProps,
      token: coder.token,
      poolSecrets: this.#poolSecrets,
      ownsCluster: existing.cluster === undefined && aws.cluster === undefined,
      taskFamilies: taskFamilies(this),
    });
    this.function = autoscaler.function;
    this.#record = autoscaler.record;
    this.#token = importSecret(this, 'Token', coder.token);
    const alarms = aws.alarms.enabled
      ? new Alarms(this, 'Alarms', {
          autoscaler,
          pools: config.pools,
          keyFunction: this.#managedKeys?.function,
          kmsKey,
          settings: aws.alarms,
          topic: existing.alarmTopic,
        })
      : undefined;
    this.topic = alarms?.topic;
    this.alarms = Object.fromEntries((alarms?.alarms ?? []).map((alarm) => [alarm.node.id, alarm]));
    new LogQueries(this, 'Queries', { logGroup: this.logGroup });
    const boundary =
      existing.permissionsBoundary ??
      imported(aws.permissionsBoundary, (arn) => ManagedPolicy.fromManagedPolicyArn(this, 'Boundary', arn));
    if (boundary) PermissionsBoundary.of(this).apply(boundary);
    // China and GovCloud refuse them (docs/internals/aws.md §5)
    const excludeResourceTypes = ['AWS::Lambda::EventSourceMapping'];
    for (const [name, value] of Object.entries(aws.tags))
      Tags.of(this).add(name, value, { excludeResourceTypes });
  }

  /** The pool of that name. Throws a StackError if the settings have none. */
  pool(name: string): ProvisionerPool {
    const pool = ownValue(this.pools, name);
    if (pool !== undefined) return pool;
    const names = Object.keys(this.pools).join(', ');
    throw new StackError(`cannot find pool "${name}": the settings have only ${names}; name one of them`);
  }

  /**
   * One of the metrics of this deployment, over a minute, with the statistic that suits it: docs/construct.md
   * has the list. Throws a StackError for a wrong name.
   */
  metric(name: AutoscalerMetric, options: MetricOptions = {}): Metric {
    if (!Object.hasOwn(STATISTICS, name))
      throw new StackError(
        `cannot find the metric "${name}": there are only ${Object.keys(STATISTICS).join(', ')}; name one of them`,
      );
    const service = Stack.of(this).stackName;
    return publishedMetric({ service }, name, STATISTICS[name]).with(options).attachTo(this);
  }

  /**
   * Allows invoking the function, for a dry run with the payload `{"dryRun":true}`. IAM cannot
   * restrict the payload, so the grantee can cause a look too. An additional look does no harm.
   */
  grantInvoke(grantee: IGrantable): Grant {
    return this.function.grantInvoke(grantee);
  }

  /**
   * Allows what `autoscaler status`, `plan`, `explain` and `trace export` read in AWS: services,
   * tasks, task definitions, the logs, and **the secret with coderd's API token**, with
   * which they read coderd. The grantee can change nothing in AWS.
   */
  grantRead(grantee: IGrantable): Grant {
    return grantReading(this, grantee, {
      cluster: this.cluster,
      logGroup: this.logGroup,
      token: this.#token,
      poolSecrets: this.#poolSecrets,
      record: this.#record,
    });
  }

  /**
   * Allows what `autoscaler keys rotate` calls: starting a rotation of the managed keys. The grantee
   * cannot read a key. Throws a StackError if no pool has a managed key.
   */
  grantRotateKeys(grantee: IGrantable): Grant {
    if (this.#managedKeys?.hasPools) return this.#managedKeys.grantRotate(grantee);
    throw new StackError('cannot grant the rotation of keys: no pool has "key: managed"; set it in a pool');
  }

  /**
   * Allows what `autoscaler pause`, `resume`, `pin` and `unpin` call: changing the tags of
   * overrides on the services of this stack. The grantee cannot read coderd's API token.
   */
  grantOverride(grantee: IGrantable): Grant {
    return grantOverriding(this, grantee, this.cluster);
  }
}

/** Where the tasks and the functions run, and where they log. */
function placeIn(scope: Construct, aws: Deployment['aws'], existing: ExistingResources) {
  const network = new Network(scope, 'Network', {
    settings: aws.network,
    vpc: existing.vpc ?? existing.cluster?.vpc,
    subnets: existing.subnets,
    securityGroups: existing.securityGroups,
  });
  const cluster = existing.cluster ?? makeCluster(scope, network.vpc, aws.cluster);
  const kmsKey = existing.kmsKey ?? imported(aws.kmsKey, (arn) => Key.fromKeyArn(scope, 'Key', arn));
  if (kmsKey) allowServices(scope, kmsKey);
  const logs: LogSettings = {
    existing:
      existing.logGroup ??
      imported(aws.logs.group, (name) => LogGroup.fromLogGroupName(scope, 'ExistingLogs', name)),
    retentionDays: aws.logs.retentionDays,
    kmsKey,
  };
  return { network, cluster, kmsKey, logs };
}

/** The resource that the settings name, if they name one. */
function imported<T>(name: string | undefined, from: (name: string) => T): T | undefined {
  return name === undefined ? undefined : from(name);
}

type KeysContext = Omit<ManagedKeysProps, 'keys' | 'pools' | 'coderUrl'>;

/**
 * Nothing is added to a stack without the section `managedKeys`. While the section is there, the key
 * function stays, also without such pools: builds of the last one may still use its keys, and the
 * sweep deletes these later.
 */
function manageKeys(
  scope: Construct,
  { coder, pools, managedKeys }: Deployment,
  context: KeysContext,
): ManagedKeys | undefined {
  if (managedKeys === undefined) return undefined;
  const managed = pools.filter(({ auth }) => auth.kind === 'managed');
  const functionDir = `${context.functionDir}-keys`;
  bundleKeyFunction(context.functionDir, functionDir);
  const settings = { coderUrl: coder.url, keys: managedKeys, pools: managed };
  return new ManagedKeys(scope, 'Keys', { ...context, functionDir, ...settings });
}

/** The IAM resources of the secrets that the pools' tasks get. */
function secretsOfPools(
  scope: Construct,
  { pools }: Deployment,
  managed: ManagedKeys | undefined,
): readonly string[] {
  const made = Object.values(managed?.byPool ?? {}).map(({ secret }) => secret);
  return poolSecrets(new Construct(scope, 'PoolSecrets'), secretsOf(pools), made);
}

/**
 * Alarms, queries and metrics are named after the stack, so CloudFormation would refuse
 * a second autoscaler in it.
 */
function refuseSecond(autoscaler: ProvisionerAutoscaler): void {
  const stack = Stack.of(autoscaler);
  const other = stack.node
    .findAll()
    .find((construct) => construct instanceof ProvisionerAutoscaler && construct !== autoscaler);
  if (other === undefined) return;
  throw new StackError(
    `cannot create the autoscaler ${autoscaler.node.path}: its stack already has ${other.node.path}; use one stack for each, or one autoscaler with more pools`,
  );
}

function warn(scope: Construct, problem: Problem): void {
  // CDK cuts an id at the first bracket.
  const id = `coder-provisioner-autoscaler:${problem.path.replaceAll(/[[\].]+/g, '.')}`;
  Annotations.of(scope).addWarningV2(id, formatProblem(problem));
}

/** Adds the outputs that commands of the CLI and other stacks need. `removal`: the act that deletes the stack. */
export function addOutputs(stack: Stack, autoscaler: ProvisionerAutoscaler, removal = '"cdk destroy"'): void {
  new CfnOutput(stack, 'ClusterName', { value: autoscaler.cluster.clusterName });
  new CfnOutput(stack, 'FunctionName', { value: autoscaler.function.functionName });
  new CfnOutput(stack, 'LogGroupName', {
    value: autoscaler.logGroup.logGroupName,
    description: `Log group of the autoscaler. ${removal} stops every task and its build. It keeps only this log group and those of the pools; delete them when you no longer need the logs.`,
  });
  const groups = autoscaler.connections.securityGroups.map(({ securityGroupId }) => securityGroupId);
  new CfnOutput(stack, 'SecurityGroupIds', {
    value: groups.join(','),
    description: 'Security groups of the tasks and the function, to which coderd must be open',
  });
  if (autoscaler.topic !== undefined)
    new CfnOutput(stack, 'TopicArn', { value: autoscaler.topic.topicArn, description: 'Gets every alarm' });
  for (const { poolName, taskRole } of Object.values(autoscaler.pools))
    if (!isSpotPart(poolName))
      new CfnOutput(stack, `${TASK_ROLE_OUTPUT}${poolName.replaceAll('-', HYPHEN)}`, {
        value: taskRole.roleArn,
        description: `Role of Terraform in the builds of pool ${poolName}`,
      });
}

/** Names of outputs have letters and digits only, names of pools no capital letters. */
const HYPHEN = 'H';
const TASK_ROLE_OUTPUT = 'TaskRole';

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Annotations, CfnMapping, Stack, Stage, Tags } from 'aws-cdk-lib';
import type { Dashboard as CloudWatchDashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { FargateService, ICluster } from 'aws-cdk-lib/aws-ecs';
import { type IManagedPolicy, ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct, DependencyGroup } from 'constructs';
import type { LoadedConfig } from '../../lambda/config/load.ts';
import { formatProblem, type Problem } from '../../lambda/config/problems/problems.ts';
import type { AwsSettings, Deployment } from '../../lambda/config/rules/deployment.ts';
import { clusterIn, makeCluster } from './cluster.ts';
import { allowServices } from './encryption.ts';
import { AutoscalerFunction } from './function/autoscaler-function.ts';
import { ConfigParameters } from './plain/config-parameters.ts';
import { isPlain } from './plain/plain-stack.ts';
import { PoolService, type PoolServiceProps } from './pool/pool-service.ts';
import { bundleWithoutSettings, bundleWithSettings, type SettingsSource } from './settings.ts';
import { type LogSettings, logGroup } from './shared/log-group.ts';
import { Network } from './shared/network.ts';
import { StackError } from './stack-error.ts';
import { Alarms } from './watching/alarms.ts';
import { Dashboard } from './watching/dashboard.ts';
import { LogQueries } from './watching/log-queries.ts';

/** Existing resources. Each one takes precedence over the same setting in the section `aws`. */
export interface ExistingResources {
  /** @default the VPC of `cluster`, else the one that `aws.network` names, else a new one */
  readonly vpc?: IVpc;
  /**
   * Private subnets with egress. @default those of `aws.network`, else the VPC's private subnets
   * with egress
   */
  readonly subnets?: SubnetSelection;
  /**
   * For the tasks and the function. @default those of `aws.network`, else a new one without ingress
   * rules
   */
  readonly securityGroups?: ISecurityGroup[];
  /**
   * It must have the capacity provider FARGATE and, for pools on Spot, FARGATE_SPOT.
   * @default the one that `aws.cluster` names, else a new one
   */
  readonly cluster?: ICluster;
  /**
   * For all logs.
   * @default the one that `aws.logs.group` names, else one for the function and one for each pool
   */
  readonly logGroup?: ILogGroup;
  /**
   * Encrypts the logs, the queue, the topic, the schedule and the function's environment.
   * @default the one that `aws.kmsKey` names, else AWS's own keys
   */
  readonly kmsKey?: IKey;
  /** Gets every alarm. @default the one that `aws.alarms.topic` names, else a new one */
  readonly alarmTopic?: ITopic;
  /**
   * Permissions boundary of every role. @default the one that `aws.permissionsBoundary` names, else
   * none
   */
  readonly permissionsBoundary?: IManagedPolicy;
}

/**
 * The settings of autoscaler.yaml, as props or as the file `configFile`, and existing resources.
 */
export type ProvisionerAutoscalerProps = SettingsSource & ExistingResources;

/**
 * The whole autoscaler: network, cluster, one service for each pool, the function that scales them,
 * alarms, dashboard and saved queries. A stack can have only one.
 */
export class ProvisionerAutoscaler extends Construct {
  readonly cluster: ICluster;
  readonly function: IFunction;
  /** The log group of the function. */
  readonly logGroup: ILogGroup;
  /** By pool name. */
  readonly services: Readonly<Record<string, FargateService>>;
  /** Gets every alarm. Absent if `aws.alarms.enabled` is false. */
  readonly topic: ITopic | undefined;
  readonly dashboard: CloudWatchDashboard;

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
    const { aws } = config;
    const network = new Network(this, 'Network', {
      settings: aws.network,
      vpc: existing.vpc ?? existing.cluster?.vpc,
      subnets: existing.subnets,
      securityGroups: existing.securityGroups,
    });
    this.cluster = existing.cluster ?? makeCluster(this, network.vpc, aws.cluster);
    const kmsKey = existing.kmsKey ?? importKey(this, aws);
    if (kmsKey) allowServices(this, kmsKey);
    const logs: LogSettings = {
      existing: existing.logGroup ?? importLogGroup(this, aws),
      retentionDays: aws.logs.retentionDays,
      kmsKey,
    };
    this.logGroup = logGroup(this, logs);
    const location = {
      network,
      cluster: existing.cluster ? clusterIn(this, network.vpc, existing.cluster) : this.cluster,
      ready: new DependencyGroup(this.cluster, network.ready),
    };
    this.services = this.#addPools(config, { location, logs, caBundle });
    const autoscaler = new AutoscalerFunction(this, 'Autoscaler', {
      cluster: this.cluster,
      vpc: network.vpc,
      vpcSubnets: network.subnets,
      securityGroups: network.securityGroups,
      token: config.coder.token,
      functionDir,
      parameters,
      settings: aws.function,
      logGroup: this.logGroup,
      kmsKey,
    });
    this.function = autoscaler.function;
    const operated = { autoscaler, pools: config.pools };
    const notified = { settings: aws.alarms, topic: existing.alarmTopic, kmsKey };
    const alarms = aws.alarms.enabled ? new Alarms(this, 'Alarms', { ...operated, ...notified }) : undefined;
    this.topic = alarms?.topic;
    const shown = { perPool: aws.metrics.perPool, alarms: alarms?.alarms };
    this.dashboard = new Dashboard(this, 'Dashboard', { ...operated, ...shown }).dashboard;
    new LogQueries(this, 'Queries', { logGroup: this.logGroup });
    const boundary = existing.permissionsBoundary ?? importPolicy(this, aws);
    if (boundary) PermissionsBoundary.of(this).apply(boundary);
    for (const [name, value] of Object.entries(aws.tags)) Tags.of(this).add(name, value);
  }

  #addPools(
    { coder, pools, aws }: Deployment,
    { location, logs, caBundle }: { location: Location; logs: LogSettings; caBundle: string | undefined },
  ): Record<string, FargateService> {
    const texts = containerTexts(this, caBundle);
    const services = pools.map((pool): [string, FargateService] => [
      pool.name,
      new PoolService(this, `Pool-${pool.name}`, {
        ...location,
        coderUrl: coder.url,
        pool,
        earlySuccess: aws.earlySuccess,
        ...texts,
        logs,
        bindTaskRoles: aws.bindTaskRoles,
        autoscalerLogGroup: this.logGroup,
      }).service,
    ]);
    return Object.fromEntries(services);
  }
}

type Bundled = LoadedConfig & { readonly parameters?: ConfigParameters };

function bundle(scope: Construct, source: SettingsSource, functionDir: string): Bundled {
  if (!isPlain(scope)) return bundleWithSettings(source, functionDir);
  const { stored, ...loaded } = bundleWithoutSettings(source, functionDir);
  return { ...loaded, parameters: new ConfigParameters(scope, 'Config', stored) };
}

function split(props: ProvisionerAutoscalerProps): {
  readonly existing: ExistingResources;
  readonly source: SettingsSource;
} {
  const { vpc, subnets, securityGroups, cluster, ...more } = props;
  const { logGroup, kmsKey, alarmTopic, permissionsBoundary, ...source } = more;
  const existing = {
    vpc,
    subnets,
    securityGroups,
    cluster,
    logGroup,
    kmsKey,
    alarmTopic,
    permissionsBoundary,
  };
  return { existing, source };
}

type Location = Pick<PoolServiceProps, 'network' | 'cluster' | 'ready'>;

/**
 * Alarms, dashboard, queries and metrics are named after the stack, so CloudFormation would refuse
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

/**
 * The text of guard.sh and of the certificates, which are part of the task definitions. A changed
 * text makes a new revision. The template has each text once, in a mapping, because fifty copies
 * would exceed 1 MB.
 */
function containerTexts(scope: Construct, caBundle: string | undefined) {
  const sh = readFileSync(new URL('../../guard/guard.sh', import.meta.url), 'utf8');
  const texts = { sh, ...(caBundle !== undefined && { ca: caBundle }) };
  const mapping = new CfnMapping(scope, 'Guard', { lazy: false, mapping: { guard: texts } });
  return {
    guard: mapping.findInMap('guard', 'sh'),
    caBundle: caBundle === undefined ? undefined : mapping.findInMap('guard', 'ca'),
  };
}

function importKey(scope: Construct, { kmsKey }: AwsSettings): IKey | undefined {
  return kmsKey === undefined ? undefined : Key.fromKeyArn(scope, 'Key', kmsKey);
}

function importLogGroup(scope: Construct, { logs: { group } }: AwsSettings): ILogGroup | undefined {
  return group === undefined ? undefined : LogGroup.fromLogGroupName(scope, 'ExistingLogs', group);
}

function importPolicy(scope: Construct, { permissionsBoundary }: AwsSettings): IManagedPolicy | undefined {
  return permissionsBoundary === undefined
    ? undefined
    : ManagedPolicy.fromManagedPolicyArn(scope, 'Boundary', permissionsBoundary);
}

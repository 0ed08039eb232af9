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
import { formatProblem, type Problem } from '../../lambda/config/problems/problems.ts';
import type { AwsSettings, Deployment } from '../../lambda/config/rules/deployment.ts';
import { clusterIn, makeCluster } from './cluster.ts';
import { allowServices } from './encryption.ts';
import { AutoscalerFunction } from './function/autoscaler-function.ts';
import { PoolService, type PoolServiceProps } from './pool/pool-service.ts';
import { bundleWithSettings, type SettingsSource } from './settings.ts';
import { type LogSettings, logGroup } from './shared/log-group.ts';
import { Network } from './shared/network.ts';
import { Alarms } from './watching/alarms.ts';
import { Dashboard } from './watching/dashboard.ts';
import { LogQueries } from './watching/log-queries.ts';

/** What is there already. Each wins over what the section `aws` of the settings says of the same. */
export interface ExistingResources {
  /** @default the VPC of `cluster`, else the one that `aws.network` names, else a new one */
  readonly vpc?: IVpc;
  /** Private subnets with a way out. @default those of `aws.network`, else the VPC's private subnets with egress */
  readonly subnets?: SubnetSelection;
  /** Of tasks and function. @default those of `aws.network`, else a new one without any ingress */
  readonly securityGroups?: ISecurityGroup[];
  /** It must have the capacity provider FARGATE and, for pools on Spot, FARGATE_SPOT. @default the one that `aws.cluster` names, else a new one */
  readonly cluster?: ICluster;
  /** Takes the logs of everything. @default the one that `aws.logs.group` names, else one for the function and one a pool */
  readonly logGroup?: ILogGroup;
  /** Encrypts logs, queue, topic, schedule and the function's environment. @default the one that `aws.kmsKey` names, else keys of AWS */
  readonly kmsKey?: IKey;
  /** Told of every alarm. @default the one that `aws.alarms.topic` names, else a new one */
  readonly alarmTopic?: ITopic;
  /** Bounds every role. @default the one that `aws.permissionsBoundary` names, else none */
  readonly permissionsBoundary?: IManagedPolicy;
}

/** The settings of autoscaler.yaml, written as props or in the file `configFile`, and what is there already. */
export type ProvisionerAutoscalerProps = SettingsSource & ExistingResources;

/** Everything, once a stack: network, cluster, one service a pool, the function that sizes them, alarms, dashboard and queries. */
export class ProvisionerAutoscaler extends Construct {
  readonly cluster: ICluster;
  readonly function: IFunction;
  /** Where the function logs. */
  readonly logGroup: ILogGroup;
  /** By name of the pool. */
  readonly services: Readonly<Record<string, FargateService>>;
  /** Told of every alarm; absent where `aws.alarms.enabled` is false. */
  readonly topic: ITopic | undefined;
  readonly dashboard: CloudWatchDashboard;

  /** Throws a ConfigError that names every problem of the settings. */
  constructor(scope: Construct, id: string, props: ProvisionerAutoscalerProps) {
    super(scope, id);
    const { existing, source } = split(props);
    refuseSecond(this);
    const functionDir = join(Stage.of(this)?.outdir ?? '', `function-${this.node.addr}`);
    const { config, warnings, caBundle } = bundleWithSettings(source, functionDir);
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
    const place = {
      network,
      cluster: existing.cluster ? clusterIn(this, network.vpc, existing.cluster) : this.cluster,
      ready: new DependencyGroup(this.cluster, network.ready),
    };
    this.services = this.#addPools(config, { place, logs, caBundle });
    const autoscaler = new AutoscalerFunction(this, 'Autoscaler', {
      cluster: this.cluster,
      vpc: network.vpc,
      vpcSubnets: network.subnets,
      securityGroups: network.securityGroups,
      token: config.coder.token,
      functionDir,
      settings: aws.function,
      logGroup: this.logGroup,
      kmsKey,
    });
    this.function = autoscaler.function;
    const operated = { autoscaler, pools: config.pools };
    const told = { settings: aws.alarms, topic: existing.alarmTopic, kmsKey };
    const alarms = aws.alarms.enabled ? new Alarms(this, 'Alarms', { ...operated, ...told }) : undefined;
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
    { place, logs, caBundle }: { place: Place; logs: LogSettings; caBundle: string | undefined },
  ): Record<string, FargateService> {
    const texts = containerTexts(this, caBundle);
    const services = pools.map((pool): [string, FargateService] => [
      pool.name,
      new PoolService(this, `Pool-${pool.name}`, {
        ...place,
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

type Place = Pick<PoolServiceProps, 'network' | 'cluster' | 'ready'>;

/** Alarms, dashboard, queries and metrics are named after the stack: CloudFormation would refuse those of a second one. */
function refuseSecond(autoscaler: ProvisionerAutoscaler): void {
  const stack = Stack.of(autoscaler);
  const other = stack.node
    .findAll()
    .find((construct) => construct instanceof ProvisionerAutoscaler && construct !== autoscaler);
  if (other === undefined) return;
  throw new Error(
    `making the autoscaler ${autoscaler.node.path}: its stack has ${other.node.path} already; make one stack for each, or one of both with more pools`,
  );
}

function warn(scope: Construct, problem: Problem): void {
  // CDK reads an id up to the first bracket
  const id = `coder-provisioner-autoscaler:${problem.path.replaceAll(/[[\].]+/g, '.')}`;
  Annotations.of(scope).addWarningV2(id, formatProblem(problem));
}

/**
 * The text of guard.sh, which travels in the task definitions (a changed one is a new revision of them), and that of the certificates. A
 * mapping holds each once, since fifty copies would not fit into a template (1 MB).
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

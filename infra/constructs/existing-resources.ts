/** Existing resources that a deployment uses: from the props of a CDK app, or named in the settings. */
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import type { IManagedPolicy } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { SettingsSource } from './settings.ts';

/** Existing resources. Each one takes precedence over the same setting in the section `aws`. */
export interface ExistingResources {
  /**
   * For the tasks and the function.
   * @default the VPC of `cluster`, else the one that `aws.network.vpc` names, else a new one
   */
  readonly vpc?: IVpc;
  /**
   * Private subnets with egress.
   * @default those of `aws.network.subnets`, else the VPC's private subnets with egress
   */
  readonly subnets?: SubnetSelection;
  /**
   * For the tasks and the function.
   * @default those of `aws.network.securityGroups`, else a new one without ingress rules
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
  /** Permissions boundary of every role. @default the one that `aws.permissionsBoundary` names, else none */
  readonly permissionsBoundary?: IManagedPolicy;
}

/** The settings of autoscaler.yaml, as props or as the file `configFile`, and existing resources. */
export type ProvisionerAutoscalerProps = SettingsSource & ExistingResources;

/** Separates the existing resources from the settings. */
export function split(props: ProvisionerAutoscalerProps): {
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

import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { FunctionProps } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { AwsSettings } from '../../../lambda/config/rules/deployment.ts';
import type { SecretRef } from '../../../lambda/decision/model/config.ts';
import type { ConfigParameters } from '../plain/config-parameters.ts';

export type AutoscalerFunctionProps = {
  readonly cluster: ICluster;
  /** The VPC of the function if `settings.inVpc`. */
  readonly vpc: IVpc;
  /** @default the VPC's private subnets */
  readonly vpcSubnets?: SubnetSelection;
  /** @default a new one without ingress rules */
  readonly securityGroups?: ISecurityGroup[];
  /** The secret that holds coderd's API token. */
  readonly token: SecretRef;
  /** IAM resources: the secrets that the pools' tasks get. @default none */
  readonly poolSecrets?: readonly string[];
  /** The directory that `bundleFunction` wrote. */
  readonly functionDir: string;
  /** @default the configuration is in `functionDir` */
  readonly parameters?: ConfigParameters | undefined;
  readonly settings: AwsSettings['function'];
  readonly logGroup: ILogGroup;
  /** Encrypts the environment, the schedule and the queues. @default AWS's own keys */
  readonly kmsKey?: IKey;
};

/** Of the function that looks. */
export type LookFunctionProps = AutoscalerFunctionProps & {
  /** IAM pattern of the families of the pools' task definitions, those of removed pools too. */
  readonly taskFamilies: string;
};

/** The network of a function: that of the tasks, if the settings say so. */
export function functionNetwork(props: AutoscalerFunctionProps): Partial<FunctionProps> {
  const { settings, vpc, vpcSubnets, securityGroups } = props;
  return settings.inVpc ? { vpc, vpcSubnets, securityGroups } : {};
}

import { Arn, ArnFormat, Stack, Token } from 'aws-cdk-lib';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { Cluster, ContainerInsights, type ICluster } from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import { StackError } from './shared/errors.ts';
import { acknowledge } from './shared/nag.ts';

/**
 * Imports the existing cluster of that name, or makes a new one. An existing cluster must have the
 * capacity provider FARGATE and, for pools on Spot, FARGATE_SPOT. CloudFormation can set the
 * providers only for a whole cluster.
 */
export function makeCluster(scope: Construct, vpc: IVpc, existingName: string | undefined): ICluster {
  if (existingName !== undefined)
    return Cluster.fromClusterAttributes(scope, 'Cluster', { clusterName: existingName, vpc });
  const cluster = new Cluster(scope, 'Cluster', {
    vpc,
    enableFargateCapacityProviders: true,
    containerInsightsV2: ContainerInsights.DISABLED,
  });
  acknowledge(cluster, {
    id: 'AwsSolutions-ECS4',
    reason:
      'Container Insights bills each metric of every service and task definition as a custom metric. The metrics of the autoscaler already have pending jobs, daemons and failed starts',
  });
  return cluster;
}

/**
 * The caller's cluster with the VPC of this stack. A cluster has no VPC in AWS, but a CDK cluster
 * has one, or throws when it is read. Throws StackError for a cluster of another account or region.
 */
export function clusterIn(scope: Construct, vpc: IVpc, cluster: ICluster): ICluster {
  const { clusterName, clusterArn } = cluster;
  refuseOtherEnvironment(scope, cluster);
  return Cluster.fromClusterAttributes(scope, 'ClusterHere', { clusterName, clusterArn, vpc });
}

/**
 * A service runs in the account and region of its stack, so the cluster must be there too. Values
 * that are known only at deployment are not compared.
 */
function refuseOtherEnvironment(scope: Construct, { clusterName, clusterArn, env }: ICluster): void {
  const stack = Stack.of(scope);
  const { account, region } = Token.isUnresolved(clusterArn)
    ? env
    : Arn.split(clusterArn, ArnFormat.SLASH_RESOURCE_NAME);
  const isOther = [
    [account, stack.account],
    [region, stack.region],
  ].some(([theirs, ours]) => !Token.isUnresolved(theirs) && !Token.isUnresolved(ours) && theirs !== ours);
  if (isOther)
    throw new StackError(
      `cluster ${clusterName} is in account ${account}, region ${region}, but stack ${stack.stackName} is in account ${stack.account}, region ${stack.region}; use a cluster of that account and region, or set the stack's env to that of the cluster`,
    );
}

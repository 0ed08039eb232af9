import { Arn, ArnFormat, Stack, Token, Validations } from 'aws-cdk-lib';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { Cluster, ContainerInsights, type ICluster } from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';

/**
 * The existing cluster of that name, or a new one. An existing one must have the capacity providers FARGATE and, for pools on Spot,
 * FARGATE_SPOT: CloudFormation can only set them for a cluster as a whole.
 */
export function makeCluster(scope: Construct, vpc: IVpc, existingName: string | undefined): ICluster {
  if (existingName !== undefined)
    return Cluster.fromClusterAttributes(scope, 'Cluster', { clusterName: existingName, vpc });
  const cluster = new Cluster(scope, 'Cluster', {
    vpc,
    enableFargateCapacityProviders: true,
    containerInsightsV2: ContainerInsights.DISABLED,
  });
  Validations.of(cluster).acknowledge({
    id: 'AwsSolutions-ECS4',
    reason:
      'it bills each of its metrics of every service and task definition as a custom one; who waits, runs and fails to start is in the metrics of the autoscaler',
  });
  return cluster;
}

/** A cluster that others made, as one of our network: a cluster has no VPC, but CDK gives it one, or refuses to tell it. */
export function clusterIn(scope: Construct, vpc: IVpc, cluster: ICluster): ICluster {
  const { clusterName, clusterArn } = cluster;
  refuseElsewhere(scope, cluster);
  return Cluster.fromClusterAttributes(scope, 'ClusterHere', { clusterName, clusterArn, vpc });
}

/** A service runs in the account and region of its stack. What is known only at deployment can't be compared. */
function refuseElsewhere(scope: Construct, { clusterName, clusterArn, env }: ICluster): void {
  const stack = Stack.of(scope);
  const { account, region } = Token.isUnresolved(clusterArn)
    ? env
    : Arn.split(clusterArn, ArnFormat.SLASH_RESOURCE_NAME);
  const isElsewhere = [
    [account, stack.account],
    [region, stack.region],
  ].some(([theirs, ours]) => !Token.isUnresolved(theirs) && !Token.isUnresolved(ours) && theirs !== ours);
  if (isElsewhere)
    throw new Error(
      `using the cluster ${clusterName} of account ${account}, region ${region}: the stack ${stack.stackName} is in account ${stack.account}, region ${stack.region}; name a cluster there, or give the stack the cluster's env`,
    );
}

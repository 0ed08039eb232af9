import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Cluster } from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import type { Config } from '../lambda/core/config.ts';
import { AutoscalerFunction } from './constructs/autoscaler-function.ts';
import { PoolService } from './constructs/pool-service.ts';

export interface AutoscalerStackProps extends StackProps {
  readonly config: Config;
  /** The directory that `bundleFunction` filled. */
  readonly functionDir: string;
}

/** A network, a cluster, one service a pool, and the function that sizes them. */
export class AutoscalerStack extends Stack {
  constructor(scope: Construct, id: string, { config, functionDir, ...props }: AutoscalerStackProps) {
    super(scope, id, props);
    const vpc = new Vpc(this, 'Vpc', { maxAzs: 2, natGateways: 1 });
    const cluster = new Cluster(this, 'Cluster', { vpc, enableFargateCapacityProviders: true });
    for (const pool of config.pools) {
      new PoolService(this, `Pool-${pool.name}`, { vpc, cluster, coderUrl: config.coder.url, pool });
    }
    const autoscaler = new AutoscalerFunction(this, 'Autoscaler', {
      vpc,
      cluster,
      token: config.coder.token,
      functionDir,
    });
    new CfnOutput(this, 'ClusterName', { value: cluster.clusterName });
    new CfnOutput(this, 'FunctionName', { value: autoscaler.function.functionName });
  }
}

import * as cdk from 'aws-cdk-lib/core';
import { ProvisionerAutoscaler } from 'coder-provisioner-autoscaler';
import type { Construct } from 'constructs';

export class StockStack extends cdk.Stack {
  constructor(scope: Construct, id: string, props?: cdk.StackProps) {
    super(scope, id, props);
    const autoscaler = new ProvisionerAutoscaler(this, 'Autoscaler', { configFile: 'autoscaler.yaml' });
    new cdk.CfnOutput(this, 'ClusterName', { value: autoscaler.cluster.clusterName });
  }
}

import { CfnOutput, type Stack } from 'aws-cdk-lib';
import type { ProvisionerAutoscaler } from './provisioner-autoscaler.ts';

/** Adds the outputs that commands of the CLI need. `removal`: the act that deletes the stack. */
export function addOutputs(stack: Stack, autoscaler: ProvisionerAutoscaler, removal = '"cdk destroy"'): void {
  new CfnOutput(stack, 'ClusterName', { value: autoscaler.cluster.clusterName });
  new CfnOutput(stack, 'FunctionName', { value: autoscaler.function.functionName });
  new CfnOutput(stack, 'LogGroupName', {
    value: autoscaler.logGroup.logGroupName,
    description: `Log group of the autoscaler. ${removal} stops every task and its build. It keeps only this log group and those of the pools; delete them when you no longer need the logs.`,
  });
}

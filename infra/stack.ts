import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import {
  ProvisionerAutoscaler,
  type ProvisionerAutoscalerProps,
} from './constructs/provisioner-autoscaler.ts';

export interface AutoscalerStackProps extends StackProps {
  readonly autoscaler: ProvisionerAutoscalerProps;
}

/** The ready-made stack: one autoscaler with everything that it needs, and its outputs. */
export class AutoscalerStack extends Stack {
  constructor(scope: Construct, id: string, { autoscaler: settings, ...props }: AutoscalerStackProps) {
    // CloudFormation accepts at most 1 MB, and a third of a template is indentation.
    super(scope, id, { suppressTemplateIndentation: true, ...props });
    addOutputs(this, new ProvisionerAutoscaler(this, 'Autoscaler', settings));
  }
}

/** Adds the outputs that commands of the CLI need. `removal`: the act that deletes the stack. */
export function addOutputs(stack: Stack, autoscaler: ProvisionerAutoscaler, removal = '"cdk destroy"'): void {
  new CfnOutput(stack, 'ClusterName', { value: autoscaler.cluster.clusterName });
  new CfnOutput(stack, 'FunctionName', { value: autoscaler.function.functionName });
  new CfnOutput(stack, 'LogGroupName', {
    value: autoscaler.logGroup.logGroupName,
    description: `Log group of the autoscaler. ${removal} stops every task and its build. It keeps only this log group and those of the pools; delete them when you no longer need the logs.`,
  });
}

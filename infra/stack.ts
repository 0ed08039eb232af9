import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { ProvisionerAutoscalerProps } from './constructs/existing-resources.ts';
import { ProvisionerAutoscaler } from './constructs/provisioner-autoscaler.ts';

export interface AutoscalerStackProps extends StackProps {
  readonly autoscaler: ProvisionerAutoscalerProps;
}

/** The ready-made stack: one autoscaler with everything that it needs, and its outputs. */
export class AutoscalerStack extends Stack {
  constructor(scope: Construct, id: string, { autoscaler: settings, ...props }: AutoscalerStackProps) {
    // CloudFormation accepts at most 1 MB, and a third of a template is indentation.
    super(scope, id, { suppressTemplateIndentation: true, ...props });
    const autoscaler = new ProvisionerAutoscaler(this, 'Autoscaler', settings);
    new CfnOutput(this, 'ClusterName', { value: autoscaler.cluster.clusterName });
    new CfnOutput(this, 'FunctionName', { value: autoscaler.function.functionName });
    new CfnOutput(this, 'LogGroupName', {
      value: autoscaler.logGroup.logGroupName,
      description:
        'Log group of the autoscaler. "cdk destroy" stops every task and its build. It keeps only this log group and those of the pools; delete them when you no longer need the logs.',
    });
  }
}

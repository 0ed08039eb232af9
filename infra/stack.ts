import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { ProvisionerAutoscalerProps } from './constructs/existing-resources.ts';
import { addOutputs, ProvisionerAutoscaler } from './constructs/provisioner-autoscaler.ts';

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

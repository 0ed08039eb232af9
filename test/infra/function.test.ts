/** The parts of the function that the template of a deployment with everything on does not show. */
import { Match } from 'aws-cdk-lib/assertions';
import { it } from 'vitest';
import { operate } from './support/operated.ts';

const outside = operate({ settings: { inVpc: false } });

it('the function has no VPC, reserved concurrency, tracing or key by default', () => {
  outside.hasResourceProperties('AWS::Lambda::Function', {
    VpcConfig: Match.absent(),
    ReservedConcurrentExecutions: Match.absent(),
    TracingConfig: Match.absent(),
    KmsKeyArn: Match.absent(),
  });
  outside.resourceCountIs('AWS::EC2::SecurityGroup', 0);
});

it('both queues are encrypted without a key too', () => {
  outside.resourcePropertiesCountIs('AWS::SQS::Queue', { SqsManagedSseEnabled: true }, 2);
});

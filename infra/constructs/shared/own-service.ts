import { Stack } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

/**
 * An AWS service that acts for the stack's account, not for another customer. `IfExists`: should a
 * service not name the account (docs/internals/aws.md §1, IAM), it can still assume the role.
 */
export function ownService(
  scope: Construct,
  service: string,
  conditions: Readonly<Record<string, object>> = {},
): ServicePrincipal {
  const ofAccount = { StringEqualsIfExists: { 'aws:SourceAccount': Stack.of(scope).account } };
  return new ServicePrincipal(service, { conditions: { ...ofAccount, ...conditions } });
}

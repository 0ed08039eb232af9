import { ArnFormat, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

/**
 * Allows the services that have no role in this stack to use the key: CloudWatch Logs for the log
 * groups, and CloudWatch for alarms that publish to an encrypted topic. CDK cannot change the
 * policy of an imported key; docs/credentials.md has the statements that it needs.
 */
export function allowServices(scope: Construct, key: IKey): void {
  for (const statement of keyStatements(Stack.of(scope))) key.addToResourcePolicy(statement);
}

function keyStatements(stack: Stack): PolicyStatement[] {
  const logGroups = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return [
    new PolicyStatement({
      actions: ['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:DescribeKey'],
      principals: [new ServicePrincipal(`logs.${stack.region}.amazonaws.com`)],
      resources: ['*'],
      conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } },
    }),
    new PolicyStatement({
      actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      resources: ['*'],
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  ];
}

/** Statements, principals and resources that several roles of the stack have. */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { PolicyStatement, type Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { acknowledgeWildcards, type Wildcard } from './nag.ts';

type Conditions = Readonly<Record<string, object>>;
type Texts = string | readonly string[];

export function allow(actions: Texts, resources: Texts, conditions?: Conditions): PolicyStatement {
  return new PolicyStatement({ actions: [actions].flat(), resources: [resources].flat(), conditions });
}

/** Gives a role its statements, and cdk-nag the reasons for their wildcards. */
export function permit(
  role: Role,
  statements: readonly PolicyStatement[],
  wildcards: readonly Wildcard[] = [],
): void {
  for (const statement of statements) role.addToPrincipalPolicy(statement);
  acknowledgeWildcards(role, ...wildcards);
}

/**
 * An AWS service that acts for the stack's account, not for another customer. `IfExists`: should a
 * service not name the account (docs/internals/aws.md §1, IAM), it can still assume the role.
 */
export function ownService(scope: Construct, service: string, conditions: Conditions = {}): ServicePrincipal {
  const ofAccount = { StringEqualsIfExists: { 'aws:SourceAccount': Stack.of(scope).account } };
  return new ServicePrincipal(service, { conditions: { ...ofAccount, ...conditions } });
}

/** Actions on a whole cluster have no resource level, so a condition restricts them
 * (docs/internals/aws.md §1, IAM). */
export function listIn(cluster: ICluster, ...actions: readonly string[]): PolicyStatement {
  return allow(actions, '*', { ArnEquals: { 'ecs:cluster': cluster.clusterArn } });
}

/** The ARNs of all services or tasks of a cluster, as an IAM resource. */
export function allOf(resource: 'service' | 'task', scope: Construct, cluster: ICluster): string {
  const resourceName = `${cluster.clusterName}/*`;
  const arnFormat = ArnFormat.SLASH_RESOURCE_NAME;
  return Stack.of(scope).formatArn({ service: 'ecs', resource, resourceName, arnFormat });
}

export function writeLogs({ logGroupArn }: ILogGroup): PolicyStatement {
  return allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroupArn);
}

/** Allows encrypting with the key, if there is one. */
export function useKey(kmsKey: IKey | undefined): PolicyStatement[] {
  return kmsKey === undefined ? [] : [allow(['kms:Decrypt', 'kms:GenerateDataKey'], kmsKey.keyArn)];
}

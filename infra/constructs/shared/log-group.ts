import { RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

export type LogSettings = {
  /** Takes the logs of everything. */
  readonly existing?: ILogGroup | undefined;
  /** Of the groups that are made. One of those that CloudWatch knows. */
  readonly retentionDays: number;
  /** Its policy must let CloudWatch Logs use it. */
  readonly kmsKey?: IKey | undefined;
};

/** The existing log group, or a new one, which outlives the stack: what is removed can still be asked what it did. */
export function logGroup(scope: Construct, { existing, retentionDays, kmsKey }: LogSettings): ILogGroup {
  return (
    existing ??
    new LogGroup(scope, 'Logs', {
      retention: retentionDays,
      encryptionKey: kmsKey,
      removalPolicy: RemovalPolicy.RETAIN,
    })
  );
}

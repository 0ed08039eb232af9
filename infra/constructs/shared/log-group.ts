import { RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

export type LogSettings = {
  /** For all logs. */
  readonly existing?: ILogGroup | undefined;
  /** For new log groups, in days. CloudWatch supports only certain values. */
  readonly retentionDays: number;
  /** Its policy must allow CloudWatch Logs to use it. */
  readonly kmsKey?: IKey | undefined;
};

/** The existing log group, or a new one. A new one is retained after the stack, for later investigation. */
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

import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { SecretRef } from '../../lambda/core/config.ts';

/** Refers to an existing secret by its name, its full ARN, or its ARN without the six characters AWS appends. */
export function importSecret(scope: Construct, id: string, ref: SecretRef): ISecret {
  if (!ref.secret.startsWith('arn:')) return Secret.fromSecretNameV2(scope, id, ref.secret);
  return /-[A-Za-z0-9]{6}$/.test(ref.secret)
    ? Secret.fromSecretCompleteArn(scope, id, ref.secret)
    : Secret.fromSecretPartialArn(scope, id, ref.secret);
}

/**
 * The ARN of a secret as IAM resources: `?` stands for the characters of its suffix that are not known. A name may end as
 * a suffix does (`my-secret`), so an ARN that looks complete is granted as it is and with a suffix.
 */
export function secretArnPatterns(secret: ISecret): string[] {
  const withSuffix = `${secret.secretArn}-??????`;
  return secret.secretFullArn === undefined ? [withSuffix] : [secret.secretFullArn, withSuffix];
}

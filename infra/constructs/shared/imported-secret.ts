import { Aws } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { SecretRef } from '../../../lambda/decision/model/config.ts';

/** Refers to an existing secret by its name, its full ARN, or its ARN without the six characters AWS appends. */
export function importSecret(scope: Construct, id: string, ref: SecretRef): ISecret {
  if (!ref.secret.startsWith('arn:')) return Secret.fromSecretNameV2(scope, id, ref.secret);
  return /-[A-Za-z0-9]{6}$/.test(ref.secret)
    ? Secret.fromSecretCompleteArn(scope, id, ref.secret)
    : Secret.fromSecretPartialArn(scope, id, ref.secret);
}

/**
 * Allows to read exactly these secrets, and to have them decrypted where they have a key of their own. That key is not known here:
 * it may be any, as long as Secrets Manager asks for one of these secrets (as in AWS's own AWSSecretsManagerClientReadOnlyAccess).
 */
export function readSecrets(secrets: readonly ISecret[]): PolicyStatement[] {
  const resources = [...new Set(secrets.flatMap(secretArnPatterns))];
  return [
    new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources }),
    new PolicyStatement({
      actions: ['kms:Decrypt'],
      resources: [secretKeys()],
      conditions: {
        // which of the two a partition with a domain of its own (China's) writes here is not documented for all
        StringEquals: {
          'kms:ViaService': ['amazonaws.com', Aws.URL_SUFFIX].map(
            (domain) => `secretsmanager.${Aws.REGION}.${domain}`,
          ),
        },
        StringLike: { 'kms:EncryptionContext:SecretARN': resources },
      },
    }),
  ];
}

/** Any key of this region, whosever it is. */
export function secretKeys(): string {
  return `arn:${Aws.PARTITION}:kms:${Aws.REGION}:*:key/*`;
}

/**
 * The ARN of a secret as IAM resources: `?` stands for the characters of its suffix that are not known. A name may end as
 * a suffix does (`my-secret`), so an ARN that looks complete is granted as it is and with a suffix.
 */
export function secretArnPatterns(secret: ISecret): string[] {
  const withSuffix = `${secret.secretArn}-??????`;
  return secret.secretFullArn === undefined ? [withSuffix] : [secret.secretFullArn, withSuffix];
}

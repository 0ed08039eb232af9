import { Aws } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { SecretRef } from '../../../lambda/decision/model/config.ts';

/**
 * Imports an existing secret by its name, its full ARN, or its ARN without the six characters that
 * AWS appends.
 */
export function importSecret(scope: Construct, id: string, ref: SecretRef): ISecret {
  if (!ref.secret.startsWith('arn:')) return Secret.fromSecretNameV2(scope, id, ref.secret);
  return /-[A-Za-z0-9]{6}$/.test(ref.secret)
    ? Secret.fromSecretCompleteArn(scope, id, ref.secret)
    : Secret.fromSecretPartialArn(scope, id, ref.secret);
}

/**
 * Statements that allow reading exactly these secrets, and decrypting them if they have their own
 * KMS key. The key is not known here. So any key is allowed, but only through Secrets Manager and
 * for these secrets, as in AWS's policy AWSSecretsManagerClientReadOnlyAccess.
 */
export function readSecrets(secrets: readonly ISecret[]): PolicyStatement[] {
  const resources = [...new Set(secrets.flatMap(secretArnPatterns))];
  return [
    new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources }),
    new PolicyStatement({
      actions: ['kms:Decrypt'],
      resources: [secretKeys()],
      conditions: {
        // AWS does not document which domain a partition with its own domain (China) uses here.
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

/** Any KMS key of this region, in any account. */
export function secretKeys(): string {
  return `arn:${Aws.PARTITION}:kms:${Aws.REGION}:*:key/*`;
}

/**
 * The ARN of a secret as IAM resources. `?` stands for the unknown characters of its suffix. A name
 * may end like a suffix (`my-secret`), so an ARN that looks complete is granted both as it is and
 * with a suffix.
 */
export function secretArnPatterns(secret: ISecret): string[] {
  const withSuffix = `${secret.secretArn}-??????`;
  return secret.secretFullArn === undefined ? [withSuffix] : [secret.secretFullArn, withSuffix];
}

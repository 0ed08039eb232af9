import { ArnFormat, Aws, Stack } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct, IDependable } from 'constructs';
import type { SecretRef } from '../../../lambda/decision/model/config.ts';
import { allow } from './iam.ts';

/** The secret of a pool's managed key, and what has to exist before it has a value. */
export type ManagedKey = { readonly secret: ISecret; readonly ready: IDependable };

/** The field of the secret's JSON value that holds a managed key. The key function writes it. */
export const KEY_FIELD = 'key';

/**
 * Imports an existing secret by its name, its full ARN, or its ARN without the six characters that
 * AWS appends.
 */
export function importSecret(scope: Construct, id: string, { secret }: Pick<SecretRef, 'secret'>): ISecret {
  if (!secret.startsWith('arn:')) return Secret.fromSecretNameV2(scope, id, secret);
  return /-[A-Za-z0-9]{6}$/.test(secret)
    ? Secret.fromSecretCompleteArn(scope, id, secret)
    : Secret.fromSecretPartialArn(scope, id, secret);
}

/**
 * Statements that allow reading exactly these secrets, and decrypting them if they have their own
 * KMS key. The key is not known here. So any key is allowed, but only through Secrets Manager and
 * for these secrets, as in AWS's policy AWSSecretsManagerClientReadOnlyAccess.
 */
export function readSecrets(secrets: readonly ISecret[]): PolicyStatement[] {
  // ECS asks for a secret by the ARN of the task definition, which has no suffix for a secret by name.
  const resources = [...new Set(secrets.flatMap((each) => [each.secretArn, ...secretArnPatterns(each)]))];
  // AWS does not document which domain a partition with its own domain (China) uses here.
  const services = ['amazonaws.com', Aws.URL_SUFFIX].map(
    (domain) => `secretsmanager.${Aws.REGION}.${domain}`,
  );
  return [
    allow('secretsmanager:GetSecretValue', resources),
    allow('kms:Decrypt', secretKeys(), {
      StringEquals: { 'kms:ViaService': services },
      StringLike: { 'kms:EncryptionContext:SecretARN': resources },
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
function secretArnPatterns(secret: ISecret): string[] {
  const withSuffix = `${secret.secretArn}-??????`;
  return secret.secretFullArn === undefined ? [withSuffix] : [secret.secretFullArn, withSuffix];
}

/** The action has no resource level. It returns names and tags, never values. */
export function listAllSecrets(): PolicyStatement {
  return allow('secretsmanager:ListSecrets', '*');
}

/** Statements that allow telling when these secrets (IAM resources) changed, but not reading them. */
export function listSecrets(secrets: readonly string[]): PolicyStatement[] {
  if (secrets.length === 0) return [];
  return [listAllSecrets(), allow('secretsmanager:ListSecretVersionIds', secrets)];
}

/** More would make a policy longer than the 10,240 characters that IAM allows. */
const MOST_NAMED = 40;

/** The IAM resources of the secrets that the tasks of all pools get. */
export function poolSecrets(
  scope: Construct,
  refs: readonly SecretRef[],
  made: readonly ISecret[],
): readonly string[] {
  const names = [...new Set(refs.map(({ secret }) => secret))];
  const imported = names.map((secret, index) => importSecret(scope, `Secret-${index}`, { secret }));
  const resources = [...imported.flatMap(secretArnPatterns), ...made.map(({ secretArn }) => secretArn)];
  return resources.length > MOST_NAMED ? [allSecrets(scope)] : resources;
}

/** All secrets of this account and Region. */
export function allSecrets(scope: Construct): string {
  const arnFormat = ArnFormat.COLON_RESOURCE_NAME;
  return Stack.of(scope).formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName: '*',
    arnFormat,
  });
}

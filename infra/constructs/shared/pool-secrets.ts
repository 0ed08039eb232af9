/** Permission to tell when the secrets of the pools' tasks changed, without reading them. */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { SecretRef } from '../../../lambda/decision/model/config.ts';
import { importSecret, secretArnPatterns } from './imported-secret.ts';

/**
 * Statements that allow telling when these secrets changed, but not reading them. ListSecrets has
 * no resource level. `secrets`: IAM resources.
 */
export function listSecrets(secrets: readonly string[]): PolicyStatement[] {
  if (secrets.length === 0) return [];
  return [
    new PolicyStatement({ actions: ['secretsmanager:ListSecrets'], resources: ['*'] }),
    new PolicyStatement({ actions: ['secretsmanager:ListSecretVersionIds'], resources: [...secrets] }),
  ];
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

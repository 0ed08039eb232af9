import { z } from 'zod';
import { AwsError } from '../ecs/requests/errors.ts';
import { listSecrets, listSecretsRequest, listSecretVersionIds, listVersionsRequest } from './metadata.ts';
import { CURRENT, type SecretsModel } from './model.ts';

const getSecretValueRequest = z.object({
  SecretId: z.string().min(1),
  VersionStage: z.string().optional(),
  VersionId: z.string().optional(),
});

/**
 * Calls one operation of Secrets Manager by its name. The autoscaler's role may only read.
 */
export function callSecretsManager(model: SecretsModel, name: string, body: unknown): object {
  if (!model.isOperationDenied(name)) {
    if (name === 'GetSecretValue') return getSecretValue(model, parse(getSecretValueRequest, body));
    if (name === 'ListSecrets') return listSecrets(model, parse(listSecretsRequest, body));
    if (name === 'ListSecretVersionIds') return listSecretVersionIds(model, parse(listVersionsRequest, body));
  }
  throw new AwsError('AccessDeniedException', `not authorized to perform: secretsmanager:${name}`);
}

function parse<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const request = schema.safeParse(body);
  if (!request.success) throw new AwsError('ValidationException', z.prettifyError(request.error));
  return request.data;
}

function getSecretValue(model: SecretsModel, request: z.infer<typeof getSecretValueRequest>) {
  const secret = model.find(request.SecretId);
  const { VersionStage = CURRENT, VersionId = secret?.versionId } = request;
  if (secret === undefined)
    throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  if (model.isDenied(secret))
    throw new AwsError(
      'AccessDeniedException',
      `User: arn:aws:sts::123456789012:assumed-role/somebody/session is not authorized to perform: secretsmanager:GetSecretValue on resource: ${secret.name} because no identity-based policy allows the secretsmanager:GetSecretValue action`,
    );
  if (VersionStage !== CURRENT || VersionId !== secret.versionId)
    throw new AwsError(
      'ResourceNotFoundException',
      "Secrets Manager can't find the specified secret value for staging label or version",
    );
  return {
    ARN: secret.arn,
    Name: secret.name,
    SecretString: secret.value,
    VersionId: secret.versionId,
    VersionStages: [CURRENT],
    CreatedDate: secret.createdAt / 1000,
  };
}

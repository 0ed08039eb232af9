/** Secrets as the answers of Secrets Manager show them: never with a value. Times are in seconds. */
import type { SecretState, SecretVersion, StoredSecret } from './secret.ts';

export function describeSecret(secret: StoredSecret) {
  return {
    ...common(secret),
    VersionIdsToStages: stagesOf(secret),
    ...(secret.isDeleted ? { DeletedDate: secret.changedAt / 1000 } : {}),
  };
}

export function listedSecret(secret: SecretState) {
  return { ...common(secret), SecretVersionsToStages: stagesOf(secret) };
}

export function listedVersion({ id, createdAt, stages }: SecretVersion) {
  return { VersionId: id, CreatedDate: createdAt / 1000, VersionStages: [...stages] };
}

function common({ arn, name, createdAt, changedAt, rotatedAt, tags }: SecretState) {
  return {
    ARN: arn,
    Name: name,
    CreatedDate: createdAt / 1000,
    LastChangedDate: changedAt / 1000,
    ...(rotatedAt === undefined ? {} : { LastRotatedDate: rotatedAt / 1000 }),
    Tags: [...tags].map(([Key, Value]) => ({ Key, Value })),
  };
}

function stagesOf({ versions }: Pick<SecretState, 'versions'>): Readonly<Record<string, readonly string[]>> {
  const labelled = versions.filter(({ stages }) => stages.size > 0);
  return Object.fromEntries(labelled.map(({ id, stages }) => [id, [...stages]]));
}

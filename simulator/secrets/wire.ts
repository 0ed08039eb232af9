/** Secrets as the answers of Secrets Manager show them: never with a value. Times are dates. */
import type { SecretsModel } from './model.ts';
import type { SecretState, SecretVersion, StoredSecret } from './secret.ts';

export function describeSecret(secret: StoredSecret) {
  return {
    ...common(secret),
    VersionIdsToStages: stagesOf(secret),
    ...(secret.isDeleted ? { DeletedDate: new Date(secret.changedAt) } : {}),
  };
}

type Hidden = SecretsModel['hidden'];

export function listedSecret(secret: SecretState, hidden: Hidden) {
  const { LastChangedDate, ...rest } = common(secret);
  return {
    ...rest,
    ...(hidden === 'dates' ? {} : { LastChangedDate }),
    ...(hidden === 'versions' ? {} : { SecretVersionsToStages: stagesOf(secret) }),
  };
}

export function listedVersions(versions: readonly SecretVersion[], hidden: Hidden) {
  if (hidden === 'versions') return [];
  return versions.map(({ id, createdAt, stages }) => ({
    VersionId: id,
    VersionStages: [...stages],
    ...(hidden === 'dates' ? {} : { CreatedDate: new Date(createdAt) }),
  }));
}

function common({ arn, name, createdAt, changedAt, rotatedAt, tags }: SecretState) {
  return {
    ARN: arn,
    Name: name,
    CreatedDate: new Date(createdAt),
    LastChangedDate: new Date(changedAt),
    ...(rotatedAt === undefined ? {} : { LastRotatedDate: new Date(rotatedAt) }),
    Tags: [...tags].map(([Key, Value]) => ({ Key, Value })),
  };
}

function stagesOf({ versions }: Pick<SecretState, 'versions'>): Readonly<Record<string, readonly string[]>> {
  const labelled = versions.filter(({ stages }) => stages.size > 0);
  return Object.fromEntries(labelled.map(({ id, stages }) => [id, [...stages]]));
}

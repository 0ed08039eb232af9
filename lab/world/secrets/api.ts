/** The operations of Secrets Manager that the project calls, and which role may call which. */
import { z } from 'zod';
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import {
  AwsError,
  type AwsService,
  accessDenied,
  type Caller,
  EVERYBODY,
  invalidParameter,
  operationsFor,
  pageOf,
} from '../base/aws-service.ts';
import type { SecretsModel } from './model.ts';
import { CURRENT, type SecretState, type SecretVersion, type StoredSecret } from './secret.ts';

const WRITERS: readonly Caller[] = ['keys', 'person'];

const operation = operationsFor<SecretsModel>('ValidationException');

const SecretId = z.string().min(1);
const Filters = z
  .array(z.object({ Key: z.string(), Values: z.array(z.string().min(1)).min(1).max(10) }))
  .default([]);
const page = { MaxResults: z.int().min(1).max(100).default(100), NextToken: z.string().optional() };

const valueRequest = z.object({
  SecretId,
  VersionStage: z.string().optional(),
  VersionId: z.string().optional(),
});
const listRequest = z.object({ Filters, ...page });
const Tags = z.array(z.object({ Key: z.string().min(1).max(128), Value: z.string().max(256) }));

export const SECRETS_MANAGER: AwsService<SecretsModel> = {
  service: 'secretsmanager',
  refuse: (model, { name, caller }) => {
    if (caller === 'autoscaler' && model.isOperationDenied(name))
      throw accessDenied(`secretsmanager:${name}`, { caller });
  },
  endless: { token: 'NextToken', of: (model, name) => model.endlessLists.get(name) },
  operations: {
    GetSecretValue: operation(EVERYBODY, valueRequest, getSecretValue),
    ListSecrets: operation(EVERYBODY, listRequest, listSecrets),
    ListSecretVersionIds: operation(
      EVERYBODY,
      z.object({ SecretId, IncludeDeprecated: z.boolean().default(false), ...page }),
      (model, request) => {
        const secret = usable(model, request.SecretId, 'ListSecretVersionIds');
        const listed = secret.versions.filter(({ stages }) => request.IncludeDeprecated || stages.size > 0);
        return { ...named(secret), Versions: listedVersions(listed, model.hidden) };
      },
    ),
    DescribeSecret: operation(WRITERS, z.object({ SecretId }), (model, request) =>
      describeSecret(found(model, request.SecretId, 'DescribeSecret')),
    ),
    CreateSecret: operation(['person'], z.object({ Name: z.string().min(1) }), (model, { Name }) => {
      if (model.find(Name) !== undefined)
        throw new AwsError('ResourceExistsException', `The secret ${Name} already exists.`);
      return { ARN: model.create(Name), Name };
    }),
    PutSecretValue: operation(
      WRITERS,
      z.object({
        SecretId,
        ClientRequestToken: z.string().min(32).max(64),
        SecretString: z.string().min(1),
        VersionStages: z.array(z.string()).min(1).default([CURRENT]),
      }),
      (model, { ClientRequestToken: id, SecretString: value, VersionStages: stages, ...request }) => {
        if (model.refusesValues) throw accessDenied('secretsmanager:PutSecretValue', {});
        const secret = usable(model, request.SecretId, 'PutSecretValue');
        const version = secret.put({ id, value, stages, now: model.timeline.now() });
        return { ...named(secret), VersionId: version.id, VersionStages: [...version.stages] };
      },
    ),
    UpdateSecretVersionStage: operation(
      WRITERS,
      z.object({
        SecretId,
        VersionStage: z.string().min(1),
        MoveToVersionId: z.string().optional(),
        RemoveFromVersionId: z.string().optional(),
      }),
      (model, { VersionStage, MoveToVersionId: to, RemoveFromVersionId: from, ...request }) => {
        const secret = usable(model, request.SecretId, 'UpdateSecretVersionStage');
        secret.move(VersionStage, { to, from, now: model.timeline.now() });
        return named(secret);
      },
    ),
    TagResource: operation(WRITERS, z.object({ SecretId, Tags }), (model, request) => {
      const secret = usable(model, request.SecretId, 'TagResource');
      const flawed = request.Tags.find(({ Key, Value }) => !TAG.test(Key) || !TAG.test(Value));
      if (flawed !== undefined)
        throw invalidParameter(`The tag ${flawed.Key} has characters that are not allowed.`);
      secret.tag(new Map(request.Tags.map(({ Key, Value }) => [Key, Value])), model.timeline.now());
      return {};
    }),
    /** The steps are run by `runRotation`. */
    RotateSecret: operation(
      ['person'],
      z.object({ SecretId, ClientRequestToken: z.string().min(32).max(64).optional() }),
      (model, request) => {
        const secret = usable(model, request.SecretId, 'RotateSecret');
        const VersionId = model.announceRotation(secret, request.ClientRequestToken);
        return { ...named(secret), VersionId };
      },
    ),
  },
};

const TAG = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

const named = ({ arn, name }: StoredSecret) => ({ ARN: arn, Name: name });

function found(model: SecretsModel, id: string, name: string): StoredSecret {
  const secret = model.find(id);
  if (secret === undefined)
    throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  if (model.isDenied(secret)) throw accessDenied(`secretsmanager:${name}`, { resource: secret.name });
  return secret;
}

/** All operations but DescribeSecret refuse a secret that is marked for deletion. */
function usable(model: SecretsModel, id: string, name: string): StoredSecret {
  const secret = found(model, id, name);
  if (secret.isDeleted)
    throw new AwsError(
      'InvalidRequestException',
      "You can't perform this operation on the secret because it was marked for deletion.",
    );
  return secret;
}

function getSecretValue(model: SecretsModel, request: z.output<typeof valueRequest>) {
  const secret = usable(model, request.SecretId, 'GetSecretValue');
  const { VersionId, VersionStage = VersionId === undefined ? CURRENT : undefined } = request;
  const version = VersionId === undefined ? secret.withStage(VersionStage ?? '') : secret.version(VersionId);
  const fits = VersionStage === undefined || version?.stages.has(VersionStage);
  if (version?.value === undefined || !fits)
    throw new AwsError(
      'ResourceNotFoundException',
      `Secrets Manager can't find the specified secret value for ${VersionId === undefined ? `staging label: ${VersionStage}` : `VersionId: ${VersionId}`}`,
    );
  return {
    ...named(secret),
    SecretString: version.value,
    VersionId: version.id,
    VersionStages: [...version.stages],
    CreatedDate: new Date(version.createdAt),
  };
}

/** Filters match the beginning of a tag's key or value. */
function listSecrets(model: SecretsModel, request: z.output<typeof listRequest>) {
  const listed = model
    .listed()
    .filter((secret) => request.Filters.every((filter) => matches(secret, filter)));
  const { items, nextToken } = pageOf(
    listed.map(({ arn }) => arn),
    { maxResults: request.MaxResults, nextToken: request.NextToken },
    { fallback: 100 },
  );
  const entries = items.flatMap((arn) =>
    listed.filter((secret) => secret.arn === arn).map((secret) => listedSecret(secret, model.hidden)),
  );
  return { SecretList: entries, NextToken: nextToken };
}

function matches(secret: SecretState, { Key, Values }: z.output<typeof Filters>[number]): boolean {
  const texts: Readonly<Record<string, readonly string[]>> = {
    'tag-key': [...secret.tags.keys()],
    'tag-value': [...secret.tags.values()],
    name: [secret.name],
  };
  const searched = ownValue(texts, Key);
  if (searched === undefined) throw invalidParameter(`Invalid filter key: ${Key}`);
  return searched.some((text) => Values.some((value) => text.startsWith(value)));
}

function describeSecret(secret: StoredSecret) {
  return {
    ...common(secret),
    VersionIdsToStages: stagesOf(secret),
    ...(secret.kmsKey === undefined ? {} : { KmsKeyId: secret.kmsKey }),
    ...(secret.isDeleted ? { DeletedDate: new Date(secret.changedAt) } : {}),
  };
}

type Hidden = SecretsModel['hidden'];

function listedSecret(secret: SecretState, hidden: Hidden) {
  const { LastChangedDate, ...rest } = common(secret);
  return {
    ...rest,
    ...(hidden === 'dates' ? {} : { LastChangedDate }),
    ...(hidden === 'versions' ? {} : { SecretVersionsToStages: stagesOf(secret) }),
  };
}

function listedVersions(versions: readonly SecretVersion[], hidden: Hidden) {
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

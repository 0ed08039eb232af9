/** The operations of Secrets Manager that the project calls, and which role may call which. */
import { z } from 'zod';
import { AwsError, type Caller } from '../ecs/requests/errors.ts';
import { pageOf } from '../ecs/requests/paging.ts';
import type { SecretsModel } from './model.ts';
import { CURRENT, type SecretState, type StoredSecret } from './secret.ts';
import { describeSecret, listedSecret, listedVersions } from './wire.ts';

type Operation = {
  readonly callers: readonly Caller[];
  readonly handle: (model: SecretsModel, body: unknown) => object;
};

const ALL: readonly Caller[] = ['autoscaler', 'keys', 'person'];
const WRITERS: readonly Caller[] = ['keys', 'person'];

function operation<T extends z.ZodType>(
  callers: readonly Caller[],
  schema: T,
  handle: (model: SecretsModel, request: z.output<T>) => object,
): Operation {
  return {
    callers,
    handle: (model, body) => {
      const request = schema.safeParse(body);
      if (!request.success) throw new AwsError('ValidationException', z.prettifyError(request.error));
      return handle(model, request.data);
    },
  };
}

const SecretId = z.string().min(1);
const Filters = z
  .array(z.object({ Key: z.string(), Values: z.array(z.string().min(1)).min(1).max(10) }))
  .default([]);
const page = { MaxResults: z.int().min(1).max(100).default(100), NextToken: z.string().optional() };

const OPERATIONS: Readonly<Record<string, Operation>> = {
  GetSecretValue: operation(
    ALL,
    z.object({ SecretId, VersionStage: z.string().optional(), VersionId: z.string().optional() }),
    getSecretValue,
  ),
  ListSecrets: operation(ALL, z.object({ Filters, ...page }), listSecrets),
  ListSecretVersionIds: operation(
    ALL,
    z.object({ SecretId, IncludeDeprecated: z.boolean().default(false), ...page }),
    listSecretVersionIds,
  ),
  DescribeSecret: operation(WRITERS, z.object({ SecretId }), (model, { SecretId: id }) =>
    describeSecret(found(model, id, 'DescribeSecret')),
  ),
  PutSecretValue: operation(
    WRITERS,
    z.object({
      SecretId,
      ClientRequestToken: z.string().min(32).max(64),
      SecretString: z.string().min(1),
      VersionStages: z.array(z.string()).min(1).default([CURRENT]),
    }),
    putSecretValue,
  ),
  UpdateSecretVersionStage: operation(
    WRITERS,
    z.object({
      SecretId,
      VersionStage: z.string().min(1),
      MoveToVersionId: z.string().optional(),
      RemoveFromVersionId: z.string().optional(),
    }),
    updateSecretVersionStage,
  ),
  TagResource: operation(
    WRITERS,
    z.object({
      SecretId,
      Tags: z.array(z.object({ Key: z.string().min(1).max(128), Value: z.string().max(256) })),
    }),
    tagResource,
  ),
  RotateSecret: operation(
    ['person'],
    z.object({ SecretId, ClientRequestToken: z.string().min(32).max(64).optional() }),
    rotateSecret,
  ),
};

/** Calls one operation of Secrets Manager by its name. */
export function callSecretsManager(
  model: SecretsModel,
  name: string,
  body: unknown,
  caller: Caller = 'autoscaler',
): object {
  const called = OPERATIONS[name];
  const isDenied = caller === 'autoscaler' && model.isOperationDenied(name);
  if (called === undefined || isDenied || !called.callers.includes(caller))
    throw new AwsError('AccessDeniedException', `not authorized to perform: secretsmanager:${name}`);
  return called.handle(model, body);
}

function found(model: SecretsModel, id: string, name: string): StoredSecret {
  const secret = model.find(id);
  if (secret === undefined)
    throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  if (model.isDenied(secret))
    throw new AwsError(
      'AccessDeniedException',
      `User: arn:aws:sts::123456789012:assumed-role/somebody/session is not authorized to perform: secretsmanager:${name} on resource: ${secret.name} because no identity-based policy allows the secretsmanager:${name} action`,
    );
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

function getSecretValue(
  model: SecretsModel,
  request: {
    readonly SecretId: string;
    readonly VersionStage?: string | undefined;
    readonly VersionId?: string | undefined;
  },
) {
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
    ARN: secret.arn,
    Name: secret.name,
    SecretString: version.value,
    VersionId: version.id,
    VersionStages: [...version.stages],
    CreatedDate: new Date(version.createdAt),
  };
}

/** Filters match the beginning of a tag's key or value. */
function listSecrets(
  model: SecretsModel,
  request: {
    readonly Filters: z.output<typeof Filters>;
    readonly MaxResults: number;
    readonly NextToken?: string | undefined;
  },
) {
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
  const searched = texts[Key];
  if (searched === undefined) throw new AwsError('InvalidParameterException', `Invalid filter key: ${Key}`);
  return searched.some((text) => Values.some((value) => text.startsWith(value)));
}

function listSecretVersionIds(
  model: SecretsModel,
  request: { readonly SecretId: string; readonly IncludeDeprecated: boolean },
) {
  const secret = usable(model, request.SecretId, 'ListSecretVersionIds');
  const listed = secret.versions.filter(({ stages }) => request.IncludeDeprecated || stages.size > 0);
  return { ARN: secret.arn, Name: secret.name, Versions: listedVersions(listed, model.hidden) };
}

function putSecretValue(
  model: SecretsModel,
  request: {
    readonly SecretId: string;
    readonly ClientRequestToken: string;
    readonly SecretString: string;
    readonly VersionStages: readonly string[];
  },
) {
  const secret = usable(model, request.SecretId, 'PutSecretValue');
  const version = secret.put({
    id: request.ClientRequestToken,
    value: request.SecretString,
    stages: request.VersionStages,
    now: model.timeline.now(),
  });
  return { ARN: secret.arn, Name: secret.name, VersionId: version.id, VersionStages: [...version.stages] };
}

function updateSecretVersionStage(
  model: SecretsModel,
  request: {
    readonly SecretId: string;
    readonly VersionStage: string;
    readonly MoveToVersionId?: string | undefined;
    readonly RemoveFromVersionId?: string | undefined;
  },
) {
  const secret = usable(model, request.SecretId, 'UpdateSecretVersionStage');
  const { MoveToVersionId: to, RemoveFromVersionId: from } = request;
  secret.move(request.VersionStage, { to, from, now: model.timeline.now() });
  return { ARN: secret.arn, Name: secret.name };
}

function tagResource(
  model: SecretsModel,
  request: {
    readonly SecretId: string;
    readonly Tags: readonly { readonly Key: string; readonly Value: string }[];
  },
) {
  const secret = usable(model, request.SecretId, 'TagResource');
  const flawed = request.Tags.find(({ Key, Value }) => !TAG.test(Key) || !TAG.test(Value));
  if (flawed !== undefined)
    throw new AwsError(
      'InvalidParameterException',
      `The tag ${flawed.Key} has characters that are not allowed.`,
    );
  secret.tag(new Map(request.Tags.map(({ Key, Value }) => [Key, Value])), model.timeline.now());
  return {};
}

const TAG = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/** The steps are run by `runRotation`. */
function rotateSecret(
  model: SecretsModel,
  request: { readonly SecretId: string; readonly ClientRequestToken?: string | undefined },
) {
  const secret = usable(model, request.SecretId, 'RotateSecret');
  const VersionId = model.announceRotation(secret, request.ClientRequestToken);
  return { ARN: secret.arn, Name: secret.name, VersionId };
}

/** The operations of Secrets Manager that tell of secrets without their values. */
import { z } from 'zod';
import { AwsError } from '../ecs/requests/errors.ts';
import { CURRENT, PREVIOUS, type SecretsModel, type StoredSecret } from './model.ts';

const MOST_RESULTS = 100;
const MOST_VALUES = 10;

const filter = z.object({
  Key: z.enum(['name', 'tag-key', 'tag-value']),
  Values: z.array(z.string().min(1)).min(1).max(MOST_VALUES),
});

const page = { MaxResults: z.int().min(1).max(MOST_RESULTS).optional(), NextToken: z.string().optional() };
export const listSecretsRequest = z.object({ ...page, Filters: z.array(filter).max(10).optional() });
export const listVersionsRequest = z.object({ ...page, SecretId: z.string().min(1) });

type Filter = z.infer<typeof filter>;

/** Filters are joined by AND, their values by OR. Each value is a prefix, case included. */
export function listSecrets(model: SecretsModel, request: z.infer<typeof listSecretsRequest>): object {
  const { Filters = [] } = request;
  const found = model.listed().filter((secret) => Filters.every((it) => matches(secret, it)));
  const { items, NextToken } = pageOf(found, request);
  return { SecretList: items.map(entryOf), NextToken };
}

function matches({ name, tags }: StoredSecret, { Key, Values }: Filter): boolean {
  const texts = { name: [name], 'tag-key': Object.keys(tags), 'tag-value': Object.values(tags) }[Key];
  return texts.some((text) => Values.some((value) => text.startsWith(value)));
}

function entryOf({ arn, name, tags, changedAt, versions }: StoredSecret): object {
  const [first] = versions;
  return {
    ARN: arn,
    Name: name,
    LastChangedDate: changedAt / 1000,
    CreatedDate: first && first.createdAt / 1000,
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
    SecretVersionsToStages: Object.fromEntries(
      versions.flatMap(({ id, stages }) => (stages.length === 0 ? [] : [[id, stages]])),
    ),
  };
}

/** Only versions with a stage, as without IncludeDeprecated. */
export function listSecretVersionIds(
  model: SecretsModel,
  request: z.infer<typeof listVersionsRequest>,
): object {
  const secret = model.find(request.SecretId);
  if (secret === undefined)
    throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  const staged = secret.versions.filter(({ stages }) =>
    stages.some((it) => it === CURRENT || it === PREVIOUS),
  );
  const { items, NextToken } = pageOf(staged, request);
  return {
    ARN: secret.arn,
    Name: secret.name,
    Versions: items.map(({ id, stages, createdAt }) => ({
      VersionId: id,
      VersionStages: stages,
      CreatedDate: createdAt / 1000,
    })),
    NextToken,
  };
}

type Page = { readonly MaxResults?: number | undefined; readonly NextToken?: string | undefined };

/** The token is the number of items before the page. */
function pageOf<T>(items: readonly T[], { MaxResults = MOST_RESULTS, NextToken = '0' }: Page) {
  const from = Number(NextToken);
  if (!Number.isInteger(from))
    throw new AwsError('InvalidNextTokenException', 'the token is none of this list');
  const to = from + MaxResults;
  return { items: items.slice(from, to), NextToken: to < items.length ? String(to) : undefined };
}

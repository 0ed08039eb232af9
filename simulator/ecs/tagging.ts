/**
 * TagResource and UntagResource for services. A resource has at most 50 tags. Keys have 128 and
 * values 256 characters: letters, digits, spaces and `+ - = . _ : / @`. No key begins with `aws:`
 * (ECS API Reference, Tag).
 */
import { z } from 'zod';
import type { EcsModel } from './model.ts';
import { checkCount, operation } from './operation.ts';
import { AwsError, clusterNotFound, invalidParameter } from './requests/errors.ts';
import type { EcsService } from './service.ts';

const MOST_TAGS = 50;
const ALLOWED = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

const tag = z.object({ key: z.string(), value: z.string().default('') });

/**
 * AWS's documentation names no request bucket for these; they are counted as changes of a service.
 */
export const TAGGING = {
  TagResource: operation(
    'service-modify',
    z.object({ resourceArn: z.string(), tags: z.array(tag) }),
    tagResource,
  ),
  UntagResource: operation(
    'service-modify',
    z.object({ resourceArn: z.string(), tagKeys: z.array(z.string()) }),
    untagResource,
  ),
};

/** Sets all tags or none: one invalid tag refuses the whole request. */
function tagResource(
  model: EcsModel,
  request: { readonly resourceArn: string; readonly tags: readonly z.infer<typeof tag>[] },
) {
  const service = taggedService(model, request.resourceArn);
  checkCount('Tags', request.tags, MOST_TAGS);
  for (const { key, value } of request.tags) checkTag(key, value);
  const tags = {
    ...service.state.tags,
    ...Object.fromEntries(request.tags.map(({ key, value }) => [key, value])),
  };
  if (Object.keys(tags).length > MOST_TAGS)
    throw invalidParameter(`The maximum number of tags is ${MOST_TAGS}.`);
  service.setTags(tags);
  return {};
}

/** Removes tags. A missing key is not an error. */
function untagResource(
  model: EcsModel,
  request: { readonly resourceArn: string; readonly tagKeys: readonly string[] },
) {
  const service = taggedService(model, request.resourceArn);
  checkCount('Tag keys', request.tagKeys, MOST_TAGS);
  for (const key of request.tagKeys) checkTag(key, '');
  const kept = Object.entries(service.state.tags).filter(([key]) => !request.tagKeys.includes(key));
  service.setTags(Object.fromEntries(kept));
  return {};
}

function taggedService(model: EcsModel, arn: string): EcsService {
  const [, cluster] = /^arn:aws:ecs:[^:]+:\d{12}:service\/([^/]+)\/[^/]+$/.exec(arn) ?? [];
  if (cluster === undefined) throw invalidParameter('Invalid identifier: Invalid resource ARN.');
  if (cluster !== model.clusterName) throw clusterNotFound();
  const service = model.services().find(({ identity }) => identity.arn === arn);
  if (service === undefined || service.state.status !== 'ACTIVE')
    throw new AwsError('ResourceNotFoundException', 'The specified resource could not be found.');
  return service;
}

function checkTag(key: string, value: string): void {
  if (key.length < 1 || key.length > 128) throw invalidParameter('Tag keys must have 1 to 128 characters.');
  if (value.length > 256) throw invalidParameter('Tag values can have at most 256 characters.');
  if (!ALLOWED.test(key) || !ALLOWED.test(value))
    throw invalidParameter('A tag has characters that are not allowed.');
  if (/^aws:/i.test(key) || /^aws:/i.test(value))
    throw invalidParameter('Tags with the prefix aws: are reserved.');
}

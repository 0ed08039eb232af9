/**
 * What only a person may call. A resource has at most 50 tags. Keys have 128 and values 256 characters: letters,
 * digits, spaces and `+ - = . _ : / @`. No key begins with `aws:` (ECS API Reference, Tag).
 */
import { z } from 'zod';
import { AwsError, invalidParameter } from '../base/aws-service.ts';
import type { EcsModel } from './model.ts';
import { checkCount, clusterNotFound, operation } from './operation.ts';
import type { EcsService } from './service.ts';
import type { TaskDefinition } from './task.ts';

const MOST_TAGS = 50;
const ALLOWED = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

const tag = z.object({ key: z.string(), value: z.string().default('') });

/** AWS's documentation names no request bucket for these; they are counted as changes of a service. */
const tagging = { bucket: 'service-modify', callers: ['person'] } as const;

export const TAGGING = {
  /** Sets all tags or none: one invalid tag refuses the whole request. */
  TagResource: operation(
    { ...tagging, schema: z.object({ resourceArn: z.string(), tags: z.array(tag) }) },
    (model, request) => {
      checkCount('Tags', request.tags, MOST_TAGS);
      for (const { key, value } of request.tags) checkTag(key, value);
      const task = /:task\//.test(request.resourceArn) ? model.knownTask(request.resourceArn) : undefined;
      if (task !== undefined) {
        for (const { key, value } of request.tags) model.taskTags.set(`${task.identity.id} ${key}`, value);
        return {};
      }
      const service = taggedService(model, request.resourceArn);
      const added = Object.fromEntries(request.tags.map(({ key, value }) => [key, value]));
      const tags = { ...service.state.tags, ...added };
      if (Object.keys(tags).length > MOST_TAGS)
        throw invalidParameter(`The maximum number of tags is ${MOST_TAGS}.`);
      service.setTags(tags);
      return {};
    },
  ),
  UntagResource: operation(
    { ...tagging, schema: z.object({ resourceArn: z.string(), tagKeys: z.array(z.string()) }) },
    (model, { resourceArn, tagKeys }) => {
      const service = taggedService(model, resourceArn);
      checkCount('Tag keys', tagKeys, MOST_TAGS);
      for (const key of tagKeys) checkTag(key, '');
      const kept = Object.entries(service.state.tags).filter(([key]) => !tagKeys.includes(key));
      service.setTags(Object.fromEntries(kept));
      return {};
    },
  ),
};

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

export const DESCRIPTIONS = {
  DescribeClusters: operation(
    { bucket: 'service-read', callers: ['person'], schema: z.object({ clusters: z.array(z.string()) }) },
    ({ clusterName, clusterArn, capacityProviders }, { clusters }) => ({
      clusters: clusters
        .filter((cluster) => cluster === clusterName || cluster === clusterArn)
        .map(() => ({ clusterArn, clusterName, status: 'ACTIVE', capacityProviders })),
      failures: [],
    }),
  ),
  DescribeTaskDefinition: operation(
    { bucket: 'service-read', callers: ['person'], schema: z.object({ taskDefinition: z.string() }) },
    (model, request) => {
      const definition = model.findTaskDefinition(request.taskDefinition);
      if (definition === undefined)
        throw new AwsError('ClientException', 'Unable to describe task definition.');
      return { taskDefinition: wireDefinition(definition), tags: [] };
    },
  ),
};

/** The definition in AWS's form. Secrets and environment are left out: the product does not read them. */
function wireDefinition({ arn, family, revision, template }: TaskDefinition) {
  const { image, entryPoint, command, cpu, memory, architecture, logGroup, stopTimeoutS, taskRoleArn } =
    template;
  return {
    taskRoleArn,
    taskDefinitionArn: arn,
    family,
    revision,
    status: 'ACTIVE',
    networkMode: 'awsvpc',
    requiresCompatibilities: ['FARGATE'],
    cpu: `${cpu}`,
    memory: `${memory}`,
    runtimePlatform: { cpuArchitecture: architecture, operatingSystemFamily: 'LINUX' },
    containerDefinitions: [
      {
        name: 'provisioner',
        image,
        essential: true,
        entryPoint,
        command,
        stopTimeout: stopTimeoutS,
        logConfiguration: { logDriver: 'awslogs', options: { 'awslogs-group': logGroup } },
      },
    ],
  };
}

/** Task definitions: what a container is made of, and DescribeTaskDefinition. */
import { z } from 'zod';
import { AwsError } from './errors.ts';
import type { EcsModel } from './model.ts';
import { operation } from './operation.ts';
import type { TaskDefinition } from './task.ts';

/** The part of a task definition that can be looked at. */
export type TaskTemplate = {
  readonly image: string;
  readonly entryPoint: readonly string[];
  readonly command: readonly string[];
  /** CPU units. */
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
  readonly architecture: 'ARM64' | 'X86_64';
};

/** Without a guard, of the size that the configuration has by default. */
export const BARE_TEMPLATE: TaskTemplate = {
  image: 'ghcr.io/coder/coder:v2.30.0',
  entryPoint: ['/opt/coder'],
  command: ['provisioner', 'start'],
  cpu: 1024,
  memory: 2048,
  architecture: 'ARM64',
};

export const DEFINITIONS = {
  DescribeTaskDefinition: operation(
    'service-read',
    z.object({ taskDefinition: z.string() }),
    describeTaskDefinition,
  ),
};

function describeTaskDefinition(model: EcsModel, request: { readonly taskDefinition: string }) {
  const definition = model.findTaskDefinition(request.taskDefinition);
  if (definition === undefined) throw new AwsError('ClientException', 'Unable to describe task definition.');
  return { taskDefinition: wireDefinition(definition), tags: [] };
}

/** Secrets and environment are left out: nobody here asks for them. */
function wireDefinition({ arn, family, revision, template }: TaskDefinition) {
  const { image, entryPoint, command, cpu, memory, architecture } = template;
  return {
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
      { name: 'provisioner', image, essential: true, entryPoint, command, stopTimeout: 120 },
    ],
  };
}

/** Task definitions of the simulated ECS, and DescribeTaskDefinition. */
import { z } from 'zod';
import type { EcsModel } from './model.ts';
import { operation } from './operation.ts';
import { AwsError } from './requests/errors.ts';
import type { TaskDefinition } from './task.ts';

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

/**
 * The definition in AWS's form. Secrets and environment are left out: the product does not read
 * them.
 */
function wireDefinition({ arn, family, revision, template }: TaskDefinition) {
  const { image, entryPoint, command, cpu, memory, architecture, logGroup } = template;
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
      {
        name: 'provisioner',
        image,
        essential: true,
        entryPoint,
        command,
        stopTimeout: 120,
        logConfiguration: { logDriver: 'awslogs', options: { 'awslogs-group': logGroup } },
      },
    ],
  };
}

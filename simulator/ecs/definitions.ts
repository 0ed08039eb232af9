/** Task definitions of the simulated ECS, and DescribeTaskDefinition. */
import { z } from 'zod';
import { AwsError } from '../base/aws-service.ts';
import { operation } from './operation.ts';
import type { TaskDefinition } from './task.ts';

export const DEFINITIONS = {
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

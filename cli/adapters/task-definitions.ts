/** Reads task definitions from ECS. Only the command line does this; a look does not. */
import { DescribeTaskDefinitionCommand, type ECSClient } from '@aws-sdk/client-ecs';
import * as z from 'zod';
import { EcsError } from '../../lambda/adapters/ecs/ecs.ts';
import { describeSchemaMismatch } from '../../lambda/adapters/shared/schema-mismatch.ts';

/** Of the log driver `awslogs`. */
const logOptions = z.object({ 'awslogs-group': z.string().optional() });
const words = z.array(z.string()).default([]);

const taskDefinitionSchema = z.object({
  taskRoleArn: z.string().optional(),
  cpu: z.string().optional(),
  memory: z.string().optional(),
  runtimePlatform: z.object({ cpuArchitecture: z.string().optional() }).optional(),
  containerDefinitions: z
    .array(
      z.object({
        name: z.string(),
        image: z.string(),
        entryPoint: words,
        command: words,
        logConfiguration: z.object({ options: logOptions.optional() }).optional(),
      }),
    )
    .default([]),
});

export type TaskDefinition = z.output<typeof taskDefinitionSchema>;

type Container = TaskDefinition['containerDefinitions'][number];

/** The container of the provisioner: the only one, unless somebody added others. */
export function provisionerOf({ containerDefinitions }: TaskDefinition): Container | undefined {
  return containerDefinitions.find(({ name }) => name === 'provisioner') ?? containerDefinitions[0];
}

/** Reads a task definition. Throws EcsError, or the error of the SDK. */
export async function describeTaskDefinition(client: ECSClient, arn: string): Promise<TaskDefinition> {
  const { taskDefinition } = await client.send(new DescribeTaskDefinitionCommand({ taskDefinition: arn }));
  const result = taskDefinitionSchema.safeParse(taskDefinition);
  if (result.success) return result.data;
  throw new EcsError(
    `the answer of DescribeTaskDefinition has an unexpected format: ${describeSchemaMismatch(result.error, taskDefinition)}`,
    { cause: result.error },
  );
}

/** What the tasks of a service are made of: asked by people, never in a look. */
import { DescribeTaskDefinitionCommand, type ECSClient } from '@aws-sdk/client-ecs';
import * as z from 'zod';
import { describeSchemaMismatch } from '../shared/schema-mismatch.ts';
import { EcsError } from './ecs.ts';

const words = z.array(z.string()).default([]);

const taskDefinitionSchema = z.object({
  cpu: z.string().optional(),
  memory: z.string().optional(),
  runtimePlatform: z.object({ cpuArchitecture: z.string().optional() }).optional(),
  containerDefinitions: z
    .array(z.object({ name: z.string(), image: z.string(), entryPoint: words, command: words }))
    .default([]),
});

export type TaskDefinition = z.output<typeof taskDefinitionSchema>;

/** Throws EcsError, or what the SDK throws. */
export async function describeTaskDefinition(client: ECSClient, arn: string): Promise<TaskDefinition> {
  const { taskDefinition } = await client.send(new DescribeTaskDefinitionCommand({ taskDefinition: arn }));
  const result = taskDefinitionSchema.safeParse(taskDefinition);
  if (result.success) return result.data;
  throw new EcsError(
    `the answer of DescribeTaskDefinition has another shape than expected: ${describeSchemaMismatch(result.error, taskDefinition)}`,
    { cause: result.error },
  );
}

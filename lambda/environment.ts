/** Reads the settings of the Lambda function from its environment variables. */
import * as z from 'zod';
import { EnvironmentError } from './function-errors.ts';

const environmentSchema = z.object({
  /** Name or ARN of the ECS cluster. */
  AUTOSCALER_CLUSTER: z
    .string({ error: 'is not set; name the ECS cluster' })
    .min(1, 'is empty; name the ECS cluster'),
  /** Name of this deployment's stack, as in the tag of its services. Older deployments lack it. */
  AUTOSCALER_STACK: z.string().min(1, 'is empty; name the stack, or unset it').optional(),
  /** The configuration file. Default: the file beside the bundle. */
  AUTOSCALER_CONFIG: z.string().min(1, 'is empty; give a file, or unset it').optional(),
});

export type Environment = {
  readonly cluster: string;
  readonly stack: string | undefined;
  readonly configFile: string;
};

/**
 * Reads the function's environment. Throws EnvironmentError, which names the missing or empty
 * variables.
 */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
  defaultConfig: string,
): Environment {
  const result = environmentSchema.safeParse(variables);
  if (!result.success) {
    const lines = result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    throw new EnvironmentError(`reading the environment: ${lines.join('; ')}`);
  }
  return {
    cluster: result.data.AUTOSCALER_CLUSTER,
    stack: result.data.AUTOSCALER_STACK,
    configFile: result.data.AUTOSCALER_CONFIG ?? defaultConfig,
  };
}

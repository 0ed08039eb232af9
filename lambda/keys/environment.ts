/** Reads the settings of the key function from its environment variables. */
import * as z from 'zod';
import { type Environment, readEnvironment } from '../environment.ts';
import { EnvironmentError } from '../function-errors.ts';
import { deploymentOf, type OwnDeployment } from './model/key-names.ts';

const schema = z.object({
  AUTOSCALER_STACK: z.string({ error: 'is not set; name the stack' }).min(1, 'is empty; name the stack'),
  AUTOSCALER_STACK_ID: z
    .string({ error: 'is not set; give the ARN of the stack' })
    .startsWith('arn:', 'is no ARN; give the ARN of the stack'),
});

export type KeysEnvironment = Environment & { readonly deployment: OwnDeployment };

/** Throws EnvironmentError, which names the missing or wrong variables. */
export function readKeysEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
  defaultConfig: string,
): KeysEnvironment {
  const common = readEnvironment(variables, defaultConfig);
  const result = schema.safeParse(variables);
  if (!result.success) {
    const lines = result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    throw new EnvironmentError(`reading the environment: ${lines.join('; ')}`);
  }
  const { AUTOSCALER_STACK, AUTOSCALER_STACK_ID } = result.data;
  return { ...common, deployment: deploymentOf(AUTOSCALER_STACK, AUTOSCALER_STACK_ID) };
}

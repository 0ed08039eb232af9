/** Reads the settings of the key function from its environment variables. */
import * as z from 'zod';
import { type Environment, parseVariables, readEnvironment } from '../environment.ts';
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
  const set = parseVariables(schema, variables);
  return { ...common, deployment: deploymentOf(set.AUTOSCALER_STACK, set.AUTOSCALER_STACK_ID) };
}

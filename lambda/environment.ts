/** Reads the environment variables of the Lambda function, and the configuration that they name. */
import { SSMClient } from '@aws-sdk/client-ssm';
import * as z from 'zod';
import { readParameters } from './adapters/parameters/parameters.ts';
import { AWS_TIMEOUTS } from './adapters/shared/aws-calls.ts';
import { type LoadedConfig, loadConfig } from './config/load.ts';
import { readStoredConfig } from './config/stored-config.ts';

/** The environment of the function lacks a variable, or a variable is empty. */
class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

const variablesSchema = z.object({
  /** Name or ARN of the ECS cluster. */
  AUTOSCALER_CLUSTER: z
    .string({ error: 'is not set; name the ECS cluster' })
    .min(1, 'is empty; name the ECS cluster'),
  /** Name of this deployment's stack, as in the tag of its services. Older deployments lack it. */
  AUTOSCALER_STACK: z.string().min(1, 'is empty; name the stack, or unset it').optional(),
  /** `true` if the stack made the cluster. Older deployments lack it. */
  AUTOSCALER_OWNS_CLUSTER: z.literal('true', 'is not "true"; write true, or unset it').optional(),
  /** URL of the queue for the next looks. Older deployments lack it. */
  AUTOSCALER_QUEUE_URL: z.string().min(1, 'is empty; give the URL of the queue, or unset it').optional(),
  /** Name of the SSM parameter that keeps the record of builds. Older deployments lack it. */
  AUTOSCALER_RECORD: z.string().min(1, 'is empty; name an SSM parameter, or unset it').optional(),
  /** The configuration file. Default: the file beside the bundle. */
  AUTOSCALER_CONFIG: z.string().min(1, 'is empty; give a file, or unset it').optional(),
  /** Names of SSM parameters with the configuration, separated by commas. Default: the file. */
  AUTOSCALER_CONFIG_PARAMETERS: z
    .string()
    .regex(/^[^,\s]+(?:,[^,\s]+)*$/, 'is no list of SSM parameters; write their names, separated by commas')
    .optional(),
  /** SHA-256 of the text in these parameters. */
  AUTOSCALER_CONFIG_SHA256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'is no SHA-256; write 64 hexadecimal digits')
    .optional(),
});

const environmentSchema = variablesSchema.refine(
  (set) => (set.AUTOSCALER_CONFIG_PARAMETERS === undefined) === (set.AUTOSCALER_CONFIG_SHA256 === undefined),
  {
    path: ['AUTOSCALER_CONFIG_PARAMETERS'],
    message: 'and AUTOSCALER_CONFIG_SHA256 belong together; set both, or neither',
  },
);

export type Environment = {
  readonly cluster: string;
  readonly stack: string | undefined;
  /** Whether the stack made the cluster. @default false */
  readonly ownsCluster?: boolean;
  /** Messages of this queue invoke the function. */
  readonly queueUrl?: string | undefined;
  /** Undefined: the record of builds is lost at each cold start. */
  readonly record?: string | undefined;
  readonly configFile: string;
  /** The configuration in SSM parameters, which then takes precedence over the file. */
  readonly stored?: { readonly parameters: readonly string[]; readonly sha256: string };
};

/**
 * Reads the function's environment. Throws EnvironmentError, which names the missing or empty
 * variables.
 */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
  defaultConfig: string,
): Environment {
  const set = parseVariables(environmentSchema, variables);
  const { AUTOSCALER_CONFIG_PARAMETERS: parameters, AUTOSCALER_CONFIG_SHA256: sha256 } = set;
  return {
    cluster: set.AUTOSCALER_CLUSTER,
    stack: set.AUTOSCALER_STACK,
    ...(set.AUTOSCALER_OWNS_CLUSTER === 'true' && { ownsCluster: true }),
    queueUrl: set.AUTOSCALER_QUEUE_URL,
    record: set.AUTOSCALER_RECORD,
    configFile: set.AUTOSCALER_CONFIG ?? defaultConfig,
    ...(parameters !== undefined &&
      sha256 !== undefined && { stored: { parameters: parameters.split(','), sha256 } }),
  };
}

/** Throws EnvironmentError. */
export function parseVariables<T extends z.ZodType>(
  schema: T,
  variables: Readonly<Record<string, string | undefined>>,
): z.output<T> {
  const result = schema.safeParse(variables);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw new EnvironmentError(`reading the environment: ${lines.join('; ')}`);
}

/**
 * The configuration of this instance of the function: that of the parameters that the environment
 * names, else that of the file.
 */
export async function loadFunctionConfig({ configFile, stored }: Environment): Promise<LoadedConfig> {
  if (stored === undefined) return loadConfig(configFile);
  const client = new SSMClient({ requestHandler: AWS_TIMEOUTS });
  try {
    return readStoredConfig(await readParameters(client, stored.parameters), stored.sha256);
  } finally {
    client.destroy();
  }
}

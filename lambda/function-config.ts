import { SSMClient } from '@aws-sdk/client-ssm';
import { readParameters } from './adapters/parameters/parameters.ts';
import { type LoadedConfig, loadConfig } from './config/load.ts';
import { readStoredConfig } from './config/stored-config.ts';
import { AWS_TIMEOUTS } from './connect.ts';
import type { Environment } from './environment.ts';

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

/** One look at the real coderd and ECS. */
import { connect } from '../../lambda/connect.ts';
import { observe } from '../../lambda/look/observe.ts';
import { whileWorking } from './activity.ts';
import { checkAwsSetup } from './aws-advice.ts';
import type { CliEnvironment } from './cli-environment.ts';
import { clusterOf, type LiveOptions, readConfig } from './live-options.ts';

/**
 * Looks once. A list that cannot be read does not throw: the snapshot has its status. Throws
 * InputError without a Region or credentials of AWS.
 */
export async function lookLive(options: LiveOptions, cliEnvironment: CliEnvironment) {
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  const connection = connect(config, clusterOf(options, cliEnvironment, config), caBundle);
  const look = async () => {
    await checkAwsSetup(connection.ecs);
    return observe(connection.ports(), config);
  };
  try {
    return { snapshot: await whileWorking('reading coderd and ECS', cliEnvironment, look), config };
  } finally {
    await connection.close();
  }
}

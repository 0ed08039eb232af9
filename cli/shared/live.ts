/** One look at the real coderd and ECS. */
import { connect } from '../../lambda/connect.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { observe } from '../../lambda/look/observe.ts';
import { whileWorking } from './activity.ts';
import { checkAwsSetup, isEverywhere, withAdvice } from './aws-advice.ts';
import { type CliEnvironment, InputError } from './cli-environment.ts';
import { clusterOf, type LiveOptions, readConfig } from './live-options.ts';

/**
 * Looks once. A list that cannot be read does not throw: the snapshot has its status. Throws
 * InputError if nothing is readable because AWS does not answer here: then one message is enough.
 */
export async function lookLive(options: LiveOptions, cliEnvironment: CliEnvironment) {
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  const connection = connect(config, clusterOf(options, cliEnvironment, config), caBundle);
  const look = async () => {
    await checkAwsSetup(connection.ecs);
    return observe(connection.ports(), config);
  };
  try {
    const snapshot = await whileWorking('reading coderd and ECS', cliEnvironment, look);
    checkAwsAnswers(snapshot);
    return { snapshot, config };
  } finally {
    await connection.close();
  }
}

/** coderd is unreadable too without AWS, because its token is a secret there. */
function checkAwsAnswers({ coder, ecs }: Snapshot): void {
  const error = ecs.services.error ?? '';
  const isLost = coder.organizations.every(({ jobs }) => / reading secret "/.test(jobs.error ?? ''));
  if (isLost && isEverywhere(error)) throw new InputError(withAdvice(error));
}

/** One look at the real coderd and ECS. */
import { connect } from '../../lambda/connect.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { observe } from '../../lambda/look/observe.ts';
import { whileWorking } from './activity.ts';
import { checkAwsSetup, isEverywhere, withAdvice } from './aws-advice.ts';
import { type CliEnvironment, InputError } from './cli-environment.ts';
import { clusterOf, type LiveOptions, readConfig } from './live-options.ts';
import { SilenceLimit } from './silence-limit.ts';
import { unreadLists } from './unread-lists.ts';

/**
 * Looks once. A list that cannot be read does not throw: the snapshot has its status. Throws
 * InputError if nothing is readable because AWS does not answer here: then one message is enough.
 */
export async function lookLive(options: LiveOptions, cliEnvironment: CliEnvironment) {
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  const cluster = clusterOf(options, cliEnvironment, config);
  const limit = new SilenceLimit(cliEnvironment.silenceMs);
  const connection = connect(config, cluster, caBundle, {
    until: limit.signal,
    onAnswer: () => limit.onAnswer(),
  });
  const look = async () => {
    await checkAwsSetup(connection.ecs);
    return observe(connection.ports(), config);
  };
  try {
    const snapshot = await whileWorking('reading coderd and ECS', cliEnvironment, look);
    checkAwsAnswers(snapshot);
    if (limit.signal.aborted) printCause(snapshot, cliEnvironment);
    return { snapshot, config };
  } finally {
    limit.stop();
    await connection.close();
  }
}

/** The cause comes before what follows from it. */
function printCause(snapshot: Snapshot, { err }: CliEnvironment): void {
  const [cause] = unreadLists(snapshot);
  if (cause !== undefined) err(`error: ${withAdvice(cause)}\n\n`);
}

const TOKEN_UNREAD = / reading secret "|Secrets Manager did not return the session token/;

/** coderd is unreadable too without AWS, because its token is a secret there. */
function checkAwsAnswers({ coder, ecs }: Snapshot): void {
  const error = ecs.services.error ?? '';
  const isLost = coder.organizations.every(({ jobs }) => TOKEN_UNREAD.test(jobs.error ?? ''));
  if (isLost && isEverywhere(error)) throw new InputError(withAdvice(error));
}

/** One look at the real coderd and ECS. */
import { SSMClient } from '@aws-sdk/client-ssm';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { ParameterError } from '../../lambda/adapters/parameters/parameters.ts';
import { NewerRecordError, RecordParameter } from '../../lambda/adapters/parameters/record-parameter.ts';
import { AWS_TIMEOUTS, NoAnswerError } from '../../lambda/adapters/shared/aws-calls.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { connect } from '../../lambda/connect.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { poolOfService, recordNameOf, STACK_TAG, tagOf } from '../../lambda/decision/model/service-tags.ts';
import type { OrganizationReadings, Reading, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { ageText, plainLine } from '../../lambda/explain/format.ts';
import { observe } from '../../lambda/look/observe.ts';
import { StockLearner } from '../../lambda/look/stock/stock-learner.ts';
import { whileWorking } from './activity.ts';
import { checkAwsSetup, isEverywhere, withAdvice } from './aws-advice.ts';
import { type CliEnvironment, InputError } from './cli-environment.ts';
import { type LiveOptions, readConfig } from './live-options.ts';
import { clusterOf } from './stack-cluster.ts';

/** A list that cannot be read has its status. Throws InputError if AWS does not answer at all. */
export async function lookLive(options: LiveOptions, cliEnvironment: CliEnvironment) {
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  const cluster = await clusterOf(options, cliEnvironment, config);
  const limit = new SilenceLimit(cliEnvironment.silenceMs);
  const connection = connect(config, cluster, caBundle, {
    until: limit.signal,
    onAnswer: () => limit.onAnswer(),
    now: cliEnvironment.now,
  });
  const look = async () => {
    await checkAwsSetup(connection.ecs);
    return observe(connection.ports(), config);
  };
  try {
    const observed = await whileWorking('reading coderd and ECS', cliEnvironment, look);
    checkAwsAnswers(observed);
    if (limit.signal.aborted) printCause(observed, cliEnvironment);
    return { snapshot: { ...observed, stock: await readLearned(observed, config, cliEnvironment) }, config };
  } finally {
    limit.stop();
    await connection.close();
  }
}

/** The coderd with the token of CODER_SESSION_TOKEN; without one as it is, with that of the secret. */
export function withTokenOfShell(coderd: CoderdHttp, { environment }: CliEnvironment): CoderdHttp {
  const token = environment.CODER_SESSION_TOKEN?.trim();
  return token ? coderd.withToken(new Secret(token)) : coderd;
}

/**
 * What the function has learned, as it keeps it in its parameter. Undefined: it has not learned yet, or a
 * note says why it cannot be read.
 */
async function readLearned(
  { ecs, takenAt }: Snapshot,
  config: Config,
  { err }: CliEnvironment,
): Promise<Snapshot['stock']> {
  const names = new Set<string | undefined>(config.pools.map(({ name }) => name));
  const own = ecs.services.items.find((service) => names.has(poolOfService(service)));
  const stack = own && tagOf(own, STACK_TAG);
  if (stack === undefined) return undefined;
  const ssm = new SSMClient({ requestHandler: AWS_TIMEOUTS, maxAttempts: 1 });
  const name = recordNameOf(stack);
  try {
    const record = await new RecordParameter(ssm, name).read();
    if (record === undefined) return undefined;
    const learner = new StockLearner();
    learner.load(record, takenAt);
    return learner.learned();
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    const why =
      error instanceof NewerRecordError
        ? 'a newer version of the autoscaler wrote it. Update this command'
        : `${messageOf(error.cause)}. You need ssm:GetParameters`;
    err(
      `note: the function may keep another number of free daemons, as what it has learned cannot be read. SSM parameter ${name}: ${why}\n`,
    );
    return undefined;
  } finally {
    ssm.destroy();
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

/** With the start of the command this makes about ten seconds. */
const SILENCE_MS = 7_500;

/** Ends all requests when no server has answered for a time: a large deployment takes longer, but answers. */
export class SilenceLimit {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  /** `silenceMs`: milliseconds. @default 7,500 */
  constructor(silenceMs = SILENCE_MS) {
    const cause = new NoAnswerError(`timed out: no answer within ${silenceMs / 1000} s`);
    this.#timer = setTimeout(() => this.#controller.abort(cause), silenceMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  onAnswer(): void {
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** One line for each list of a snapshot that is not complete and current. */
export function unreadLists({ takenAt, coder, ecs }: Snapshot): readonly string[] {
  const readings: readonly Reading<unknown>[] = [
    ...coder.organizations.flatMap(listsOf),
    ecs.services,
    ecs.tasks,
    ecs.protections,
  ];
  const lines = readings.filter(({ status }) => status !== 'ok').map((list) => lineOf(list, takenAt));
  return [...new Set(lines.map(plainLine))];
}

function listsOf(organization: OrganizationReadings): readonly Reading<unknown>[] {
  const { jobs, daemons, previousJobs, workspaces, templates } = organization;
  return [jobs, daemons, previousJobs, workspaces, templates].filter((list) => list !== undefined);
}

function lineOf(list: Reading<unknown>, now: number): string {
  const line = list.error ?? `a list is ${list.status}`;
  if (list.status !== 'stale' || list.takenAt === undefined) return line;
  return `${line}. Using the list of ${ageText((now - list.takenAt) / 1000)} before`;
}

/** One look at the real coderd and ECS. */
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { NoAnswerError } from '../../lambda/adapters/shared/aws-calls.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { connect } from '../../lambda/connect.ts';
import type { OrganizationReadings, Reading, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { ageText, plainLine } from '../../lambda/explain/format.ts';
import { observe } from '../../lambda/look/observe.ts';
import { whileWorking } from './activity.ts';
import { checkAwsSetup, isEverywhere, withAdvice } from './aws-advice.ts';
import { type CliEnvironment, InputError } from './cli-environment.ts';
import { clusterOf, type LiveOptions, readConfig } from './live-options.ts';

/** A list that cannot be read has its status. Throws InputError if AWS does not answer at all. */
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

/** The coderd with the token of CODER_SESSION_TOKEN; without one as it is, with that of the secret. */
export function withTokenOfShell(coderd: CoderdHttp, { environment }: CliEnvironment): CoderdHttp {
  const token = environment.CODER_SESSION_TOKEN?.trim();
  return token ? coderd.withToken(new Secret(token)) : coderd;
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

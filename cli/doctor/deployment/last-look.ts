/**
 * The function's last look, from its own log. It looks from its own network, with its own role: what this machine
 * reaches, the function may not.
 */
import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import { findingLines } from '../../../lambda/explain/finding-text.ts';
import { ageText } from '../../../lambda/explain/format.ts';
import { AwsCallError } from '../../adapters/aws-call-error.ts';
import { type LookLog, readLastLook, readLines } from '../../adapters/look-log.ts';
import { type LastLook, lastLookOf, lateText, saidByFunction } from '../../status/read-log.ts';
import { type Check, fail, ok, skip, warn } from '../check/check.ts';
import { errorOf } from './function-error.ts';
import { isMissing, tryRead } from './reading.ts';

const NAME = 'function: last look';
const FOUND = 'function: finding';

type Asked = {
  readonly log: LookLog;
  readonly now: EpochMs;
  readonly until: AbortSignal;
  /** The age of the newest deployment, in seconds. */
  readonly deployedSeconds: number;
  /** What a look from here finds. */
  readonly findings: Promise<readonly Finding[]>;
};

export async function checkLastLook(
  client: CloudWatchLogsClient,
  { log, now, until, deployedSeconds, findings }: Asked,
): Promise<readonly Check[]> {
  const asked = { name: NAME, permission: `logs:FilterLogEvents on the log group "${log.group}"`, until };
  const read = await tryRead(asked, () => unwrapped(() => readLastLook(client, log, now)));
  if ('check' in read) return [read.check];
  if (read.value === 'no-group') return [skip(NAME, 'log groups')];
  const look = lastLookOf(read.value, log, now);
  const late = lateText(look, deployedSeconds);
  if (late !== undefined) return [fail(NAME, `${sinceWhen(look)}${await loggedError(client, { log, now })}`)];
  if (look.kind !== 'seen') return [ok(NAME, 'none yet: the deployment is new')];
  const own = findingLines(await findings);
  // another check tells both from here
  const said = saidByFunction(look, own).filter(
    (line) => !CHECKED_FROM_HERE.test(line) && !look.failures.includes(line),
  );
  return [judge(look), ...said.map((line) => warn(FOUND, line))];
}

/** The expiry of the token, and the licence. */
const CHECKED_FROM_HERE = /^(?:the token for coderd expires|coderd's license)/;

/** Throws the error of the SDK, from which a missing permission is known. */
async function unwrapped<T>(read: () => Promise<T>): Promise<T | 'no-group'> {
  try {
    return await read();
  } catch (cause) {
    const error = cause instanceof AwsCallError ? (cause.cause ?? cause) : cause;
    if (isMissing(error)) return 'no-group';
    throw error;
  }
}

function sinceWhen(look: LastLook): string {
  const since =
    look.kind === 'seen' ? `for ${ageText(look.ageSeconds)}` : 'since its deployment, or for an hour';
  return `the function has logged no look ${since}, so probably no pool scales`;
}

/** An invocation that fails before its look, or does not end in time, logs an error only. */
async function loggedError(
  client: CloudWatchLogsClient,
  { log: { group }, now }: Pick<Asked, 'log' | 'now'>,
): Promise<string> {
  const lines = { group, startTime: now - HOUR_MS, message: 'ERROR', field: 'level' } as const;
  const errors = await readLines(client, lines, errorOf).catch(() => []);
  const last = errors.at(-1);
  return last === undefined
    ? '. It logged no error either. Look at the checks of the schedule and the log groups, and at the metric Invocations of the function'
    : `. It runs, and its last error is: ${last}`;
}

function judge({ ageSeconds, failures }: Extract<LastLook, { kind: 'seen' }>): Check {
  const ago = `${ageText(ageSeconds)} ago`;
  if (failures.length === 0)
    return ok(NAME, `${ago}; it read coderd and AWS from its own network, with its own role`);
  return fail(
    NAME,
    `${ago}, it failed: ${[...failures.map(withoutPeriod), ...routeAdvice(failures)].join('. ')}`,
  );
}

const withoutPeriod = (sentence: string): string => sentence.replace(/\.$/, '');

/** The failures have the advice for coderd, but no failure names the network of the function. */
function routeAdvice(failures: readonly string[]): readonly string[] {
  const all = failures.join(' ');
  const toCoderd = /no answer from coderd/.test(all);
  const toAws = AWS_SILENT.test(all.replaceAll(/no answer from coderd[^)]*\)/g, ''));
  const places = [
    ...(toCoderd ? ['coderd (security groups, routes, coder.proxy)'] : []),
    ...(toAws ? ['AWS (NAT gateway, or VPC endpoints for ecs, secretsmanager, ssm and sqs)'] : []),
  ];
  if (places.length === 0) return [];
  return [
    `The function looks from the subnets of aws.network, not from this machine: check their way to ${places.join(' and to ')}`,
  ];
}

const AWS_SILENT =
  /TimeoutError|timed out|did not return|did not answer|ETIMEDOUT|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/;

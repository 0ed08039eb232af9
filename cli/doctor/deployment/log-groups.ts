/**
 * The log groups of the function and the pools. Metrics travel in the function's: without it no alarm knows
 * anything. The function does not make it: one without key and retention would block the next deployment.
 */
import {
  type CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  type LogGroup,
} from '@aws-sdk/client-cloudwatch-logs';
import { readPages } from '../../../lambda/adapters/shared/pages.ts';
import type { AwsSettings } from '../../../lambda/config/rules/deployment.ts';
import { some } from '../../../lambda/explain/format.ts';
import { namesOf, type StackResource } from '../../adapters/stack-resources.ts';
import { quoted } from '../../shared/shell-words.ts';
import { type Check, fail, ok, warn } from '../check/check.ts';
import { tryRead } from './reading.ts';

const NAME = 'log groups';

type Wanted = {
  readonly aws: Pick<AwsSettings, 'logs' | 'kmsKey'>;
  /** Of the stack. An existing group of `aws.logs.group` is none of them. */
  readonly resources: readonly StackResource[];
  /** That of the function, as the services name it. Undefined: no service does. */
  readonly ofFunction: string | undefined;
  readonly until: AbortSignal;
};

export async function checkLogGroups(
  client: CloudWatchLogsClient,
  wanted: Wanted,
): Promise<readonly Check[]> {
  const own = wanted.ofFunction === undefined ? [] : [wanted.ofFunction];
  const ofPools = namesOf('poolLogs', wanted.resources);
  const all = namesOf('logs', wanted.resources);
  const made = [...own.filter((name) => all.includes(name)), ...ofPools];
  const names = [...new Set([...own, ...ofPools])];
  if (names.length === 0) return [];
  const asked = { name: NAME, permission: 'logs:DescribeLogGroups', until: wanted.until };
  const read = await tryRead(asked, (options) => listGroups(client, commonPrefix(names), options));
  if ('check' in read) return [read.check];
  const { items, incomplete } = read.value;
  const found = new Map(items.map((group) => [group.logGroupName ?? '', group]));
  const problems = names.flatMap((name) => {
    const group = found.get(name);
    if (group !== undefined) return made.includes(name) ? judgeGroup(name, group, wanted.aws) : [];
    return incomplete === undefined ? [missing(name, wanted)] : [];
  });
  return problems.length > 0
    ? problems
    : [
        ok(
          NAME,
          `${some(names.length, 'group')}, each with its retention${wanted.aws.kmsKey ? ' and key' : ''}`,
        ),
      ];
}

function listGroups(
  client: CloudWatchLogsClient,
  prefix: string,
  options: { readonly abortSignal: AbortSignal },
) {
  const query = prefix === '' ? {} : { logGroupNamePrefix: prefix };
  return readPages('DescribeLogGroups', async (nextToken) => {
    const page = await client.send(new DescribeLogGroupsCommand({ ...query, nextToken }), options);
    return { items: page.logGroups ?? [], next: page.nextToken };
  });
}

function commonPrefix([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  while (others.some((name) => !name.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

/** What follows, and the commands that restore it as the stack had made it. */
function missing(name: string, { aws, ofFunction }: Wanted): Check {
  const effect =
    name === ofFunction
      ? 'the function writes neither log nor metrics. Pools may scale all the same, but alarms ring or stay silent at random, and `status` knows no last look'
      : 'its tasks start, but write no log, or do not start at all';
  const key = aws.kmsKey === undefined ? '' : ` --kms-key-id ${quoted(aws.kmsKey)}`;
  const create = `aws logs create-log-group --log-group-name ${quoted(name)}${key}`;
  return fail(
    NAME,
    `"${name}" does not exist: ${effect}. Deploying again does not restore it. Run: ${create} && ${retentionCommand(name, aws)}`,
  );
}

const retentionCommand = (name: string, { logs }: Wanted['aws']): string =>
  `aws logs put-retention-policy --log-group-name ${quoted(name)} --retention-in-days ${logs.retentionDays}`;

function judgeGroup(
  name: string,
  { retentionInDays, kmsKeyId }: LogGroup,
  aws: Wanted['aws'],
): readonly Check[] {
  const { kmsKey, logs } = aws;
  const kept = retentionInDays === undefined ? 'for ever' : `for ${some(retentionInDays, 'day')}`;
  return [
    ...(retentionInDays === logs.retentionDays
      ? []
      : [
          warn(
            NAME,
            `"${name}" keeps logs ${kept} instead of ${some(logs.retentionDays, 'day')}. Run: ${retentionCommand(name, aws)}`,
          ),
        ]),
    ...(kmsKey === undefined || kmsKeyId === kmsKey
      ? []
      : [
          warn(
            NAME,
            `"${name}" is encrypted with ${kmsKeyId ?? "AWS's own key"} instead of aws.kmsKey. Run: aws logs associate-kms-key --log-group-name ${quoted(name)} --kms-key-id ${quoted(kmsKey)}`,
          ),
        ]),
  ];
}

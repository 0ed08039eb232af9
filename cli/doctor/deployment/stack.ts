/** The state of the CloudFormation stack: a deployment that failed half-way leaves old and new parts. */
import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import { quoted } from '../../shared/shell-words.ts';
import { type Check, fail, ok, warn } from '../check/check.ts';
import { notLooked, tryRead } from './reading.ts';

const NAME = 'stack';

export async function checkStack(
  client: CloudFormationClient,
  stack: string,
  until: AbortSignal,
): Promise<Check> {
  const asked = { name: NAME, permission: 'cloudformation:DescribeStacks', until };
  const read = await tryRead(asked, (options) =>
    client.send(new DescribeStacksCommand({ StackName: stack }), options).catch((cause: unknown) => {
      if (messageOf(cause).includes('does not exist')) return undefined;
      throw cause;
    }),
  );
  if ('check' in read) return read.check;
  const found = read.value?.Stacks?.[0];
  if (found === undefined)
    return notLooked(NAME, `this Region has no stack "${stack}". Name it in aws.stack`);
  return judgeStack(stack, found.StackStatus ?? '');
}

function judgeStack(stack: string, status: string): Check {
  const seen = `stack "${stack}" is ${status}`;
  const why = `The first event with FAILED says why: aws cloudformation describe-stack-events --stack-name ${quoted(stack)}`;
  if (status === 'UPDATE_ROLLBACK_FAILED')
    return fail(
      NAME,
      `${seen}: some parts are of the failed deployment, others of the one before, and no deployment works. ${why}. Then end the rollback: aws cloudformation continue-update-rollback --stack-name ${quoted(stack)}`,
    );
  if (/_FAILED$|^ROLLBACK_COMPLETE$/.test(status)) return fail(NAME, `${seen}. ${why}. Then deploy again`);
  if (status.includes('ROLLBACK'))
    return warn(
      NAME,
      `${seen}: the last deployment failed, and what runs is of the one before. ${why}. Then deploy again`,
    );
  if (status === 'DELETE_IN_PROGRESS') return warn(NAME, `${seen}: somebody deletes this deployment`);
  return ok(NAME, seen);
}

/** The schedule that invokes the function each minute. Somebody may disable or delete it. */
import {
  GetScheduleCommand,
  type GetScheduleCommandOutput,
  SchedulerClient,
} from '@aws-sdk/client-scheduler';
import { namesOf, type StackResource } from '../../adapters/stack-resources.ts';
import { quoted } from '../../shared/shell-words.ts';
import { type Check, fail, ok } from '../check/check.ts';
import { CLIENT, isMissing, notLooked, REVERT, tryRead } from './reading.ts';

const NAME = 'schedule';

export async function checkSchedule(resources: readonly StackResource[], until: AbortSignal): Promise<Check> {
  const [Name] = namesOf('schedule', resources);
  const [GroupName] = namesOf('scheduleGroup', resources);
  if (Name === undefined || GroupName === undefined)
    return notLooked(NAME, 'the stack has no schedule. Deploy this version');
  const schedule = { GroupName, Name };
  const client = new SchedulerClient(CLIENT);
  try {
    const asked = { name: NAME, permission: 'scheduler:GetSchedule', until };
    const read = await tryRead(asked, (options) =>
      client.send(new GetScheduleCommand(schedule), options).catch((cause: unknown) => {
        if (isMissing(cause)) return undefined;
        throw cause;
      }),
    );
    if ('check' in read) return read.check;
    return judgeSchedule(schedule, read.value);
  } finally {
    client.destroy();
  }
}

type Seen = Pick<GetScheduleCommandOutput, 'State' | 'ScheduleExpression'>;

function judgeSchedule(
  { GroupName, Name }: { readonly GroupName: string; readonly Name: string },
  seen: Seen | undefined,
): Check {
  const named = `"${Name}" of group "${GroupName}"`;
  if (seen === undefined)
    return fail(NAME, `${named} does not exist, so no look comes and no pool scales. Restore it: ${REVERT}`);
  if (seen.State === 'DISABLED') {
    const get = `aws scheduler get-schedule --group-name ${quoted(GroupName)} --name ${quoted(Name)}`;
    const change = `jq 'del(.Arn,.CreationDate,.LastModificationDate) | .State="ENABLED"'`;
    return fail(
      NAME,
      `${named} is disabled, so no look comes and no pool scales. Enable it: aws scheduler update-schedule --cli-input-json "$(${get} | ${change})"`,
    );
  }
  return ok(NAME, `${seen.State === 'ENABLED' ? 'enabled' : seen.State}, ${seen.ScheduleExpression}`);
}

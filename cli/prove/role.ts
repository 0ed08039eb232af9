/** What the function's role may do, asked of IAM's policy simulation: no call changes anything. */
import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { GetRoleCommand, IAMClient, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { describeAwsError } from '../../lambda/adapters/shared/aws-calls.ts';
import { FUNCTION_ROLE, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import { PATIENT } from '../shared/aws-advice.ts';
import type { Measured } from './rows.ts';

const MUST = [
  'DescribeServices',
  'UpdateService',
  'DescribeTasks',
  'GetTaskProtection',
  'UpdateTaskProtection',
];
const NEVER = ['StopTask', 'RunTask', 'ExecuteCommand', 'DeleteService', 'TagResource'];

type Place = { readonly stack: string; readonly service: string; readonly task: string };

/** Whether it can do what it must, and whether it can do nothing else. Does not throw. */
export async function askRole(place: Place): Promise<{ readonly can: Measured; readonly cannot: Measured }> {
  const iam = new IAMClient({ requestHandler: PATIENT });
  const cloudFormation = new CloudFormationClient({ requestHandler: PATIENT });
  try {
    const role = await findRole(place.stack, cloudFormation, iam);
    const allowed = new Set(await simulate(iam, role, place));
    const lacking = MUST.filter((name) => !allowed.has(`ecs:${name}`));
    const wrong = NEVER.filter((name) => allowed.has(`ecs:${name}`));
    return {
      can: verdict(lacking, 'it cannot', `it can: ${MUST.join(', ')}`),
      cannot: verdict(wrong, 'it can', `it cannot: ${NEVER.join(', ')}`),
    };
  } catch (cause) {
    const needs = 'cloudformation:ListStackResources, iam:GetRole and iam:SimulatePrincipalPolicy';
    const unread = { isOk: undefined, measured: `${describeAwsError(cause).reason}; it needs ${needs}` };
    return { can: unread, cannot: unread };
  } finally {
    iam.destroy();
    cloudFormation.destroy();
  }
}

function verdict(wrong: readonly string[], but: string, fine: string): Measured {
  return { isOk: wrong.length === 0, measured: wrong.length === 0 ? fine : `${but}: ${wrong.join(', ')}` };
}

/** Roles of pools have "Task" in their names, and a stack has many of them. */
async function findRole(StackName: string, client: CloudFormationClient, iam: IAMClient): Promise<string> {
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName }))
    for (const {
      ResourceType,
      LogicalResourceId = '',
      PhysicalResourceId: RoleName,
    } of StackResourceSummaries) {
      if (ResourceType !== 'AWS::IAM::Role' || /Task(?:Execution)?Role/.test(LogicalResourceId)) continue;
      const { Role } = await iam.send(new GetRoleCommand({ RoleName }));
      if (Role?.Description === FUNCTION_ROLE && Role.Arn !== undefined) return Role.Arn;
    }
  throw new Error(`stack ${StackName} has no role with the description "${FUNCTION_ROLE}"`);
}

/** The actions that are allowed on the service or on the task. */
async function simulate(
  iam: IAMClient,
  role: string,
  { stack, service, task }: Place,
): Promise<readonly string[]> {
  const tag = { ContextKeyName: `aws:ResourceTag/${STACK_TAG}`, ContextKeyValues: [stack] };
  const answers = await Promise.all(
    [service, task].map((resource) =>
      iam.send(
        new SimulatePrincipalPolicyCommand({
          PolicySourceArn: role,
          ActionNames: [...MUST, ...NEVER].map((name) => `ecs:${name}`),
          ResourceArns: [resource],
          ContextEntries: [{ ...tag, ContextKeyType: 'string' }],
        }),
      ),
    ),
  );
  return answers.flatMap(({ EvaluationResults = [] }) =>
    EvaluationResults.flatMap(({ EvalActionName: action, EvalDecision }) =>
      EvalDecision === 'allowed' && action !== undefined ? [action] : [],
    ),
  );
}

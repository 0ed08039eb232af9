/** What the function's role may do, asked of IAM's policy simulation: no call changes anything. */
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetRoleCommand, IAMClient, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { describeAwsError } from '../../../lambda/adapters/shared/aws-calls.ts';
import { FUNCTION_ROLE, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { PATIENT } from '../../shared/aws-advice.ts';
import type { Bench } from '../bench/bench.ts';
import { stackRoles } from '../bench/stack-roles.ts';

const MUST = [
  'DescribeServices',
  'UpdateService',
  'DescribeTasks',
  'GetTaskProtection',
  'UpdateTaskProtection',
];
const NEVER = ['StopTask', 'RunTask', 'ExecuteCommand', 'DeleteService', 'TagResource'];

/** Whether it can do what it must, and whether it can do nothing else to the service and its tasks. Does not throw. */
export async function noteRole(bench: Bench): Promise<void> {
  const { stack, service } = bench.place;
  const iam = new IAMClient({ requestHandler: PATIENT });
  const cloudFormation = new CloudFormationClient({ requestHandler: PATIENT });
  try {
    const role = await findRole(stack, cloudFormation, iam);
    // all tasks of the cluster are one resource to its policy
    const resources = [service.serviceArn, service.serviceArn.replace(':service/', ':task/')];
    const answers = await Promise.all(resources.map((resource) => simulate(iam, role, stack, resource)));
    const untold = [...MUST, ...NEVER].filter((name) => answers.some((told) => !told.has(`ecs:${name}`)));
    if (untold.length > 0) throw new Error(`IAM's simulation has no answer for ${untold.join(', ')}`);
    const allowed = new Set(answers.flatMap((told) => [...told].flatMap(([name, can]) => (can ? name : []))));
    const lacking = MUST.filter((name) => !allowed.has(`ecs:${name}`));
    const wrong = NEVER.filter((name) => allowed.has(`ecs:${name}`));
    const can = lacking.length === 0 ? `it can: ${MUST.join(', ')}` : `it cannot: ${lacking.join(', ')}`;
    const cannot = wrong.length === 0 ? `it cannot: ${NEVER.join(', ')}` : `it can: ${wrong.join(', ')}`;
    bench.note('role-can', lacking.length === 0, can);
    bench.note('role-cannot-stop', wrong.length === 0, cannot);
  } catch (cause) {
    const needs = 'cloudformation:ListStackResources, iam:GetRole and iam:SimulatePrincipalPolicy';
    const why = `${describeAwsError(cause).reason}. You need ${needs}`;
    for (const id of ['role-can', 'role-cannot-stop'] as const) bench.note(id, undefined, why);
  } finally {
    iam.destroy();
    cloudFormation.destroy();
  }
}

/** Roles of pools have "Task" in their names, and a stack has many of them. */
async function findRole(StackName: string, client: CloudFormationClient, iam: IAMClient): Promise<string> {
  for (const { id, name } of await stackRoles(StackName, client)) {
    if (/Task(?:Execution)?Role/.test(id)) continue;
    const { Role } = await iam.send(new GetRoleCommand({ RoleName: name }));
    if (Role?.Description === FUNCTION_ROLE && Role.Arn !== undefined) return Role.Arn;
  }
  throw new Error(`stack ${StackName} has no role with the description "${FUNCTION_ROLE}"`);
}

/** By action, whether it is allowed on the resource. */
async function simulate(iam: IAMClient, role: string, stack: string, resource: string) {
  const tag = { ContextKeyName: `aws:ResourceTag/${STACK_TAG}`, ContextKeyValues: [stack] };
  const { EvaluationResults = [] } = await iam.send(
    new SimulatePrincipalPolicyCommand({
      PolicySourceArn: role,
      ActionNames: [...MUST, ...NEVER].map((name) => `ecs:${name}`),
      ResourceArns: [resource],
      ContextEntries: [{ ...tag, ContextKeyType: 'string' }],
    }),
  );
  return new Map(EvaluationResults.map((each) => [each.EvalActionName, each.EvalDecision === 'allowed']));
}

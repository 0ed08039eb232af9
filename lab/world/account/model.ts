import { z } from 'zod';
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import { FUNCTION_ROLE } from '../../../lambda/decision/model/service-tags.ts';
import { AwsError, type AwsService, accessDenied, type Caller, operationsFor } from '../base/aws-service.ts';

/** What an AWS account has beside the services of a look: stacks, the schedule, KMS keys, quotas, and ECS's role. */
export class AccountModel {
  readonly id = '123456789012';
  /** By name; with the cluster that its outputs name. */
  readonly stacks = new Map<string, { readonly status: string; readonly cluster?: string }>();
  /** Of any stack, beside its roles, by physical id. The last two are of others in the same stack. */
  readonly resources = new Map<string, { readonly type: string; readonly logicalId: string }>([
    [
      'Stack-Schedules-0A1B',
      { type: 'AWS::Scheduler::ScheduleGroup', logicalId: 'AutoscalerScheduleGroupFC25FB6B' },
    ],
    ['Stack-Schedule-2C3D', { type: 'AWS::Scheduler::Schedule', logicalId: 'AutoscalerScheduleA5FBB37B' }],
    ['Nightly', { type: 'AWS::Scheduler::Schedule', logicalId: 'NightlySchedule0A1B2C3D' }],
    ['flow-logs', { type: 'AWS::Logs::LogGroup', logicalId: 'VpcFlowLogs0A1B2C3D' }],
  ]);
  /** The state of the schedule that invokes the function. Undefined: somebody deleted it. */
  schedule: 'ENABLED' | 'DISABLED' | undefined = 'ENABLED';
  /** By ARN. */
  readonly kmsKeys = new Map<string, 'Enabled' | 'Disabled' | 'PendingDeletion'>();
  /** By code. A new account has 6 vCPUs of Fargate, on demand and on Spot (docs/internals/aws.md §2). */
  readonly quotas = new Map([
    ['L-3032A538', 6],
    ['L-36FBB829', 6],
  ]);
  readonly requested = new Map<string, number>();
  /** ECS's service-linked role, which a new account lacks. `made`: the first look does not see it yet. */
  serviceRole: 'none' | 'made' | 'there' = 'none';
  /** Whether a person may make roles, but not look at them. */
  hidesRoles = false;
  /** Whether IAM's policy simulation answers for the actions. */
  simulates = true;
  /** What the function's role may do in ECS, as IAM's policy simulation tells it. */
  readonly functionMay = new Set(
    ['DescribeServices', 'UpdateService', 'DescribeTasks', 'GetTaskProtection', 'UpdateTaskProtection'].map(
      (name) => `ecs:${name}`,
    ),
  );
}

export function callQuery(model: AccountModel, form: URLSearchParams, caller: Caller): string {
  const action = form.get('Action') ?? '';
  if (action === 'GetCallerIdentity') return answer(action, identity(model, caller));
  if (action === 'DescribeStacks' && caller === 'person')
    return answer(action, stacks(model, form.get('StackName') ?? ''));
  if (action === 'ListStackResources' && caller === 'person') return answer(action, stackResources(model));
  if (action === 'SimulatePrincipalPolicy' && caller === 'person')
    return answer(action, simulate(model, form));
  if (action === 'GetRole' && caller === 'person' && !model.hidesRoles)
    return answer(action, roleXml(form.get('RoleName')) ?? serviceRole(model));
  if (action === 'CreateServiceLinkedRole' && caller === 'person')
    return answer(action, createServiceRole(model, form.get('AWSServiceName') ?? ''));
  // the Query services have another name for it (docs/internals/aws.md §6)
  throw new AwsError('AccessDenied', accessDenied(`cloudformation:${action}`, { caller }).message);
}

function answer(action: string, result: string): string {
  return `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`;
}

export function errorXml({ type, message }: AwsError): string {
  return `<ErrorResponse><Error><Type>Sender</Type><Code>${type}</Code><Message>${message}</Message></Error></ErrorResponse>`;
}

function identity({ id }: AccountModel, caller: Caller): string {
  const arn = `arn:aws:sts::${id}:assumed-role/${caller}/session`;
  return `<Arn>${arn}</Arn><UserId>AROA:session</UserId><Account>${id}</Account>`;
}

function stacks(model: AccountModel, name: string): string {
  const stack = model.stacks.get(name);
  if (stack === undefined) throw new AwsError('ValidationError', `Stack with id ${name} does not exist`);
  const fields = `<StackName>${name}</StackName><StackStatus>${stack.status}</StackStatus>${outputs(stack)}`;
  return `<Stacks><member>${fields}<CreationTime>2026-03-02T09:00:00Z</CreationTime></member></Stacks>`;
}

const outputs = ({ cluster }: { readonly cluster?: string }): string =>
  cluster === undefined
    ? ''
    : `<Outputs><member><OutputKey>ClusterName</OutputKey><OutputValue>${cluster}</OutputValue></member></Outputs>`;

const ROLE = 'AWSServiceRoleForECS';
const ROLE_XML = `<Role><Path>/aws-service-role/ecs.amazonaws.com/</Path><RoleName>${ROLE}</RoleName><RoleId>AROA</RoleId><Arn>arn:aws:iam::123456789012:role/aws-service-role/ecs.amazonaws.com/${ROLE}</Arn><CreateDate>2026-03-02T09:00:00Z</CreateDate></Role>`;

/** Of any stack: the roles of its schedule and of its function, by physical name. */
const STACK_ROLE_NAMES: Readonly<Record<string, string>> = {
  AutoscalerScheduleRole88715A7E: 'Starts the function',
  AutoscalerRole728808EE: FUNCTION_ROLE,
  PoolProvingBoundTaskRole1A2B: 'Terraform in the provisioner daemons of pool proving',
};
function stackResources({ resources }: AccountModel): string {
  const roles = Object.keys(STACK_ROLE_NAMES).map(
    (id) => [id, { type: 'AWS::IAM::Role', logicalId: id }] as const,
  );
  const members = [...roles, ...resources].map(
    ([id, { type, logicalId }]) =>
      `<member><ResourceType>${type}</ResourceType><LogicalResourceId>${logicalId}</LogicalResourceId><PhysicalResourceId>${id}</PhysicalResourceId></member>`,
  );
  return `<StackResourceSummaries>${members.join('')}</StackResourceSummaries>`;
}

function roleXml(name: string | null): string | undefined {
  const description = ownValue(STACK_ROLE_NAMES, name ?? '');
  if (description === undefined) return undefined;
  const arn = `arn:aws:iam::123456789012:role/${name}`;
  return `<Role><Path>/</Path><RoleName>${name}</RoleName><RoleId>AROA</RoleId><Arn>${arn}</Arn><CreateDate>2026-03-02T09:00:00Z</CreateDate><Description>${description}</Description></Role>`;
}

function simulate({ functionMay, simulates }: AccountModel, form: URLSearchParams): string {
  const isFunction = form.get('PolicySourceArn')?.endsWith('AutoscalerRole728808EE') ?? false;
  const actions = [...form].flatMap(([name, value]) =>
    name.startsWith('ActionNames.member.') ? [value] : [],
  );
  const rows = (simulates ? actions : []).map((action) => {
    const decision = isFunction && functionMay.has(action) ? 'allowed' : 'implicitDeny';
    return `<member><EvalActionName>${action}</EvalActionName><EvalDecision>${decision}</EvalDecision></member>`;
  });
  return `<EvaluationResults>${rows.join('')}</EvaluationResults><IsTruncated>false</IsTruncated>`;
}

function serviceRole(model: AccountModel): string {
  const { serviceRole: seen } = model;
  if (seen === 'made') model.serviceRole = 'there';
  if (seen !== 'there') throw new AwsError('NoSuchEntity', `The role with name ${ROLE} cannot be found.`);
  return ROLE_XML;
}

function createServiceRole(model: AccountModel, service: string): string {
  if (service !== 'ecs.amazonaws.com') throw new AwsError('InvalidInput', 'no such service');
  if (model.serviceRole !== 'none')
    throw new AwsError(
      'InvalidInput',
      `Service role name ${ROLE} has been taken in this account, please try a different suffix.`,
    );
  model.serviceRole = 'made';
  return ROLE_XML;
}

const operation = operationsFor<AccountModel>('IllegalArgumentException');
const quotaRequest = z.object({ ServiceCode: z.literal('fargate'), QuotaCode: z.string() });
const asked = (QuotaCode: string, DesiredValue: number) => ({ QuotaCode, DesiredValue, Status: 'PENDING' });

export const SERVICE_QUOTAS: AwsService<AccountModel> = {
  service: 'servicequotas',
  operations: {
    GetServiceQuota: operation(['person'], quotaRequest, ({ quotas }, { QuotaCode }) => {
      const Value = quotas.get(QuotaCode);
      if (Value === undefined) throw new AwsError('NoSuchResourceException', 'The quota does not exist.');
      return { Quota: { QuotaCode, Value } };
    }),
    ListRequestedServiceQuotaChangeHistoryByQuota: operation(
      ['person'],
      quotaRequest,
      ({ requested }, { QuotaCode }) => {
        const wanted = requested.get(QuotaCode);
        return { RequestedQuotas: wanted === undefined ? [] : [asked(QuotaCode, wanted)] };
      },
    ),
    RequestServiceQuotaIncrease: operation(
      ['person'],
      quotaRequest.extend({ DesiredValue: z.number().positive() }),
      ({ requested }, { QuotaCode, DesiredValue }) => {
        if (requested.has(QuotaCode))
          throw new AwsError('ResourceAlreadyExistsException', 'Only one open request is allowed per quota.');
        requested.set(QuotaCode, DesiredValue);
        return { RequestedQuota: asked(QuotaCode, DesiredValue) };
      },
    ),
  },
};

/** EventBridge Scheduler's GetSchedule, which is REST: the path has the name, the query the group. Throws AwsError. */
export function getSchedule({ resources, schedule }: AccountModel, url: string, caller: Caller): object {
  const { pathname, searchParams } = new URL(url, 'http://scheduler');
  const name = decodeURIComponent(pathname.slice('/schedules/'.length));
  if (caller !== 'person') throw accessDenied('scheduler:GetSchedule', { caller });
  const isKnown = resources.has(name) && resources.has(searchParams.get('groupName') ?? '');
  if (schedule === undefined || !isKnown)
    throw new AwsError('ResourceNotFoundException', `Schedule ${name} does not exist.`);
  return { Name: name, State: schedule, ScheduleExpression: 'rate(1 minute)' };
}

export const KMS: AwsService<AccountModel> = {
  service: 'kms',
  operations: {
    DescribeKey: operationsFor<AccountModel>('ValidationException')(
      ['person'],
      z.object({ KeyId: z.string() }),
      ({ kmsKeys }, { KeyId }) => {
        const KeyState = kmsKeys.get(KeyId);
        if (KeyState === undefined) throw new AwsError('NotFoundException', `Key '${KeyId}' does not exist`);
        return { KeyMetadata: { KeyId, Arn: KeyId, KeyState } };
      },
    ),
  },
};

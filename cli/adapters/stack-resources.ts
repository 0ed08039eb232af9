/** The resources of a stack, by type. */
import { type CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import { readPages } from '../../lambda/adapters/shared/pages.ts';

export type StackResource = {
  readonly type: string;
  /** In the template. */
  readonly logicalId: string;
  /** The physical id: of most types the name. */
  readonly name: string;
};

/**
 * Those of the autoscaler among the resources: a CDK app of your own may have others in the same stack. CDK makes the
 * logical id of the constructs' names and a hash, and a deployed one never changes.
 */
const LOGICAL_IDS = {
  schedule: ['AWS::Scheduler::Schedule', /AutoscalerSchedule[0-9A-F]{8}$/],
  scheduleGroup: ['AWS::Scheduler::ScheduleGroup', /AutoscalerScheduleGroup[0-9A-F]{8}$/],
  poolLogs: ['AWS::Logs::LogGroup', /Pool\w*Logs[0-9A-F]{8}$/],
  logs: ['AWS::Logs::LogGroup', /Logs[0-9A-F]{8}$/],
} as const;

/** The names of the resources of this kind. `logs`: those of the function too, and perhaps of others. */
export function namesOf(
  kind: keyof typeof LOGICAL_IDS,
  resources: readonly StackResource[],
): readonly string[] {
  const [type, pattern] = LOGICAL_IDS[kind];
  return resources
    .filter((resource) => resource.type === type && pattern.test(resource.logicalId))
    .map(({ name }) => name);
}

/** Throws the error of the SDK, or one for a list without an end. */
export async function readStackResources(
  client: CloudFormationClient,
  StackName: string,
  abortSignal?: AbortSignal,
): Promise<readonly StackResource[]> {
  const { items, incomplete } = await readPages('ListStackResources', async (NextToken) => {
    const command = new ListStackResourcesCommand({ StackName, NextToken });
    const page = await client.send(command, abortSignal && { abortSignal });
    return { items: page.StackResourceSummaries ?? [], next: page.NextToken };
  });
  if (incomplete !== undefined) throw new Error(incomplete);
  return items.map(({ ResourceType = '', LogicalResourceId = '', PhysicalResourceId = '' }) => ({
    type: ResourceType,
    logicalId: LogicalResourceId,
    name: PhysicalResourceId,
  }));
}

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

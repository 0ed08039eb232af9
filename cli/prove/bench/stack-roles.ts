/** The roles of a stack. */
import { type CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import { readPages } from '../../../lambda/adapters/shared/pages.ts';

/** `id`: in the template. Throws the error of the SDK, or one for a list without an end. */
export async function stackRoles(StackName: string, client: CloudFormationClient) {
  const { items, incomplete } = await readPages('ListStackResources', async (NextToken) => {
    const page = await client.send(new ListStackResourcesCommand({ StackName, NextToken }));
    return { items: page.StackResourceSummaries ?? [], next: page.NextToken };
  });
  if (incomplete !== undefined) throw new Error(incomplete);
  return items
    .filter(({ ResourceType }) => ResourceType === 'AWS::IAM::Role')
    .map(({ LogicalResourceId: id = '', PhysicalResourceId: name = '' }) => ({ id, name }));
}

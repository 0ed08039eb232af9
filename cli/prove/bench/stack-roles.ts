/** The roles of a stack. */
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { readStackResources } from '../../adapters/stack-resources.ts';

/** `id`: in the template. Throws the error of the SDK, or one for a list without an end. */
export async function stackRoles(stack: string, client: CloudFormationClient) {
  const resources = await readStackResources(client, stack);
  return resources
    .filter(({ type }) => type === 'AWS::IAM::Role')
    .map(({ logicalId: id, name }) => ({ id, name }));
}

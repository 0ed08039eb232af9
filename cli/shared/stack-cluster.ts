/** The ECS cluster of a command: as named, or as the stack has it in its outputs. */
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { AWS_TIMEOUTS } from '../../lambda/adapters/shared/aws-calls.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { isEverywhere, withAdvice } from './aws-advice.ts';
import { type CliEnvironment, InputError } from './cli-environment.ts';
import type { LiveOptions } from './live-options.ts';

type Found = { readonly cluster: string } | { readonly problem: string };

/** That of `--cluster`, of AUTOSCALER_CLUSTER, of the configuration, or of its stack, in this order. */
export async function findCluster(
  { cluster }: LiveOptions,
  { environment }: CliEnvironment,
  { aws }: Pick<Deployment, 'aws'>,
): Promise<Found> {
  const named = cluster ?? environment.AUTOSCALER_CLUSTER ?? aws.cluster;
  return named ? { cluster: named } : outputOf(aws.stack);
}

/** Like `findCluster`. Throws InputError if there is none. */
export async function clusterOf(...named: Parameters<typeof findCluster>): Promise<string> {
  const found = await findCluster(...named);
  if ('cluster' in found) return found.cluster;
  throw new InputError(found.problem);
}

const ADVICE = 'Deploy it, or name the cluster with --cluster or AUTOSCALER_CLUSTER';

async function outputOf(stack: string): Promise<Found> {
  const client = new CloudFormationClient({ requestHandler: AWS_TIMEOUTS, maxAttempts: 2 });
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const output = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'ClusterName')?.OutputValue;
    if (output) return { cluster: output };
    return { problem: `finding the ECS cluster: stack "${stack}" has no output ClusterName. ${ADVICE}` };
  } catch (cause) {
    const said = `${cause instanceof Error ? cause.name : ''}: ${messageOf(cause)}`;
    if (said.includes('does not exist'))
      return { problem: `finding the ECS cluster: this Region has no stack "${stack}". ${ADVICE}` };
    const read = `finding the ECS cluster in the outputs of stack "${stack}": ${said}`;
    return { problem: isEverywhere(said) ? withAdvice(read) : `${read}. ${ADVICE}` };
  } finally {
    client.destroy();
  }
}

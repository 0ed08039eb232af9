/** The variables that the function has only after a deployment. */
import type { ServedWorld } from '../../simulator/serve.ts';
import type { World } from '../../simulator/world.ts';

export const REGION = 'eu-central-1';

/** The variables of a function in this world. Its AWS is the simulated one. */
export function functionEnvironment(
  world: World,
  { awsUrl }: Pick<ServedWorld, 'awsUrl'>,
): Readonly<Record<string, string>> {
  return {
    AUTOSCALER_CLUSTER: world.ecs.clusterName,
    AUTOSCALER_STACK: world.stackName,
    AWS_ENDPOINT_URL: awsUrl,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'FUNCTION',
    AWS_SECRET_ACCESS_KEY: 'simulated',
    POWERTOOLS_SERVICE_NAME: world.stackName,
    POWERTOOLS_METRICS_DISABLED: 'true',
  };
}

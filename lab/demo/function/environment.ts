import { quoted } from '../../../cli/shared/shell-words.ts';
import { recordNameOf } from '../../../lambda/decision/model/service-tags.ts';
import { ACCESS_KEY_OF_A_PERSON } from '../../world/aws-http.ts';
import type { ServedWorld } from '../../world/serve.ts';
import type { World } from '../../world/world.ts';

const REGION = 'eu-central-1';

/** The variables of a function in this world. Its AWS is the simulated one. */
export function functionEnvironment(
  world: World,
  { awsUrl }: Pick<ServedWorld, 'awsUrl'>,
): Readonly<Record<string, string>> {
  return {
    AUTOSCALER_CLUSTER: world.ecs.clusterName,
    AUTOSCALER_STACK: world.stackName,
    AUTOSCALER_RECORD: recordNameOf(world.stackName),
    AWS_ENDPOINT_URL: awsUrl,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'FUNCTION',
    AWS_SECRET_ACCESS_KEY: 'simulated',
    POWERTOOLS_SERVICE_NAME: world.stackName,
    POWERTOOLS_METRICS_DISABLED: 'true',
  };
}

/** For a person, instead of a profile of the real AWS: no command reaches a real account. */
export function environmentOf(
  world: World,
  { coderdUrl, awsUrl }: ServedWorld,
  configFile: string,
): Readonly<Record<string, string>> {
  return {
    AUTOSCALER_CONFIG: configFile,
    AWS_ENDPOINT_URL: awsUrl,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: ACCESS_KEY_OF_A_PERSON,
    AWS_SECRET_ACCESS_KEY: 'simulated',
    AWS_PROFILE: '',
    CODER_URL: coderdUrl,
    CODER_SESSION_TOKEN: world.coderd.addToken({ canRead: 'all' }),
  };
}

/** For a shell, with the process that serves the world (cli/shared/running-try.ts reads both). */
export function exportLines(environment: Readonly<Record<string, string>>): string {
  const lines = Object.entries(environment).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  return [`# process ${process.pid}\n`, ...lines].join('');
}

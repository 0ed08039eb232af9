/** In a clone, the commands find the deployment of `npm run try` by themselves while it runs. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

type Variables = Readonly<Record<string, string | undefined>>;

/** Of this clone: a package has none. */
const FILE = new URL('../../dist/try/env', import.meta.url);

/** Its variables. None if it does not run, or if this command or its environment names another deployment. */
export function runningTry(
  args: readonly string[],
  environment: Variables,
  file: URL | string = FILE,
): Variables {
  const isNamed = Object.keys(environment).some((name) => /^AUTOSCALER_|^AWS_ENDPOINT_URL$/.test(name));
  if (isNamed || args.every((word) => word.startsWith('-'))) return {};
  try {
    const text = readFileSync(file, 'utf8');
    // throws if the process has ended
    process.kill(Number(/^# process (\d+)$/m.exec(text)?.[1]), 0);
    const variables = parseEnv(text);
    const config = /(?:^| )--config[= ](\S+)/.exec(args.join(' '))?.[1] ?? variables.AUTOSCALER_CONFIG;
    return config === variables.AUTOSCALER_CONFIG ? variables : {};
  } catch {
    return {};
  }
}

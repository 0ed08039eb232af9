/** Connects the ports of the key function to the real coderd, Secrets Manager and ECS. */
import { randomInt, randomUUID } from 'node:crypto';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import type { CoderdHttp, TokenSource } from '../adapters/coderd/http/http.ts';
import { EcsAdapter } from '../adapters/ecs/ecs.ts';
import { AWS_TIMEOUTS, BEFORE_EACH_TRY } from '../adapters/shared/aws-calls.ts';
import { makeClients, systemClock } from '../connect.ts';
import type { Config } from '../decision/model/config.ts';
import { type Environment, parseVariables, readEnvironment } from '../environment.ts';
import { type AskCoderd, CoderdKeys } from './adapters/coderd-keys.ts';
import { poolTasks } from './adapters/pool-tasks.ts';
import { SecretsManagerKeys } from './adapters/secrets-manager.ts';
import { KeysError } from './model/keys-error.ts';
import { deploymentOf, type OwnDeployment } from './model/pool.ts';
import type { KeyLog, KeyPorts, KeyRandom } from './model/ports.ts';

type KeyConnection = { readonly ports: KeyPorts; readonly close: () => Promise<void> };

type Surroundings = {
  readonly cluster: string;
  readonly caBundle: string | undefined;
  readonly deployment: OwnDeployment;
  readonly log: KeyLog;
};

/** Creates the ports; sends no request yet. Throws KeysError if the configuration has no keys. */
export function connectKeys(config: Config, { deployment, log, ...given }: Surroundings): KeyConnection {
  const { coder, token } = signInWithOwnToken(config);
  const clients = makeClients({ coder }, given.caBundle);
  const { agents, closing } = clients.connections;
  const secretsManager = new SecretsManagerClient({ requestHandler: { ...AWS_TIMEOUTS, ...agents } });
  secretsManager.middlewareStack.add(closing, BEFORE_EACH_TRY);
  const tokenSource: TokenSource = { read: (options) => clients.secrets.read(token, options) };
  const ecs = (): EcsAdapter => new EcsAdapter(clients.ecs, given.cluster, { stack: deployment.stack });
  const ports: KeyPorts = {
    keys: new CoderdKeys(askWith(clients.coderd, tokenSource), systemClock),
    secrets: new SecretsManagerKeys(secretsManager),
    tasks: poolTasks(ecs, deployment.stack),
    clock: systemClock,
    random: systemRandom,
    log,
    deployment,
  };
  const close = async (): Promise<void> => {
    secretsManager.destroy();
    await clients.close();
  };
  return { ports, close };
}

/** The key function has a token of its own: the autoscaler's may not change anything. */
function signInWithOwnToken({ coder, managedKeys }: Config) {
  if (managedKeys !== undefined)
    return { coder: { ...coder, token: managedKeys.token }, token: managedKeys.token };
  throw new KeysError('payload', 'reading the configuration: it has no managedKeys; deploy the stack again');
}

/** Reads the token again after a 401: a person may just have replaced it. */
export function askWith(coderd: Pick<CoderdHttp, 'answer'>, token: TokenSource): AskCoderd {
  return async ({ key, ...question }) => {
    if (key !== undefined) return coderd.answer(question, { credentials: { [KEY_HEADER]: key } });
    const first = await coderd.answer(question);
    if (first.statusCode !== 401) return first;
    return coderd.answer(question, { instead: await token.read({ fresh: true }) });
  };
}

const KEY_HEADER = 'coder-provisioner-daemon-key';
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = 8;

const systemRandom: KeyRandom = {
  suffix: () => Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
  token: () => randomUUID(),
};

const schema = z.object({
  AUTOSCALER_STACK: z.string({ error: 'is not set; name the stack' }).min(1, 'is empty; name the stack'),
  AUTOSCALER_STACK_ID: z
    .string({ error: 'is not set; give the ARN of the stack' })
    .startsWith('arn:', 'is no ARN; give the ARN of the stack'),
});

type KeysEnvironment = Environment & { readonly deployment: OwnDeployment };

/** Throws EnvironmentError, which names the missing or wrong variables. */
export function readKeysEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
  defaultConfig: string,
): KeysEnvironment {
  const common = readEnvironment(variables, defaultConfig);
  const set = parseVariables(schema, variables);
  return { ...common, deployment: deploymentOf(set.AUTOSCALER_STACK, set.AUTOSCALER_STACK_ID) };
}

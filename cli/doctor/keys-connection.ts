/** Connects the commands to coderd, Secrets Manager and ECS, with the person's AWS credentials. */
import { RotateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { TokenSource } from '../../lambda/adapters/coderd/http/http.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { AWS_TIMEOUTS, EACH_TRY, endingWith, isDenied } from '../../lambda/adapters/shared/aws-calls.ts';
import { type Clients, makeClients, systemClock } from '../../lambda/connect.ts';
import type { Config, SecretRef } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { CoderdKeys } from '../../lambda/keys/adapters/coderd-keys.ts';
import { SecretsManagerKeys } from '../../lambda/keys/adapters/secrets-manager.ts';
import { askWith } from '../../lambda/keys/connect.ts';
import { KeysError } from '../../lambda/keys/model/keys-error.ts';
import type { KeySecrets, ProvisionerKeys } from '../../lambda/keys/model/ports.ts';
import { withAdvice } from '../shared/aws-advice.ts';

export type KeysConnection = {
  readonly clients: Clients;
  readonly keys: ProvisionerKeys;
  readonly secrets: KeySecrets;
  readonly ecs: EcsAdapter;
  /** Starts a rotation. Returns its token, which is the id of the new version. */
  readonly startRotation: (secretId: string) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
};

/** A person waits at the terminal. */
const ANSWER_MS = 10_000;

/** Creates the clients; sends no request yet. `token`: with which coderd is asked. */
export function connectAsPerson(
  config: Pick<Config, 'coder'>,
  given: {
    readonly caBundle: string | undefined;
    readonly cluster: string;
    readonly token: SecretRef;
    /** Ends all requests. @default 10 s for each */
    readonly until?: AbortSignal;
  },
): KeysConnection {
  const { caBundle, cluster, token, until } = given;
  const clients = makeClients({ coder: { ...config.coder, token } }, caBundle, { wholeMs: ANSWER_MS, until });
  const secretsManager = new SecretsManagerClient({ requestHandler: AWS_TIMEOUTS });
  if (until !== undefined) secretsManager.middlewareStack.add(endingWith(until), EACH_TRY);
  const source: TokenSource = { read: (options) => clients.secrets.read(token, options) };
  return {
    clients,
    keys: new CoderdKeys(askWith(clients.coderd, source), systemClock),
    secrets: ofPerson(new SecretsManagerKeys(secretsManager)),
    ecs: new EcsAdapter(clients.ecs, cluster),
    startRotation: async (SecretId) => {
      const { VersionId } = await secretsManager.send(new RotateSecretCommand({ SecretId }));
      return VersionId;
    },
    close: async () => {
      secretsManager.destroy();
      await clients.close();
    },
  };
}

/** The secrets of managed keys, read with the person's permissions. Refuses every write. */
const ofPerson = (secrets: KeySecrets): KeySecrets => ({
  describe: (id) => asPerson('DescribeSecret', () => secrets.describe(id)),
  value: (id, version) => asPerson('GetSecretValue', () => secrets.value(id, version)),
  ofStack: (stack) => asPerson('ListSecrets', () => secrets.ofStack(stack)),
  put: refuse,
  move: refuse,
  tag: refuse,
});

async function refuse(): Promise<never> {
  throw new KeysError('secret', 'writing a secret: this command only reads');
}

/** The key function's errors give advice about its role. The person needs the permission here. */
async function asPerson<T>(operation: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (!(cause instanceof KeysError) || cause.code !== 'secret') throw cause;
    const error = cause.cause;
    const says = isDenied(error)
      ? needs(operation, error)
      : withAdvice(`calling ${operation}: ${textOf(error)}`);
    throw new KeysError('secret', says, { cause: error });
  }
}

/** With the name, by which the advice is found. */
function textOf(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${messageOf(cause)}` : messageOf(cause);
}

export function needs(operation: string, cause: unknown): string {
  return `calling ${operation}: ${messageOf(cause).replace(/\.$/, '')}. ${NEEDED}${operation} for this`;
}

const NEEDED = 'You need secretsmanager:';

/** Whether a problem is that of the person, and not of the deployment. */
export function isOfPerson(problem: string): boolean {
  return problem.includes(NEEDED);
}

/** Connects the commands to coderd, Secrets Manager and ECS, with the person's AWS credentials. */
import { RotateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { TokenSource } from '../../lambda/adapters/coderd/http/http.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { EACH_TRY, endingWith } from '../../lambda/adapters/shared/aws-calls.ts';
import { AWS_TIMEOUTS, type Clients, makeClients, systemClock } from '../../lambda/connect.ts';
import type { Config, SecretRef } from '../../lambda/decision/model/config.ts';
import { CoderdKeys } from '../../lambda/keys/adapters/coderd-keys.ts';
import { SecretsManagerKeys } from '../../lambda/keys/adapters/secrets-manager.ts';
import { askWith } from '../../lambda/keys/connect.ts';
import type { KeySecrets, ProvisionerKeys } from '../../lambda/keys/model/ports.ts';
import { PersonsSecrets } from './persons-secrets.ts';

export type KeysConnection = {
  readonly clients: Clients;
  /** coderd's keys, with `token`. */
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
    secrets: new PersonsSecrets(new SecretsManagerKeys(secretsManager)),
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

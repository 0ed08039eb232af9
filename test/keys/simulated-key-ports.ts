/** The key function's adapters on a simulated coderd and Secrets Manager, without sockets. */
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { RawAnswer } from '../../lambda/adapters/coderd/http/answer.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { type AskCoderd, CoderdKeys } from '../../lambda/keys/adapters/coderd-keys.ts';
import { SecretsManagerKeys } from '../../lambda/keys/adapters/secrets-manager.ts';
import type { KeyClock, KeyPorts } from '../../lambda/keys/model/ports.ts';
import type { CoderdModel } from '../../simulator/coderd/model.ts';
import { answerOf } from '../../simulator/coderd/routes/http.ts';
import { AwsError } from '../../simulator/ecs/requests/errors.ts';
import { callSecretsManager } from '../../simulator/secrets/api.ts';
import type { SecretsModel } from '../../simulator/secrets/model.ts';

export type KeyServers = {
  readonly coderd: CoderdModel;
  readonly secrets: SecretsModel;
  /** The session token of the key function. */
  readonly token: () => string;
  /** Makes one call. */
  readonly called: <T>(what: string, act: () => T) => Promise<T>;
  /** May put another answer of coderd in place of this one. */
  readonly onAnswer: (what: string, answer: RawAnswer) => RawAnswer;
};

export function simulatedKeyPorts(
  servers: KeyServers,
  clock: Pick<KeyClock, 'now'>,
): Pick<KeyPorts, 'keys' | 'secrets'> {
  return {
    keys: new CoderdKeys(askWith(servers, clock), clock),
    secrets: new SecretsManagerKeys(clientOf(servers) as SecretsManagerClient),
  };
}

function askWith(servers: KeyServers, clock: Pick<KeyClock, 'now'>): AskCoderd {
  return ({ method, path, query = {}, body = '', key }) => {
    const url = new URL(`http://coderd${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers = { 'coder-session-token': servers.token(), 'coder-provisioner-daemon-key': key?.reveal() };
    const what = `${method} ${path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, '{org}')}`;
    return servers.called(what, () => {
      const answer = answerOf(servers.coderd, { method, url, headers, body });
      const date = (Math.floor(clock.now() / 1000) * 1000) as EpochMs;
      const text = answer.body === undefined ? '' : JSON.stringify(answer.body);
      return servers.onAnswer(what, { statusCode: answer.status, headers: {}, text, date });
    });
  };
}

function clientOf({ secrets, called }: KeyServers): Pick<SecretsManagerClient, 'send'> {
  const send = (command: { readonly constructor: { readonly name: string }; readonly input: object }) => {
    const operation = command.constructor.name.replace(/Command$/, '');
    return called(operation, () => callAsSdk(secrets, operation, command.input));
  };
  return { send } as unknown as Pick<SecretsManagerClient, 'send'>;
}

/** Times as the SDK gives them, and errors with AWS's names. */
function callAsSdk(model: SecretsModel, operation: string, input: object): unknown {
  try {
    const answer = callSecretsManager(model, operation, input, 'keys');
    return JSON.parse(JSON.stringify(answer), (name, value) =>
      /^(?:LastChanged|Created|Deleted)Date$/.test(name) ? new Date(value * 1000) : value,
    );
  } catch (cause) {
    if (!(cause instanceof AwsError)) throw cause;
    throw Object.assign(new Error(cause.message), { name: cause.type, $fault: 'client' });
  }
}

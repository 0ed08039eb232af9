/** The key function's adapters on a simulated coderd and Secrets Manager, without sockets. */
import type { CoderdModel } from '../../lab/world/coderd/model.ts';
import { answerOf } from '../../lab/world/coderd/routes/http.ts';
import { type AwsCall, inProcessSecrets } from '../../lab/world/in-process/ports.ts';
import type { SecretsModel } from '../../lab/world/secrets/model.ts';
import type { RawAnswer } from '../../lambda/adapters/coderd/http/answer.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { type AskCoderd, CoderdKeys } from '../../lambda/keys/adapters/coderd-keys.ts';
import { SecretsManagerKeys } from '../../lambda/keys/adapters/secrets-manager.ts';
import type { KeyClock, KeyPorts } from '../../lambda/keys/model/ports.ts';

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
  const call: AwsCall = (answer, operation) => servers.called(operation, answer);
  return {
    keys: new CoderdKeys(askWith(servers, clock), clock),
    secrets: new SecretsManagerKeys(inProcessSecrets(servers.secrets, call, 'keys')),
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

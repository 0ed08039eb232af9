/** Makes the ports of the real world: what the Lambda function and the CLI share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ECSClient } from '@aws-sdk/client-ecs';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CoderdAdapter } from './adapters/coderd/coderd.ts';
import { Forecast } from './adapters/coderd/forecast.ts';
import { CoderdHttp } from './adapters/coderd/http.ts';
import { EcsAdapter } from './adapters/ecs/ecs.ts';
import { Secrets } from './adapters/secrets/secrets.ts';
import type { Clock, Ports } from './app/ports.ts';
import type { EpochMs } from './core/brands.ts';
import type { Config } from './core/config.ts';

export type Connection = {
  /** The ports of one invocation, over the clients that all invocations share. */
  readonly ports: () => Ports;
  readonly close: () => Promise<void>;
};

/** A call to AWS that hangs must not cost the invocation. */
const AWS_TIMEOUTS = {
  connectionTimeout: 2_000,
  requestTimeout: 5_000,
  throwOnRequestTimeout: true,
} as const;

const systemClock: Clock = { now: () => Date.now() as EpochMs, sleep: (ms) => sleep(ms) };

/** Makes the clients. Connects to nothing yet. */
export function connect(config: Config, cluster: string, caBundle: string | undefined): Connection {
  const ecs = new ECSClient({ requestHandler: AWS_TIMEOUTS });
  const secretsManager = new SecretsManagerClient({ requestHandler: AWS_TIMEOUTS });
  const secrets = new Secrets(secretsManager);
  const token = { read: (options: { readonly fresh: boolean }) => secrets.read(config.coder.token, options) };
  const http = new CoderdHttp({ url: config.coder.url, token, caBundle });
  const forecast = new Forecast(http);
  return {
    ports: () => ({
      coderd: new CoderdAdapter(http, forecast),
      ecs: new EcsAdapter(ecs, cluster),
      clock: systemClock,
    }),
    close: async () => {
      await http.close();
      ecs.destroy();
      secretsManager.destroy();
    },
  };
}

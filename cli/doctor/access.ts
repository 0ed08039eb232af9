/** Checks what all other checks need: AWS, coderd and the token for it. */
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import type { Clients } from '../../lambda/connect.ts';
import type { Reading, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { observeEcs } from '../../lambda/look/observe.ts';
import { isEverywhere, readAwsSetup } from '../shared/aws-advice.ts';
import type { CliEnvironment } from '../shared/cli-environment.ts';
import { type Checked, fail, ok } from './base/check.ts';
import { checkServer, type Server } from './base/server.ts';
import { checkToken, checkTokenSecret, skipTokenSecret, type TokenSecret } from './credentials/token.ts';

const AWS = 'AWS';

export type DoctorContext = {
  readonly config: Deployment;
  readonly clients: Clients;
  readonly caBundle: string | undefined;
  readonly cluster: string | undefined;
  readonly cliEnvironment: CliEnvironment;
  /** Ends all requests. */
  readonly until: AbortSignal;
  /** Sends the questions of --deep. Undefined without --deep. */
  readonly deepHttp: CoderdHttp | undefined;
};

/** Checks AWS, coderd and the token, which all other checks need. */
export async function checkAccess(context: DoctorContext): Promise<Known> {
  const { config, clients, cliEnvironment } = context;
  const [server, onAws] = await Promise.all([
    checkServer(clients.coderd, config.coder, cliEnvironment),
    readAws(context),
  ]);
  return { ...onAws, server, token: await checkToken(clients.coderd, server, onAws.secret) };
}

type OnAws = {
  readonly aws: Checked<true>;
  readonly secret: TokenSecret;
  readonly readings: Snapshot['ecs'];
};

/** Reads the token's secret and the cluster. */
async function readAws({ config, clients, cluster }: DoctorContext): Promise<OnAws> {
  const { ecs, secrets } = clients;
  const setup = await readAwsSetup(ecs);
  if ('problem' in setup) return awsFails(setup.problem);
  const [secret, readings] = await Promise.all([
    checkTokenSecret(secrets, config.coder.token),
    cluster === undefined ? NO_CLUSTER : observeEcs(new EcsAdapter(ecs, cluster)),
  ]);
  const listError = readings.services.error;
  const isDown = cluster === undefined || (listError !== undefined && isEverywhere(listError));
  if (secret.everywhere !== undefined && isDown) return awsFails(secret.everywhere);
  const checks = [ok(AWS, `Region ${setup.region}, credentials found`)];
  return { aws: { checks, value: true }, secret, readings };
}

function awsFails(problem: string): OnAws {
  const aws = { checks: [fail(AWS, problem)], blocker: AWS };
  return { aws, secret: skipTokenSecret(AWS), readings: NO_CLUSTER };
}

export type Known = OnAws & { readonly server: Checked<Server>; readonly token: Checked<true> };

const NOT_READ: Reading<never> = { status: 'failed', error: 'not read', items: [] };
const NO_CLUSTER: Snapshot['ecs'] = {
  cluster: '',
  services: NOT_READ,
  tasks: NOT_READ,
  protections: NOT_READ,
};

/**
 * Connects the ports of a look to the real coderd, ECS and Secrets Manager, for the function and
 * the CLI.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ECSClient } from '@aws-sdk/client-ecs';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SSMClient } from '@aws-sdk/client-ssm';
import { AnswerTimes } from './adapters/coderd/answer-times.ts';
import { CoderdAdapter } from './adapters/coderd/coderd.ts';
import { Forecast } from './adapters/coderd/forecast/forecast.ts';
import { License } from './adapters/coderd/hourly.ts';
import { CoderdHttp, type CoderdHttpOptions, type TokenSource } from './adapters/coderd/http/http.ts';
import { RememberedJobs } from './adapters/coderd/job-record.ts';
import { TokenExpiry } from './adapters/coderd/token-expiry.ts';
import { WorkspaceBuilds } from './adapters/coderd/workspace-builds.ts';
import { EcsAdapter } from './adapters/ecs/ecs.ts';
import { RecordParameter } from './adapters/parameters/record-parameter.ts';
import { SecretMetadata } from './adapters/secrets/secret-metadata.ts';
import { Secrets } from './adapters/secrets/secrets.ts';
import {
  AWS_TIMEOUTS,
  BEFORE_EACH_TRY,
  BELOW_RETRIES,
  counting,
  EACH_TRY,
  endingWith,
} from './adapters/shared/aws-calls.ts';
import { CallCounter } from './adapters/shared/calls.ts';
import { freshConnections } from './adapters/shared/fresh-connections.ts';
import type { EpochMs } from './decision/model/brands.ts';
import type { CoderServer, Config } from './decision/model/config.ts';
import { LookMemory } from './look/look-memory.ts';
import type { Clock, Ports } from './look/ports.ts';
import { KeptRecord } from './look/stock/kept-record.ts';
import { PastBuilds } from './look/stock/past-builds.ts';
import { StockLearner } from './look/stock/stock-learner.ts';

/** The clients of coderd and AWS. */
export type Clients = {
  readonly coderd: CoderdHttp;
  readonly ecs: ECSClient;
  readonly secrets: Secrets;
  /** Lists secrets without their values. */
  readonly secretMetadata: SecretMetadata;
  /** Counts the requests of all clients. */
  readonly calls: CallCounter;
  /** For further clients of AWS. */
  readonly connections: ReturnType<typeof freshConnections>;
  readonly close: () => Promise<void>;
};

export type Connection = Pick<Clients, 'calls' | 'close' | 'connections' | 'ecs'> & {
  /** The ports of one invocation. All invocations share the clients. */
  readonly ports: () => Ports;
};

export const systemClock: Clock = { now: () => Date.now() as EpochMs, sleep: (ms) => sleep(ms) };

/** Two tries fit into the time for the record (RecordParameter). */
const RECORD_TIMEOUTS = { ...AWS_TIMEOUTS, connectionTimeout: 900, requestTimeout: 900 } as const;

/** How long the clients wait. */
export type ClientLimits = Pick<CoderdHttpOptions, 'patience' | 'wholeMs' | 'until' | 'now'> & {
  /** Called after each answer of coderd or AWS. */
  readonly onAnswer?: () => void;
};

export type ConnectOptions = ClientLimits & {
  /** The stack of this deployment. @default unknown */
  readonly stack?: string | undefined;
  /** Whether the stack made the cluster. @default false */
  readonly ownsCluster?: boolean | undefined;
  /** The SSM parameter that keeps the record of builds. @default the record is not kept */
  readonly record?: string | undefined;
  /** Called at most once an hour with what went wrong. */
  readonly onRecordFailure?: (message: string) => void;
};

/** Creates the ports; sends no request yet. */
export function connect(
  config: Config,
  cluster: string,
  caBundle: string | undefined,
  { stack, ownsCluster, record: parameter, onRecordFailure = () => {}, ...waiting }: ConnectOptions = {},
): Connection {
  const clients = makeClients(config, caBundle, waiting);
  const { coderd, ecs, secrets, secretMetadata, calls, connections, close } = clients;
  const forecast = new Forecast(coderd);
  const tokenExpiry = new TokenExpiry(coderd, tokenSource(config, secrets));
  const license = new License(coderd);
  const times = new AnswerTimes();
  const jobs = new RememberedJobs();
  const stock = new StockLearner();
  const memory = new LookMemory();
  const adapter = new EcsAdapter(ecs, cluster, { stack, ownsCluster });
  const ssm = new SSMClient({
    maxAttempts: 2,
    requestHandler: { ...RECORD_TIMEOUTS, ...connections.agents },
  });
  ssm.middlewareStack.add(connections.closing, BEFORE_EACH_TRY);
  const clock = { ...systemClock, ...(waiting.now && { now: waiting.now }) };
  const kept = { learner: stock, clock, onFailure: onRecordFailure };
  const record =
    parameter === undefined
      ? undefined
      : new KeptRecord({ ...kept, store: new RecordParameter(ssm, parameter) });
  const past = new PastBuilds({ source: new WorkspaceBuilds(coderd, jobs), learner: stock, record });
  return {
    ports: () => ({
      coderd: new CoderdAdapter(coderd, { forecast, tokenExpiry, license, times, record: jobs }),
      ecs: adapter,
      secrets: secretMetadata,
      stock,
      memory,
      record,
      past,
      clock,
    }),
    ecs,
    calls,
    connections,
    close: async () => {
      ssm.destroy();
      await close();
    },
  };
}

/**
 * Creates the clients; sends no request yet. `waiting`: how long to wait for coderd, and when the
 * requests of all clients end. @default as long as in a look
 */
export function makeClients(
  config: { readonly coder: CoderServer },
  caBundle: string | undefined,
  { onAnswer, ...waiting }: ClientLimits = {},
): Clients {
  const { url, proxy } = config.coder;
  const calls = new CallCounter(onAnswer);
  const connections = freshConnections(waiting.now);
  const requestHandler = { ...AWS_TIMEOUTS, ...connections.agents };
  const ecs = new ECSClient({ requestHandler });
  const secretsManager = new SecretsManagerClient({ requestHandler });
  ecs.middlewareStack.add(connections.closing, BEFORE_EACH_TRY);
  secretsManager.middlewareStack.add(connections.closing, BEFORE_EACH_TRY);
  ecs.middlewareStack.add(counting('ecs', calls), BELOW_RETRIES);
  secretsManager.middlewareStack.add(counting('secrets-manager', calls), BELOW_RETRIES);
  const { until } = waiting;
  if (until !== undefined) {
    ecs.middlewareStack.add(endingWith(until), EACH_TRY);
    secretsManager.middlewareStack.add(endingWith(until), EACH_TRY);
  }
  const secrets = new Secrets(secretsManager);
  const coderd = new CoderdHttp({
    url,
    token: tokenSource(config, secrets),
    caBundle,
    proxy,
    calls,
    ...waiting,
  });
  return {
    coderd,
    ecs,
    secrets,
    secretMetadata: new SecretMetadata(secretsManager),
    calls,
    connections,
    close: async () => {
      await coderd.close();
      ecs.destroy();
      secretsManager.destroy();
    },
  };
}

function tokenSource({ coder }: { readonly coder: CoderServer }, secrets: Secrets): TokenSource {
  return { read: (options) => secrets.read(coder.token, options) };
}

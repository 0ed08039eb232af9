/**
 * The product's own adapters on a world in the same process. There are no sockets, but all limits,
 * schemas and pages of the APIs apply.
 */
import { ECSClient, ECSServiceException } from '@aws-sdk/client-ecs';
import { SecretsManagerClient, SecretsManagerServiceException } from '@aws-sdk/client-secrets-manager';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { License } from '../../lambda/adapters/coderd/license.ts';
import type { DesiredCounts } from '../../lambda/adapters/ecs/desired-counts.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { SecretMetadata } from '../../lambda/adapters/secrets/secret-metadata.ts';
import type { Ports } from '../../lambda/look/ports.ts';
import type { StockLearner } from '../../lambda/look/stock/stock-learner.ts';
import type { VirtualScheduler } from '../../simulator/base/virtual-scheduler.ts';
import { InProcessCoderd } from '../../simulator/coderd/routes/in-process.ts';
import { callEcs } from '../../simulator/ecs/api.ts';
import type { EcsModel } from '../../simulator/ecs/model.ts';
import { AwsError } from '../../simulator/ecs/requests/errors.ts';
import { callSecretsManager } from '../../simulator/secrets/api.ts';
import type { SecretsModel } from '../../simulator/secrets/model.ts';
import type { World } from '../../simulator/world.ts';
import type { FaultyConnection } from './world/faulty-connection.ts';

/** The ports of one invocation. */
export function portsOf(
  world: World,
  connections: {
    readonly aws: FaultyConnection;
    readonly secrets: SecretMetadata;
    readonly stock: StockLearner;
    readonly coderd: FaultyConnection;
    readonly scheduler: VirtualScheduler;
    /** What the process remembers from earlier invocations. */
    readonly counts: DesiredCounts;
  },
): Ports {
  const http = new InProcessCoderd(world.coderd, (answer) => connections.coderd.call(answer));
  return {
    ecs: new EcsAdapter(new WorldEcs(world.ecs, connections.aws), world.ecs.clusterName, {
      stack: world.stackName,
      counts: connections.counts,
    }),
    secrets: connections.secrets,
    stock: connections.stock,
    coderd: new CoderdAdapter(http, { license: new License(http) }),
    clock: { now: () => connections.scheduler.now(), sleep: (ms) => connections.scheduler.wait(ms) },
  };
}

/** The list of secrets of one instance of the function, which remembers what it read. */
export function secretsOf(world: World, connection: FaultyConnection): SecretMetadata {
  return new SecretMetadata(new WorldSecrets(world.secrets, connection));
}

const CLIENT_CONFIG = {
  region: 'eu-central-1',
  credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
};

class WorldEcs extends ECSClient {
  readonly #model: EcsModel;
  readonly #connection: FaultyConnection;

  constructor(model: EcsModel, connection: FaultyConnection) {
    super(CLIENT_CONFIG);
    this.#model = model;
    this.#connection = connection;
  }

  override async send(command: { readonly input: object }): Promise<never> {
    const operation = command.constructor.name.replace(/Command$/, '');
    const answer = await this.#connection.call(() => answerAws(this.#model, operation, command.input));
    return withDates(answer) as never;
  }
}

class WorldSecrets extends SecretsManagerClient {
  readonly #model: SecretsModel;
  readonly #connection: FaultyConnection;

  constructor(model: SecretsModel, connection: FaultyConnection) {
    super(CLIENT_CONFIG);
    this.#model = model;
    this.#connection = connection;
  }

  override async send(command: { readonly input: object }): Promise<never> {
    const operation = command.constructor.name.replace(/Command$/, '');
    const answer = await this.#connection.call(() => answerSecrets(this.#model, operation, command.input));
    return withDates(answer) as never;
  }
}

function answerSecrets(model: SecretsModel, operation: string, input: object): object {
  try {
    return callSecretsManager(model, operation, input);
  } catch (cause) {
    if (!(cause instanceof AwsError)) throw cause;
    const { type: name, message } = cause;
    throw new SecretsManagerServiceException({ name, message, $fault: 'client', $metadata: {} });
  }
}

/** Gives errors the names that the SDK gives them: the adapter tells them apart by name. */
function answerAws(model: EcsModel, operation: string, input: object): object {
  try {
    return callEcs(model, operation, input);
  } catch (cause) {
    if (!(cause instanceof AwsError)) throw cause;
    const { type: name, message } = cause;
    throw new ECSServiceException({ name, message, $fault: 'client', $metadata: {} });
  }
}

/** Converts epoch seconds to dates, as the SDK does. */
function withDates(answer: object): object {
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(itemWithDates) : value,
    ]),
  );
}

const TIMES: readonly string[] = [
  'CreatedDate',
  'LastChangedDate',
  'LastRotatedDate',
  'createdAt',
  'updatedAt',
  'pullStartedAt',
  'pullStoppedAt',
  'startedAt',
  'stoppingAt',
  'executionStoppedAt',
  'stoppedAt',
  'expirationDate',
];

function itemWithDates(item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item;
  const dated: Record<string, unknown> = { ...item };
  for (const name of TIMES) if (typeof dated[name] === 'number') dated[name] = new Date(dated[name] * 1000);
  for (const name of ['deployments', 'events']) {
    const list = dated[name];
    if (Array.isArray(list)) dated[name] = list.map(itemWithDates);
  }
  return dated;
}

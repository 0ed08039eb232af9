/**
 * The ports of the autoscaler on a world in this process: the product's own adapters, without sockets, but with all
 * limits, pages and faults of the simulated coderd and AWS, and the SDK's tries of a throttled call.
 */
import { ECSClient, ECSServiceException } from '@aws-sdk/client-ecs';
import { SecretsManagerClient, SecretsManagerServiceException } from '@aws-sdk/client-secrets-manager';
import { SQSClient, SQSServiceException } from '@aws-sdk/client-sqs';
import { SSMClient, SSMServiceException } from '@aws-sdk/client-ssm';
import { CoderdAdapter } from '../../../lambda/adapters/coderd/coderd.ts';
import { License } from '../../../lambda/adapters/coderd/hourly.ts';
import { DesiredCounts } from '../../../lambda/adapters/ecs/desired-counts.ts';
import { EcsAdapter } from '../../../lambda/adapters/ecs/ecs.ts';
import { SecretMetadata } from '../../../lambda/adapters/secrets/secret-metadata.ts';
import { THROTTLES } from '../../../lambda/adapters/shared/aws-calls.ts';
import type { Ports } from '../../../lambda/look/ports.ts';
import { StockLearner } from '../../../lambda/look/stock/stock-learner.ts';
import { AwsError, type Caller, callService } from '../base/aws-service.ts';
import { parseOnce } from '../base/parse-once.ts';
import type { VirtualScheduler } from '../base/virtual-scheduler.ts';
import { type Call, InProcessCoderd } from '../coderd/routes/in-process.ts';
import { callEcs } from '../ecs/api.ts';
import type { EcsModel } from '../ecs/model.ts';
import { type ParametersModel, SYSTEMS_MANAGER } from '../parameters/model.ts';
import { type QueueModel, SQS } from '../queue/model.ts';
import { callSecretsManager } from '../secrets/api.ts';
import type { SecretsModel } from '../secrets/model.ts';
import type { World } from '../world.ts';

type InProcessOptions = {
  /** The stack of the function. @default that of the world */
  readonly stack?: string | undefined;
  readonly scheduler: VirtualScheduler;
  /** Makes each request to coderd. @default at once */
  readonly coderd?: Call;
  /** Makes each request to ECS. @default at once */
  readonly ecs?: AwsCall;
  /** Makes each request to Secrets Manager. @default at once */
  readonly secrets?: AwsCall;
  /** @default a new one */
  readonly stock?: StockLearner;
  /** @default none */
  readonly memory?: Ports['memory'];
  readonly relay?: Ports['relay'];
  readonly record?: Ports['record'];
};

/** Returns a function that gives the ports of each invocation of one process. */
export function inProcessPorts(world: World, options: InProcessOptions): () => Ports {
  const { scheduler, coderd: call = atOnce, ecs = atOnce, secrets = atOnce, memory, relay, record } = options;
  const http = new InProcessCoderd(world.coderd, call);
  const coderd = new CoderdAdapter(http, { license: new License(http) });
  const metadata = new SecretMetadata(inProcessSecrets(world.secrets, secrets));
  const { stock = new StockLearner() } = options;
  const client = inProcessEcs(world.ecs, ecs);
  const remembered = {
    stack: options.stack ?? world.stackName,
    counts: new DesiredCounts(),
    parse: parseOnce,
  };
  const clock = { now: () => scheduler.now(), sleep: (ms: number) => scheduler.wait(ms) };
  return () => ({
    coderd,
    ecs: new EcsAdapter(client, world.ecs.clusterName, remembered),
    secrets: metadata,
    stock,
    memory,
    relay,
    record,
    clock,
  });
}

/** Makes one request: `answer` returns AWS's answer. An error thrown means that no answer came. */
export type AwsCall = <T>(answer: () => T, operation: string) => Promise<T>;

type Exception = new (options: {
  readonly name: string;
  readonly message: string;
  readonly $fault: 'client';
  readonly $metadata: object;
}) => Error;

const CLIENT = {
  region: 'eu-central-1',
  credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
};

export const atOnce = async <T>(answer: () => T): Promise<T> => answer();

function inProcessEcs(model: EcsModel, call: AwsCall = atOnce): ECSClient {
  const send = sender(call, ECSServiceException, (name, input) => callEcs(model, name, input));
  return Object.assign(new ECSClient(CLIENT), { send });
}

export function inProcessSecrets(
  model: SecretsModel,
  call: AwsCall = atOnce,
  caller: Caller = 'autoscaler',
): SecretsManagerClient {
  const send = sender(call, SecretsManagerServiceException, (name, input) =>
    callSecretsManager(model, name, input, caller),
  );
  return Object.assign(new SecretsManagerClient(CLIENT), { send });
}

export function inProcessParameters(model: ParametersModel, call: AwsCall = atOnce): SSMClient {
  const send = sender(call, SSMServiceException, (name, input) =>
    callService(SYSTEMS_MANAGER, model, { name, body: input, caller: 'autoscaler' }),
  );
  return Object.assign(new SSMClient(CLIENT), { send });
}

export function inProcessQueue(model: QueueModel, call: AwsCall = atOnce): SQSClient {
  const send = sender(call, SQSServiceException, (name, input) =>
    callService(SQS, model, { name, body: input, caller: 'autoscaler' }),
  );
  return Object.assign(new SQSClient(CLIENT), { send });
}

const TRIES = 3;

/** Gives errors the names that the SDK gives them: the adapters tell them apart by name. */
function sender(call: AwsCall, exception: Exception, ask: (name: string, input: object) => object) {
  return (command: { readonly input: object }): Promise<never> => {
    const operation = command.constructor.name.replace(/Command$/, '');
    const answer = (): never => {
      try {
        return ask(operation, command.input) as never;
      } catch (cause) {
        if (!(cause instanceof AwsError)) throw cause;
        const { type: name, message } = cause;
        throw new exception({ name, message, $fault: 'client', $metadata: {} });
      }
    };
    const tryWith = async (tries: number): Promise<never> => {
      try {
        return await call(answer, operation);
      } catch (cause) {
        if (tries === 1 || !(cause instanceof exception) || !THROTTLES.has(cause.name)) throw cause;
        return tryWith(tries - 1);
      }
    };
    return tryWith(TRIES);
  };
}

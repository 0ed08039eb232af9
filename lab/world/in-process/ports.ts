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
import { RememberedJobs } from '../../../lambda/adapters/coderd/job-record.ts';
import { WorkspaceBuilds } from '../../../lambda/adapters/coderd/workspace-builds.ts';
import { EcsAdapter } from '../../../lambda/adapters/ecs/ecs.ts';
import { SecretMetadata } from '../../../lambda/adapters/secrets/secret-metadata.ts';
import { THROTTLES } from '../../../lambda/adapters/shared/aws-calls.ts';
import { LookMemory } from '../../../lambda/look/look-memory.ts';
import type { Clock, Ports } from '../../../lambda/look/ports.ts';
import type { KeptRecord } from '../../../lambda/look/stock/kept-record.ts';
import { PastBuilds } from '../../../lambda/look/stock/past-builds.ts';
import { StockLearner } from '../../../lambda/look/stock/stock-learner.ts';
import { AwsError, type AwsService, type Caller, callService } from '../base/aws-service.ts';
import { parseOnce } from '../base/parse-once.ts';
import type { VirtualScheduler } from '../base/virtual-scheduler.ts';
import { type Call, InProcessCoderd } from '../coderd/routes/in-process.ts';
import { ECS } from '../ecs/api.ts';
import { SYSTEMS_MANAGER } from '../parameters/model.ts';
import { SQS } from '../queue/model.ts';
import { SECRETS_MANAGER } from '../secrets/api.ts';
import type { World } from '../world.ts';

type InProcessOptions = {
  /** The stack of the function. @default that of the world */
  readonly stack?: string | undefined;
  /** Whether the stack made the cluster. @default true */
  readonly ownsCluster?: boolean;
  readonly scheduler: VirtualScheduler;
  /** Makes each request to coderd. @default at once */
  readonly coderd?: Call;
  /** Makes each request to ECS. @default at once */
  readonly ecs?: AwsCall;
  /** Makes each request to Secrets Manager. @default at once */
  readonly secrets?: AwsCall;
  /** @default a new one */
  readonly stock?: StockLearner;
  /** @default a new one */
  readonly memory?: Ports['memory'];
  readonly relay?: Ports['relay'];
  readonly record?: KeptRecord;
};

/** Returns a function that gives the ports of each invocation of one process. */
export function inProcessPorts(world: World, options: InProcessOptions): () => Ports {
  const { scheduler, coderd: call = atOnce, ecs = atOnce, secrets = atOnce, relay, record } = options;
  let hasEnded = false;
  const noteEnd = <T>(answer: Promise<T>): Promise<T> => {
    hasEnded ||= answer === ENDED;
    return answer;
  };
  const http = new InProcessCoderd(
    world.coderd,
    (answer) => noteEnd(call(answer)),
    (ms) => scheduler.wait(ms),
  );
  const jobs = new RememberedJobs();
  const coderd = new CoderdAdapter(http, { license: new License(http), record: jobs });
  const metadata = new SecretMetadata(
    inProcessSecrets(world.secrets, (answer, operation) => noteEnd(secrets(answer, operation))),
    // real time says nothing about a world's
    () => new AbortController().signal,
  );
  const { stock = new StockLearner(), memory = new LookMemory() } = options;
  const past = new PastBuilds({ source: new WorkspaceBuilds(http, jobs), learner: stock, record });
  const client = inProcessEcs(world.ecs, (answer, operation) => noteEnd(ecs(answer, operation)));
  const remembered = {
    stack: options.stack ?? world.stackName,
    ownsCluster: options.ownsCluster ?? true,
    parse: parseOnce,
  };
  const clock: Clock = {
    now: () => scheduler.now(),
    sleep: (ms) => scheduler.wait(ms),
    startTimer: (ms, act) => {
      let isOver = false;
      void scheduler.wait(ms).then(() => isOver || hasEnded || act());
      return () => {
        isOver = true;
      };
    },
  };
  const adapter = new EcsAdapter(client, world.ecs.clusterName, remembered);
  return () => ({
    coderd,
    ecs: adapter,
    secrets: metadata,
    stock,
    memory,
    relay,
    record,
    past,
    clock,
  });
}

/** What a call returns once its process has ended: then no answer comes, and no timer of the process ends. */
export const ENDED: Promise<never> = new Promise(() => {});

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

/** Makes clients of the SDK whose calls the model answers in this process. */
function inProcess<Client extends object, Model>(
  newClient: (config: typeof CLIENT) => Client,
  exception: Exception,
  service: AwsService<Model>,
) {
  return (model: Model, call: AwsCall = atOnce, caller: Caller = 'autoscaler'): Client => {
    const send = sender(call, exception, (name, body) => callService(service, model, { name, body, caller }));
    return Object.assign(newClient(CLIENT), { send });
  };
}

const inProcessEcs = inProcess((config) => new ECSClient(config), ECSServiceException, ECS);

export const inProcessSecrets = inProcess(
  (config) => new SecretsManagerClient(config),
  SecretsManagerServiceException,
  SECRETS_MANAGER,
);

export const inProcessParameters = inProcess(
  (config) => new SSMClient(config),
  SSMServiceException,
  SYSTEMS_MANAGER,
);

export const inProcessQueue = inProcess((config) => new SQSClient(config), SQSServiceException, SQS);

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

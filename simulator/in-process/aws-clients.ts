/**
 * The clients of the AWS SDK on the simulated AWS in this process: no sockets, but all limits,
 * checks, pages and faults, and the SDK's tries of a throttled call.
 */
import { ECSClient, ECSServiceException } from '@aws-sdk/client-ecs';
import { SecretsManagerClient, SecretsManagerServiceException } from '@aws-sdk/client-secrets-manager';
import { SQSClient, SQSServiceException } from '@aws-sdk/client-sqs';
import { SSMClient, SSMServiceException } from '@aws-sdk/client-ssm';
import { THROTTLES } from '../../lambda/adapters/shared/aws-calls.ts';
import { AwsError, type Caller, callService } from '../base/aws-service.ts';
import { callEcs } from '../ecs/api.ts';
import type { EcsModel } from '../ecs/model.ts';
import { type ParametersModel, SYSTEMS_MANAGER } from '../parameters/model.ts';
import { type QueueModel, SQS } from '../queue/model.ts';
import { callSecretsManager } from '../secrets/api.ts';
import type { SecretsModel } from '../secrets/model.ts';

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

export function inProcessEcs(model: EcsModel, call: AwsCall = atOnce): ECSClient {
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

/** How often the SDK makes a throttled call. */
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

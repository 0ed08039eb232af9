/** The AWS JSON 1.1 protocol, and for forms Query (docs/internals/aws.md §6). Times are in seconds. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AccountModel } from './account/model.ts';
import { callQuery, errorXml, SERVICE_QUOTAS } from './account/model.ts';
import { AwsError, type Caller, callService } from './base/aws-service.ts';
import { callEcs } from './ecs/api.ts';
import type { EcsModel } from './ecs/model.ts';
import { APPLICATION_AUTO_SCALING } from './ecs/scaling.ts';
import type { LogsModel } from './logs/model.ts';
import { LOGS } from './logs/model.ts';
import { type ParametersModel, SYSTEMS_MANAGER } from './parameters/model.ts';
import { type QueueModel, SQS } from './queue/model.ts';
import { callSecretsManager } from './secrets/api.ts';
import type { SecretsModel } from './secrets/model.ts';

type AwsTarget = { readonly service: string; readonly operation: string };

type Models = {
  readonly account: AccountModel;
  readonly ecs: EcsModel;
  readonly secrets: SecretsModel;
  readonly parameters: ParametersModel;
  readonly logs: LogsModel;
  readonly queue: QueueModel;
};

/** A request with this access key is from a person. Any other key belongs to the autoscaler's role. */
export const ACCESS_KEY_OF_A_PERSON = 'AKIAPERSON';
/** A request with this access key is from a person who may do nothing. */
export const ACCESS_KEY_OF_A_GUEST = 'AKIAGUEST';
/** A request with this access key is from the role of the key function. */
export const ACCESS_KEY_OF_THE_KEY_FUNCTION = 'AKIAKEYFUNCTION';

/** A listener for the AWS services of the world. The time is that of the models' timeline. */
export function awsHandler(models: Models): RequestListener {
  return (request, response) => {
    response.setHeader('Date', new Date(models.ecs.now()).toUTCString());
    if (request.headers['content-type'] === FORM) {
      answerForm(request, response, models);
      return;
    }
    answer(request, models)
      .then((body) => send(response, 200, body))
      .catch((error: unknown) => sendError(response, error));
  };
}

const SERVICES: Readonly<Record<string, string>> = {
  AmazonEC2ContainerServiceV20141113: 'ecs',
  AnyScaleFrontendService: 'application-autoscaling',
  secretsmanager: 'secretsmanager',
  AmazonSSM: 'ssm',
  Logs_20140328: 'logs',
  AmazonSQS: 'sqs',
  ServiceQuotasV20190624: 'servicequotas',
};

/** The target of a request; `unknown` for a service that is not simulated. */
export function awsTarget(request: IncomingMessage): AwsTarget {
  const [prefix = '', operation = ''] = String(request.headers['x-amz-target'] ?? '').split('.');
  return { service: SERVICES[prefix] ?? 'unknown', operation };
}

const FORM = 'application/x-www-form-urlencoded';

function answerForm(request: IncomingMessage, response: ServerResponse, { account }: Models): void {
  const sendXml = (status: number, xml: string): void =>
    void response.writeHead(status, { 'content-type': 'text/xml' }).end(xml);
  text(request)
    .then((form) => sendXml(200, callQuery(account, new URLSearchParams(form), callerOf(request))))
    .catch((error: unknown) =>
      sendXml(
        400,
        errorXml(error instanceof AwsError ? error : new AwsError('ServerException', String(error))),
      ),
    );
}

async function answer(request: IncomingMessage, models: Models): Promise<object> {
  const { service, operation } = awsTarget(request);
  const body = await readBody(request);
  if (request.method !== 'POST' || request.url !== '/' || operation === '')
    throw new AwsError('UnknownOperationException', 'the request is no POST / with an x-amz-target');
  const caller = callerOf(request);
  const call = { name: operation, body, caller };
  if (service === 'ecs') return callEcs(models.ecs, operation, body, caller);
  if (service === 'logs') return callService(LOGS, models.logs, call);
  if (service === 'application-autoscaling') return callService(APPLICATION_AUTO_SCALING, models.ecs, call);
  if (service === 'secretsmanager') return callSecretsManager(models.secrets, operation, body, caller);
  if (service === 'servicequotas') return callService(SERVICE_QUOTAS, models.account, call);
  if (service === 'sqs') return callService(SQS, models.queue, call);
  if (service === 'ssm') return callService(SYSTEMS_MANAGER, models.parameters, call);
  throw new AwsError(
    'UnknownOperationException',
    'this world has ECS, Application Auto Scaling, Secrets Manager, Systems Manager, SQS, Logs, STS, IAM, CloudFormation and Service Quotas only',
  );
}

function callerOf({ headers: { authorization } }: IncomingMessage): Caller {
  if (!authorization?.startsWith('AWS4-HMAC-SHA256 '))
    throw new AwsError('MissingAuthenticationTokenException', 'Missing Authentication Token');
  if (authorization.includes(`Credential=${ACCESS_KEY_OF_THE_KEY_FUNCTION}/`)) return 'keys';
  if (authorization.includes(`Credential=${ACCESS_KEY_OF_A_GUEST}/`)) return 'guest';
  return authorization.includes(`Credential=${ACCESS_KEY_OF_A_PERSON}/`) ? 'person' : 'autoscaler';
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  try {
    return JSON.parse(await text(request));
  } catch (cause) {
    throw new AwsError('SerializationException', `reading the body: ${String(cause)}`);
  }
}

function sendError(response: ServerResponse, error: unknown): void {
  if (error instanceof AwsError) send(response, 400, { __type: error.type, message: error.message });
  else send(response, 500, { __type: 'ServerException', message: String(error) });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.1',
    'x-amzn-requestid': randomUUID(),
  });
  response.end(JSON.stringify(body, inSeconds));
}

/** A date is text already when JSON.stringify passes it; the object still has the date. */
function inSeconds(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const { [name]: given } = this;
  return given instanceof Date ? given.getTime() / 1000 : value;
}

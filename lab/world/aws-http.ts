/** The AWS JSON 1.1 protocol, and for forms Query (docs/internals/aws.md §6). Times are in seconds. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { ownValue } from '../../lambda/decision/model/collections.ts';
import { callQuery, errorXml, getSchedule, KMS, SERVICE_QUOTAS } from './account/model.ts';
import { AwsError, type AwsRequest, type AwsService, type Caller, callService } from './base/aws-service.ts';
import { ECS } from './ecs/api.ts';
import { APPLICATION_AUTO_SCALING } from './ecs/scaling.ts';
import { LOGS } from './logs/model.ts';
import { SYSTEMS_MANAGER } from './parameters/model.ts';
import { SQS } from './queue/model.ts';
import { SECRETS_MANAGER } from './secrets/api.ts';
import type { World } from './world.ts';

type AwsTarget = { readonly service: string; readonly operation: string };

type Models = Pick<World, 'account' | 'ecs' | 'secrets' | 'parameters' | 'logs' | 'queue'>;

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

type Served = { readonly service: string; readonly call: (models: Models, request: AwsRequest) => object };

const served = <Model>(service: AwsService<Model>, modelOf: (models: Models) => Model): Served => ({
  service: service.service,
  call: (models, request) => callService(service, modelOf(models), request),
});

/** By the prefix of their targets. */
const SERVICES: Readonly<Record<string, Served>> = {
  AmazonEC2ContainerServiceV20141113: served(ECS, ({ ecs }) => ecs),
  AnyScaleFrontendService: served(APPLICATION_AUTO_SCALING, ({ ecs }) => ecs),
  secretsmanager: served(SECRETS_MANAGER, ({ secrets }) => secrets),
  AmazonSSM: served(SYSTEMS_MANAGER, ({ parameters }) => parameters),
  Logs_20140328: served(LOGS, ({ logs }) => logs),
  AmazonSQS: served(SQS, ({ queue }) => queue),
  TrentService: served(KMS, ({ account }) => account),
  ServiceQuotasV20190624: served(SERVICE_QUOTAS, ({ account }) => account),
};

/** The target of a request; `unknown` for a service that is not simulated. */
export function awsTarget(request: IncomingMessage): AwsTarget {
  const [prefix = '', operation = ''] = targetOf(request);
  return { service: ownValue(SERVICES, prefix)?.service ?? 'unknown', operation };
}

function targetOf({ headers }: IncomingMessage): readonly string[] {
  return String(headers['x-amz-target'] ?? '').split('.');
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
  const { method, url = '' } = request;
  if (method === 'GET' && url.startsWith('/schedules/'))
    return getSchedule(models.account, url, callerOf(request));
  const [prefix = '', name = ''] = targetOf(request);
  const body = await readBody(request);
  const service = ownValue(SERVICES, prefix);
  if (request.method !== 'POST' || request.url !== '/' || service === undefined)
    throw new AwsError('UnknownOperationException', `this world has no service for the target "${prefix}"`);
  return service.call(models, { name, body, caller: callerOf(request) });
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

/**
 * Serves a generated deployment over loopback, in the formats of coderd and AWS. It does not
 * change: it answers writes like ECS but ignores them, so that every look has the same work.
 */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { POOL_TAG, tagOf } from '../../lambda/decision/model/service-tags.ts';
import { awsTarget } from '../../simulator/aws-http.ts';
import { pageOf } from '../../simulator/ecs/requests/paging.ts';
import { BenchError } from '../shared/bench-error.ts';
import { type Count, coderd } from './coderd.ts';
import type { Fleet } from './fleet.ts';

/** Number of calls by operation. */
export type Calls = ReadonlyMap<string, number>;

export type ServedFleet = {
  readonly coderdUrl: string;
  readonly awsUrl: string;
  /** All calls so far. */
  readonly calls: () => Calls;
  /** Makes the forecast data that the function has read too old, so that it reads them again. */
  readonly ageForecast: () => void;
  readonly close: () => Promise<void>;
};

/** The longest time that the function keeps forecast data. */
const REFRESHED_MS = 300_000;

/** Serves coderd and AWS on two free ports. Throws BenchError if a server gets no port. */
export async function serveFleet(fleet: Fleet): Promise<ServedFleet> {
  const calls = new Map<string, number>();
  const count = (operation: string): void => void calls.set(operation, (calls.get(operation) ?? 0) + 1);
  let ageMs = 0;
  const ageForecast = (): void => {
    ageMs += REFRESHED_MS;
  };
  const servers = [createServer(coderd(fleet, count, () => ageMs)), createServer(aws(fleet, count))] as const;
  const [coderdUrl, awsUrl] = await Promise.all([listen(servers[0]), listen(servers[1])]);
  return {
    coderdUrl,
    awsUrl,
    calls: () => new Map(calls),
    ageForecast,
    close: async () => servers.forEach(closeNow),
  };
}

type AwsRequest = {
  readonly services?: readonly string[];
  readonly service?: string;
  readonly serviceName?: string;
  readonly desiredStatus?: string;
  readonly tasks?: readonly string[];
  readonly maxResults?: number;
  readonly nextToken?: string;
};

function aws(fleet: Fleet, count: Count): RequestListener {
  const operations = awsOperations(fleet);
  return async (request, response) => {
    const { operation } = awsTarget(request);
    count(operation);
    const body = (await json(request)) as AwsRequest;
    const answer = operations[operation]?.(body);
    response.writeHead(answer === undefined ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(answer ?? { __type: 'UnknownOperationException', message: operation }));
  };
}

function awsOperations(fleet: Fleet): Readonly<Record<string, (request: AwsRequest) => object>> {
  const services = new Map(fleet.services.map((service) => [service.serviceArn, awsTimes(service)]));
  const tasks = new Map(fleet.members.map(({ task }) => [task.taskArn, awsTimes(task)]));
  const protections = new Map(
    fleet.members.map(({ protection }) => [protection.taskArn, awsTimes(protection)]),
  );
  const arnsOf = ({ serviceName, desiredStatus = 'RUNNING' }: AwsRequest): readonly string[] =>
    fleet.members.flatMap(({ pool, task }) =>
      task.desiredStatus === desiredStatus && (serviceName ?? pool.serviceName) === pool.serviceName
        ? task.taskArn
        : [],
    );
  const page = (arns: readonly string[], request: AwsRequest, name: string) => {
    const { items, ...next } = pageOf(arns, request, { fallback: 10 });
    return { [name]: items, ...next };
  };
  const pick = (from: ReadonlyMap<string, object>, arns: readonly string[] = []) =>
    arns.flatMap((arn) => from.get(arn) ?? []);
  return {
    GetSecretValue: () => ({ SecretString: 'token' }),
    ListSecrets: () => ({ SecretList: secretsOf(fleet) }),
    ListServices: (request) => page([...services.keys()], request, 'serviceArns'),
    DescribeServices: (request) => ({ services: pick(services, request.services) }),
    ListTasks: (request) => page(arnsOf(request), request, 'taskArns'),
    DescribeTasks: (request) => ({ tasks: pick(tasks, request.tasks) }),
    GetTaskProtection: (request) => ({ protectedTasks: pick(protections, request.tasks) }),
    UpdateTaskProtection: (request) => ({ protectedTasks: pick(protections, request.tasks) }),
    UpdateService: ({ service = '' }) => ({ service: services.get(service) }),
  };
}

/** The keys of the pools. None has changed since a task was created. */
function secretsOf({ services }: Fleet): readonly object[] {
  return services.flatMap((service) => {
    const pool = tagOf(service, POOL_TAG);
    const ARN = `arn:aws:secretsmanager:eu-central-1:123456789012:secret:coder/keys/${pool}-AbCdEf`;
    return { ARN, Name: `coder/keys/${pool}`, LastChangedDate: 0, Tags: [] };
  });
}

const TIME_FIELDS = new Set(['createdAt', 'startedAt', 'stoppedAt', 'expirationDate']);

/** AWS writes times as epoch seconds. */
function awsTimes(value: object): object {
  return JSON.parse(JSON.stringify(value), (name, field) =>
    TIME_FIELDS.has(name) ? Date.parse(field) / 1000 : field,
  );
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new BenchError('serving the deployment: the server got no port; run the bench again');
  return `http://127.0.0.1:${address.port}`;
}

function closeNow(server: Server): void {
  server.close();
  server.closeAllConnections();
}

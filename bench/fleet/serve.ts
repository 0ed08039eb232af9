/**
 * A generated deployment over loopback, in coderd's and AWS's formats. It stands still: writes are answered as ECS would and change
 * nothing, so that each tick has the same to do. The bodies of the long lists are made beforehand: what is measured is the tick.
 */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { awsTarget } from '../../lab/ecs/http.ts';
import { pageOf } from '../../lab/ecs/paging.ts';
import type { Fleet, FleetOrganization } from './fleet.ts';

export type ServedFleet = {
  readonly coderdUrl: string;
  readonly awsUrl: string;
  /** Calls so far, by operation. */
  readonly calls: () => ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
};

/** Serves coderd and AWS on two free ports. */
export async function serveFleet(fleet: Fleet): Promise<ServedFleet> {
  const calls = new Map<string, number>();
  const count = (operation: string): void => void calls.set(operation, (calls.get(operation) ?? 0) + 1);
  const servers = [createServer(coderd(fleet, count)), createServer(aws(fleet, count))] as const;
  const [coderdUrl, awsUrl] = await Promise.all([listen(servers[0]), listen(servers[1])]);
  return { coderdUrl, awsUrl, calls: () => calls, close: async () => servers.forEach(closeNow) };
}

type Count = (operation: string) => void;

function coderd(fleet: Fleet, count: Count): RequestListener {
  const date = new Date(fleet.takenAt).toUTCString();
  const bodies = new Map<string, string>([
    ['/api/v2/buildinfo', JSON.stringify({ version: fleet.version })],
    ['/api/v2/organizations', JSON.stringify(fleet.organizations.map(({ id, name }) => ({ id, name })))],
    ...fleet.organizations.flatMap(organizationBodies),
  ]);
  return (request, response) => {
    const { pathname, searchParams } = new URL(`http://coderd${request.url}`);
    count(`coderd ${pathname.split('/').at(-1)}`);
    const ids = searchParams.get('ids');
    const body = ids === null ? bodies.get(pathname) : previousJobs(fleet, pathname, ids);
    response.writeHead(body === undefined ? 404 : 200, { date, 'content-type': 'application/json' });
    response.end(body);
  };
}

function organizationBodies({ id, jobs, daemons }: FleetOrganization): [string, string][] {
  const path = `/api/v2/organizations/${id}`;
  return [
    [`${path}/provisionerjobs`, JSON.stringify(jobs)],
    [`${path}/provisionerdaemons`, JSON.stringify(daemons)],
  ];
}

function previousJobs(fleet: Fleet, pathname: string, ids: string): string {
  const wanted = new Set(ids.split(','));
  const organization = fleet.organizations.find(({ id }) => pathname.includes(id));
  return JSON.stringify(organization?.previousJobs.filter(({ id }) => wanted.has(id)) ?? []);
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
    ListServices: (request) => page([...services.keys()], request, 'serviceArns'),
    DescribeServices: (request) => ({ services: pick(services, request.services) }),
    ListTasks: (request) => page(arnsOf(request), request, 'taskArns'),
    DescribeTasks: (request) => ({ tasks: pick(tasks, request.tasks) }),
    GetTaskProtection: (request) => ({ protectedTasks: pick(protections, request.tasks) }),
    UpdateTaskProtection: (request) => ({ protectedTasks: pick(protections, request.tasks) }),
    UpdateService: ({ service = '' }) => ({ service: services.get(service) }),
  };
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
    throw new Error('serving the deployment: no port was given');
  return `http://127.0.0.1:${address.port}`;
}

function closeNow(server: Server): void {
  server.close();
  server.closeAllConnections();
}

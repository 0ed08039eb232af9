/**
 * Serves a deployment over loopback. A proxy remembers each answer: making it is not measured,
 * every look has the same work, and writes change nothing.
 */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { checkConfig } from '../../../lambda/config/check.ts';
import { connect } from '../../../lambda/connect.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { observe } from '../../../lambda/look/observe.ts';
import { awsTarget } from '../../world/aws-http.ts';
import { close, listen, serveWorld } from '../../world/serve.ts';
import type { World } from '../../world/world.ts';
import type { Fleet } from './fleet.ts';

export type Calls = ReadonlyMap<string, number>;

export type ServedFleet = {
  readonly coderdUrl: string;
  readonly awsUrl: string;
  readonly calls: () => Calls;
  /** Makes the forecast data that the function has read too old, so that it reads them again. */
  readonly ageForecast: () => void;
  readonly close: () => Promise<void>;
};

/** The longest time that the function keeps forecast data. */
const REFRESHED_MS = 300_000;

/** How coderd is on a busy network. */
export type Strain = {
  readonly answerMs: number;
  /** Requests a minute for each path; more get a 429. coderd: 512. */
  readonly perMinute: number;
};

export async function serveFleet(world: World, strain?: Strain): Promise<ServedFleet> {
  const served = await serveWorld(world);
  const calls = new Map<string, number>();
  const count = (operation: string): void => void calls.set(operation, (calls.get(operation) ?? 0) + 1);
  let ageMs = 0;
  const servers = [
    createServer(
      remembering(
        served.coderdUrl,
        (request) => {
          const operation = coderdOperation(request);
          count(`coderd ${operation}`);
          // all other answers have the time of the world
          return operation === 'buildinfo' ? ageMs : 0;
        },
        strain,
      ),
    ),
    createServer(
      remembering(served.awsUrl, (request) => {
        count(awsTarget(request).operation);
        return 0;
      }),
    ),
  ] as const;
  const [coderdUrl, awsUrl] = await Promise.all([listen(servers[0]), listen(servers[1])]);
  return {
    ...{ coderdUrl, awsUrl, calls: () => new Map(calls) },
    ageForecast: () => {
      ageMs += REFRESHED_MS;
    },
    close: async () => {
      await Promise.all([...servers.map(close), served.close()]);
    },
  };
}

/** The last part of the path that is not an id. */
function coderdOperation({ url = '' }: IncomingMessage): string {
  const [path = ''] = url.split('?');
  return path.split('/').findLast((part) => !/^[0-9a-f-]{36}$/.test(part)) ?? '';
}

type Answer = {
  readonly status: number;
  readonly type: string;
  readonly date: string;
  readonly body: string;
};

/** `seen` gets each request, and returns by how many milliseconds its answer is later than the world. */
function remembering(
  upstream: string,
  seen: (request: IncomingMessage) => number,
  strain?: Strain,
): RequestListener {
  const known = new Map<string, Promise<Answer>>();
  const recent = new Map<string, number[]>();
  const isTooMany = (path: string, perMinute: number): boolean => {
    const now = performance.now();
    const times = (recent.get(path) ?? []).filter((at) => at > now - 60_000);
    recent.set(path, [...times, now]);
    return times.length >= perMinute;
  };
  return async (request, response) => {
    const laterMs = seen(request);
    const body = await buffer(request);
    const key = [request.method, request.url, request.headers['x-amz-target'], body].join(' ');
    const answer = known.get(key) ?? ask(upstream, request, body);
    known.set(key, answer);
    const { status, type, date, body: text } = await answer;
    if (strain !== undefined) {
      if (isTooMany(request.url?.split('?')[0] ?? '', strain.perMinute)) {
        response.writeHead(429, { 'retry-after': '10' }).end('{"message":"Too many requests"}');
        return;
      }
      await setTimeout(strain.answerMs);
    }
    const time = new Date(Date.parse(date) + laterMs).toUTCString();
    response.writeHead(status, { 'content-type': type, date: time });
    response.end(text);
  };
}

async function ask(upstream: string, { method = 'GET', url = '', headers }: IncomingMessage, body: Buffer) {
  const { host: _, connection: __, 'content-length': ___, ...sent } = headers;
  const answer = await fetch(`${upstream}${url}`, {
    ...{ method, headers: sent as Record<string, string> },
    ...(body.length === 0 ? {} : { body }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    type: answer.headers.get('content-type') ?? '',
    date: answer.headers.get('date') ?? '',
    body: url.startsWith('/api/v2/workspaces?') ? asLargeAsReal(text) : text,
  };
}

/** A workspace of a real coderd has more and longer agents, apps and scripts: it has 5 to 10 KB. */
function asLargeAsReal(text: string): string {
  const page = JSON.parse(text);
  for (const { latest_build: build } of page.workspaces)
    build.resources = build.resources.flatMap((resource: object) => Array(10).fill(resource));
  return JSON.stringify(page);
}

type Addresses = { readonly coderdUrl: string; readonly awsUrl: string };
export type Observed = { readonly snapshot: Snapshot; readonly config: Config };

/** What the first look of a function reads of a deployment. */
export async function observeFleet(fleet: Fleet): Promise<Observed> {
  const served = await serveWorld(fleet.world);
  const observed = await observeServed(fleet, served);
  await served.close();
  return observed;
}

/** The same of one that is served already. */
export async function observeServed(fleet: Fleet, { coderdUrl, awsUrl }: Addresses): Promise<Observed> {
  Object.assign(process.env, awsEnvironment(awsUrl));
  const { config } = checkConfig(fleet.config(coderdUrl));
  const connection = connect(config, fleet.world.ecs.clusterName, undefined);
  const snapshot = await observe(connection.ports(), config);
  await connection.close();
  return { snapshot, config };
}

export const awsEnvironment = (url: string) => ({
  ...{ AWS_ENDPOINT_URL_ECS: url, AWS_ENDPOINT_URL_SECRETS_MANAGER: url },
  ...{ AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench' },
});

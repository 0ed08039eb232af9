/**
 * Serves a deployment over loopback. A proxy remembers each answer: making it is not measured, every look has
 * the same work, and writes change nothing.
 */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { checkConfig } from '../../lambda/config/check.ts';
import { connect } from '../../lambda/connect.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { observe } from '../../lambda/look/observe.ts';
import { VirtualScheduler } from '../world/base/virtual-scheduler.ts';
import { inProcessPorts } from '../world/in-process/ports.ts';
import { close, listen, serveWorld } from '../world/serve.ts';
import type { Fleet } from './fleet.ts';

export type ServedFleet = {
  readonly coderdUrl: string;
  readonly awsUrl: string;
  readonly close: () => Promise<void>;
};

export type Observed = { readonly snapshot: Snapshot; readonly config: Config };

/** What the first look of a function reads, without HTTP: no request of it can time out. */
export async function observeFleet({ world, config: configFor }: Fleet): Promise<Observed> {
  const { config } = checkConfig(configFor('https://coder.example.com'));
  const ports = inProcessPorts(world, { scheduler: new VirtualScheduler(world.timeline) });
  return { snapshot: await observe(ports(), config), config };
}

/** Returns once the proxy knows the answers to a first look. */
export async function serveFleet({ world, config: configFor }: Fleet): Promise<ServedFleet> {
  const served = await serveWorld(world);
  const servers = [
    createServer(remembering(served.coderdUrl)),
    createServer(remembering(served.awsUrl)),
  ] as const;
  const [coderdUrl, awsUrl] = await Promise.all([listen(servers[0]), listen(servers[1])]);
  Object.assign(process.env, awsEnvironment(awsUrl));
  const { config } = checkConfig(configFor(coderdUrl));
  const connection = connect(config, world.ecs.clusterName, undefined);
  await observe(connection.ports(), config);
  await connection.close();
  return {
    ...{ coderdUrl, awsUrl },
    close: async () => {
      await Promise.all([...servers.map(close), served.close()]);
    },
  };
}

type Answer = { readonly status: number; readonly headers: Record<string, string>; readonly body: string };

function remembering(upstream: string): RequestListener {
  const known = new Map<string, Promise<Answer>>();
  return async (request, response) => {
    const body = await buffer(request);
    const key = [request.method, request.url, request.headers['x-amz-target'], body].join(' ');
    const answer = known.get(key) ?? ask(upstream, request, body);
    known.set(key, answer);
    try {
      const { status, headers, body: text } = await answer;
      response.writeHead(status, headers).end(text);
    } catch {
      // the world was closed, or closed an idle connection: the client asks again
      known.delete(key);
      response.destroy();
    }
  };
}

async function ask(upstream: string, request: IncomingMessage, body: Buffer): Promise<Answer> {
  const { method = 'GET', url = '' } = request;
  const { host: _, connection: __, 'content-length': ___, ...sent } = request.headers;
  const answer = await fetch(`${upstream}${url}`, {
    ...{ method, headers: sent as Record<string, string> },
    ...(body.length === 0 ? {} : { body }),
  });
  const text = await answer.text();
  const [type, date] = ['content-type', 'date'].map((name) => answer.headers.get(name) ?? '');
  return {
    status: answer.status,
    headers: { 'content-type': type ?? '', date: date ?? '' },
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

export const awsEnvironment = (url: string) => ({
  ...{ AWS_ENDPOINT_URL_ECS: url, AWS_ENDPOINT_URL_SECRETS_MANAGER: url },
  ...{ AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench' },
});

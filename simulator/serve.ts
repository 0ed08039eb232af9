/** The world over HTTP: coderd and AWS, each on a loopback server of its own. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { EpochMs } from '../lambda/decision/model/brands.ts';
import { awsHandler, awsTarget } from './aws-http.ts';
import { coderdHandler } from './coderd/routes/http.ts';
import type { World } from './world.ts';

/** What a request is for: `GET /api/v2/…` of `coderd`, or an operation of `ecs`, `secretsmanager` or `logs`. */
export type Requested = { readonly service: string; readonly operation: string };

export type ServeOptions = {
  /** Called at each request: the timeline is advanced to it first. @default time moves only by `timeline.advanceTo` */
  readonly clock?: () => EpochMs;
  /** Called at each request, before it is answered. */
  readonly onRequest?: (what: Requested) => void;
};

export type ServedWorld = {
  readonly coderdUrl: string;
  readonly awsUrl: string;
  close(): Promise<void>;
};

/** Serves the world on two free ports of the loopback interface. */
export async function serveWorld(world: World, options: ServeOptions = {}): Promise<ServedWorld> {
  const moving = (handle: RequestListener, target: (request: IncomingMessage) => Requested) =>
    createServer((request, response) => {
      if (options.clock !== undefined) world.timeline.advanceTo(options.clock());
      options.onRequest?.(target(request));
      handle(request, response);
    });
  const servers = [
    moving(coderdHandler(world.coderd), coderdTarget),
    moving(awsHandler(world), awsTarget),
  ] as const;
  const [coderdUrl, awsUrl] = await Promise.all([listen(servers[0]), listen(servers[1])]);
  return {
    coderdUrl,
    awsUrl,
    close: async () => {
      await Promise.all(servers.map(close));
    },
  };
}

function coderdTarget(request: IncomingMessage): Requested {
  const [path] = (request.url ?? '').split('?');
  return { service: 'coderd', operation: `${request.method ?? 'GET'} ${path}` };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string')
        reject(new Error(`serving the world: no port was given, but ${String(address)}`));
      else resolve(`http://127.0.0.1:${address.port}`);
    });
  });
}

/** Kept-alive connections of clients would hold the server open. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

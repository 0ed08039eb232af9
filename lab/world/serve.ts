/** Serves the world over HTTP: coderd and AWS, each on its own loopback server. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { awsHandler, awsTarget } from './aws-http.ts';
import { SimulatorError } from './base/simulator-error.ts';
import { coderdHandler } from './coderd/routes/http.ts';
import type { World } from './world.ts';

/** `GET /api/v2/…` of `coderd`, or an operation of `ecs`, `secretsmanager`, `ssm`, `sqs` or `logs`. */
export type Requested = { readonly service: string; readonly operation: string };

type ServeOptions = {
  /** The timeline advances to it before each request. @default time moves only by `timeline.advanceTo` */
  readonly clock?: () => EpochMs;
  readonly onRequest?: (what: Requested) => void;
};

export type ServedWorld = {
  readonly coderdUrl: string;
  readonly awsUrl: string;
  /** As a NAT that drops its table: a request on a connection that is open now gets a reset. */
  forgetConnections(): void;
  close(): Promise<void>;
};

export async function serveWorld(world: World, options: ServeOptions = {}): Promise<ServedWorld> {
  const open = new Set<Socket>();
  const forgotten = new WeakSet<Socket>();
  const moving = (handle: RequestListener, target: (request: IncomingMessage) => Requested) =>
    createServer((request, response) => {
      if (forgotten.has(request.socket)) {
        request.socket.resetAndDestroy();
        return;
      }
      if (options.clock !== undefined) world.timeline.advanceTo(options.clock());
      options.onRequest?.(target(request));
      handle(request, response);
    });
  const servers = [
    moving(coderdHandler(world.coderd), coderdTarget),
    moving(awsHandler(world), awsTarget),
  ] as const;
  for (const server of servers)
    server.on('connection', (socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    });
  const [coderdUrl, awsUrl] = await Promise.all([listen(servers[0]), listen(servers[1])]);
  return {
    coderdUrl,
    awsUrl,
    forgetConnections: () => {
      for (const socket of open) forgotten.add(socket);
    },
    close: async () => {
      await Promise.all(servers.map(close));
    },
  };
}

function coderdTarget(request: IncomingMessage): Requested {
  const [path] = (request.url ?? '').split('?');
  return { service: 'coderd', operation: `${request.method ?? 'GET'} ${path}` };
}

export function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string')
        reject(new SimulatorError(`serving the world: expected a TCP port, got ${String(address)}`));
      else resolve(`http://127.0.0.1:${address.port}`);
    });
  });
}

/** Closes the server and the clients' kept-alive connections, which would otherwise keep it open. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

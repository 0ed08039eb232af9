/**
 * The loopback server for the processes of tasks:
 *
 *   /api/<task id>/task-protection/v1/state   the agent endpoint, at ECS_AGENT_URI
 *   /v4/<task id>/task                        the metadata, at ECS_CONTAINER_METADATA_URI_V4
 *   /v4/<task id>/stats                       Docker's statistics of the container, there too
 *   /daemons/<daemon's name>                  at CODER_URL: coder.sh reports here for a daemon
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Credential } from '../base/daemon-connection.ts';
import { SimulatorError } from '../base/simulator-error.ts';
import type { ContainerHost } from '../ecs/parts/container.ts';
import type { DockerStats } from '../task/container-usage.ts';
import { readCredential } from '../task/start-variables.ts';
import { answerMetadata, answerProtection, answerStats, type FaceAnswer } from './agent-face.ts';

export type TaskDaemon = { readonly name: string; readonly credential: Credential };

/** A task of the server. */
export type ServedTask = {
  readonly host: ContainerHost;
  readonly runDaemon: (daemon: TaskDaemon, onExit: (code: number) => void) => void;
  readonly terminateDaemon: () => void;
  /** Called when the daemon's process is gone without an exit. */
  readonly loseDaemon: () => void;
  /** What the container uses; undefined if it is unknown. */
  readonly stats: () => DockerStats | undefined;
};

export type TaskServerOptions = {
  /** Finds a task by its id; called for each request. */
  readonly find: (taskId: string) => ServedTask | undefined;
};

type TaskRequest = {
  readonly task: ServedTask;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

const NOT_FOUND: FaceAnswer = { status: 404, body: { message: 'not found' } };

export class TaskServer {
  readonly #server: Server;

  constructor({ find }: TaskServerOptions) {
    this.#server = createServer((request, response) => {
      const [, face = '', name = '', ...rest] = (request.url ?? '').split('/');
      const task = find(name.slice(name.lastIndexOf('-') + 1));
      const path = `/${rest.join('/')}`;
      if (task === undefined) send(response, NOT_FOUND);
      else if (face === 'api' && path === '/task-protection/v1/state')
        void answerAgent({ task, request, response });
      else if (face === 'v4' && path === '/task') send(response, answerMetadata(task.host));
      else if (face === 'v4' && path === '/stats') send(response, answerStats(task.stats()));
      else if (face === 'daemons') answerDaemon(name, { task, request, response });
      else send(response, NOT_FOUND);
    });
  }

  /** Listens on a free port of the loopback interface, and returns the URL. */
  async open(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string')
      throw new SimulatorError(`serving tasks: expected a TCP port, got ${String(address)}`);
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

async function answerAgent({ task, request, response }: TaskRequest): Promise<void> {
  const body = await text(request).catch(() => '');
  send(response, await answerProtection(task.host, { method: request.method ?? '', body }));
}

/** Answers POST with the exit code when the daemon exits. DELETE stands for SIGTERM. */
function answerDaemon(name: string, { task, request, response }: TaskRequest): void {
  if (request.method === 'DELETE') {
    task.terminateDaemon();
    send(response, { status: 204, body: undefined });
    return;
  }
  response.once('close', () => {
    if (!response.writableEnded) task.loseDaemon();
  });
  task.runDaemon({ name, credential: credentialOf(request) }, (code) => void response.end(`${code}\n`));
}

/** coder.sh sends each variable that coder reads as a header. */
function credentialOf({ headers }: IncomingMessage): Credential {
  const variables = Object.entries(headers).map(([name, value]) => [
    name.toUpperCase().replaceAll('-', '_'),
    String(value),
  ]);
  return readCredential(Object.fromEntries(variables));
}

function send(response: ServerResponse, { status, body }: FaceAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

/**
 * The loopback server for the processes of tasks:
 *
 *   /api/<task id>/task-protection/v1/state   the agent endpoint, at ECS_AGENT_URI
 *   /v4/<task id>/task                        the metadata, at ECS_CONTAINER_METADATA_URI_V4
 *   /daemons/<daemon's name>                  at CODER_URL: coder.sh reports here for a daemon
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import type { Credential } from '../base/daemon-connection.ts';
import { SimulatorError } from '../base/simulator-error.ts';
import type { AgentAnswer, ContainerHost } from '../ecs/parts/container.ts';
import { readCredential } from '../task/start-variables.ts';

export type TaskDaemon = { readonly name: string; readonly credential: Credential };

export type ServedTask = {
  readonly host: ContainerHost;
  readonly runDaemon: (daemon: TaskDaemon, onExit: (code: number) => void) => void;
  readonly terminateDaemon: () => void;
  readonly loseDaemon: () => void;
};

type TaskServerOptions = {
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
      else if (face === 'daemons') answerDaemon(name, { task, request, response });
      else send(response, NOT_FOUND);
    });
  }

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

type FaceAnswer = { readonly status: number; readonly body: object | null | undefined };

/** The agent refuses unknown fields. */
const PROTECTION = z.strictObject({
  ProtectionEnabled: z.boolean(),
  ExpiresInMinutes: z.int().positive().optional(),
});
const DEFAULT_MINUTES = 120;

/** Answers GET or PUT `/task-protection/v1/state`; `body` is that of a PUT. */
export function answerProtection(
  host: ContainerHost,
  { method, body }: { readonly method: string; readonly body: string },
): Promise<FaceAnswer> {
  return new Promise((resolve) => {
    const answer = (from: AgentAnswer): void => resolve(protectionAnswer(host.taskArn, from));
    if (method === 'GET') {
      host.agent.look(answer);
      return;
    }
    const asked = PROTECTION.safeParse(parseQuietly(body));
    if (!asked.success) resolve(refusal(host.taskArn, { status: 400, code: 'InvalidParameterException' }));
    else if (asked.data.ProtectionEnabled)
      host.agent.protect(asked.data.ExpiresInMinutes ?? DEFAULT_MINUTES, answer);
    else host.agent.release(answer);
  });
}

function answerMetadata(host: ContainerHost): FaceAnswer {
  const status = { DesiredStatus: host.agent.desiredStatus(), KnownStatus: 'RUNNING' };
  const containers = [{ Name: 'provisioner', DesiredStatus: 'RUNNING', KnownStatus: 'RUNNING' }];
  return { status: 200, body: { TaskARN: host.taskArn, ...status, Containers: containers } };
}

function protectionAnswer(taskArn: string, answer: AgentAnswer): FaceAnswer {
  if (answer.kind === 'error') return refusal(taskArn, { status: 500, code: answer.code });
  if (answer.kind === 'failure')
    return { status: 200, body: { failure: { Arn: taskArn, Reason: answer.reason, Detail: null } } };
  const { enabled, expiresAt } = answer;
  const expiry = enabled && expiresAt !== undefined ? new Date(expiresAt).toISOString() : null;
  return {
    status: 200,
    body: {
      protection: {
        ExpirationDate: expiry?.replace(/\.\d+/, '') ?? null,
        ProtectionEnabled: enabled,
        TaskArn: taskArn,
      },
    },
  };
}

function refusal(
  taskArn: string,
  { status, code }: { readonly status: number; readonly code: string },
): FaceAnswer {
  return { status, body: { requestID: randomUUID(), error: { Arn: taskArn, Code: code, Message: code } } };
}

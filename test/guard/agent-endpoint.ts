/**
 * A simulated agent endpoint and task metadata over HTTP (docs/internals/aws.md §1), with the
 * faults that a test sets.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import * as z from 'zod';

export const TASK_ID = '0123456789abcdef0123456789abcdef';
const arnOf = (id: string): string => `arn:aws:ecs:eu-central-1:123456789012:task/coder/${id}`;
const TASK_ARN = arnOf(TASK_ID);
const OTHER_ARN = arnOf(TASK_ID.replace('0', 'f'));
const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

export type Call = 'protect' | 'release' | 'look' | 'metadata';

export type Misbehaviour =
  /** Changes nothing, and answers this. */
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  /** Changes nothing, and breaks the connection. */
  | { readonly kind: 'reset' }
  /** Makes the change, but breaks the connection. */
  | { readonly kind: 'lost' }
  /** Answers when the promise is settled. */
  | { readonly kind: 'held'; readonly until: Promise<unknown> }
  /** Changes nothing, and its answer never ends. */
  | { readonly kind: 'endless' };

/** The agent rejects other fields: it decodes with DisallowUnknownFields. */
const writeSchema = z.strictObject({
  ProtectionEnabled: z.boolean(),
  ExpiresInMinutes: z.int().min(1).max(2880).optional(),
});

type NamedTask = { readonly TaskArn?: string | null };

export class AgentEndpoint {
  /** The time at which the protection ends. 0: disabled. */
  expiresAt = 0;
  desiredStatus = 'RUNNING';
  fractions = false;
  /** So many bytes are added to answers about the protection. */
  padding = 0;
  /** How answers about the protection name the task. */
  task: NamedTask = { TaskArn: TASK_ARN };
  /** Looks wait here. */
  readonly gate = new Gate();
  /** Runs before each call is answered. */
  onCall: (call: Call) => void = () => {};
  readonly #trace: Trace;
  readonly #faults = new Map<Call, { readonly fault: Misbehaviour; left: number }>();
  readonly #server: Server;

  private constructor(trace: Trace) {
    this.#trace = trace;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(trace: Trace): Promise<AgentEndpoint> {
    const agent = new AgentEndpoint(trace);
    agent.#server.listen(0, '127.0.0.1');
    await once(agent.#server, 'listening');
    return agent;
  }

  get url(): string {
    const address = this.#server.address();
    return typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '';
  }

  /** Sets a fault for calls of one kind. `times`: the number of calls. @default all calls */
  misbehaves(call: Call, fault: Misbehaviour, times = Number.POSITIVE_INFINITY): void {
    this.#faults.set(call, { fault, left: times });
  }

  behaves(): void {
    this.#faults.clear();
  }

  /** Sets the time left on the lease, as another caller would. 0: disables it. */
  leaves(ms: number): void {
    this.expiresAt = ms === 0 ? 0 : Date.now() + ms;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = `${request.method} ${request.url}`;
    if (path === 'GET /v4/task') return this.#answer('metadata', 'metadata', request, response);
    if (path === 'GET /agent/task-protection/v1/state')
      return this.#answer('look', 'look', request, response);
    const write = writeSchema.safeParse(path.startsWith('PUT') ? JSON.parse(await text(request)) : undefined);
    if (path !== 'PUT /agent/task-protection/v1/state' || !write.success) {
      this.#trace.note(`agent: bad request ${path}`);
      response.writeHead(400).end();
      return;
    }
    const minutes = write.data.ExpiresInMinutes ?? 120;
    if (write.data.ProtectionEnabled)
      this.#answer('protect', `protect ${minutes}`, request, response, minutes);
    else this.#answer('release', 'release', request, response, 0);
  }

  async #answer(
    call: Call,
    event: string,
    request: IncomingMessage,
    response: ServerResponse,
    minutes?: number,
  ): Promise<void> {
    this.onCall(call);
    this.#trace.note(`agent: ${event}`);
    if (call === 'look') await this.gate.passed();
    const fault = this.#fault(call);
    if (fault?.kind === 'held') await fault.until;
    if (fault?.kind === 'reset') return void request.socket.destroy();
    if (fault?.kind === 'answer') return void response.writeHead(fault.status).end(fault.body);
    if (fault?.kind === 'endless') return void pipeline(endless(), response, () => {});
    if (minutes !== undefined) this.leaves(minutes * MINUTE_MS);
    if (fault?.kind === 'lost') return void request.socket.destroy();
    response.setHeader('Content-Type', 'application/json').end(this.#body(call));
  }

  #body(call: Call): string {
    return call === 'metadata'
      ? metadata({ DesiredStatus: this.desiredStatus })
      : protection(this.expiresAt, this);
  }

  #fault(call: Call): Misbehaviour | undefined {
    const entry = this.#faults.get(call);
    if (entry === undefined || entry.left === 0) return undefined;
    entry.left--;
    return entry.fault;
  }
}

/** Holds calls while it is closed, until the test lets them through. It is open at first. */
class Gate {
  #isClosed = false;
  readonly #waiting: (() => void)[] = [];
  #onArrival: () => void = () => {};

  close(): void {
    this.#isClosed = true;
  }

  open(): void {
    this.#isClosed = false;
    this.letThrough();
  }

  /** Lets the calls through that wait now, and no later ones. */
  letThrough(): void {
    for (const pass of this.#waiting.splice(0)) pass();
  }

  /** Resolves as soon as a call waits. */
  async arrival(): Promise<void> {
    if (this.#waiting.length > 0) return;
    await new Promise<void>((arrived) => {
      this.#onArrival = arrived;
    });
  }

  async passed(): Promise<void> {
    if (!this.#isClosed) return;
    const passed = new Promise<void>((pass) => this.#waiting.push(pass));
    this.#onArrival();
    await passed;
  }
}

/**
 * The events of a guard in the order in which the test saw them. A test waits for events, never for
 * time to pass.
 */
export class Trace {
  readonly events: string[] = [];
  readonly #watchers = new Set<() => void>();

  note(event: string): void {
    this.events.push(event);
    for (const watch of [...this.#watchers]) watch();
  }

  /**
   * Resolves when `times` events from index `from` on start with these words. Returns the index
   * after the last of them.
   */
  until(words: string, { times = 1, from = 0 } = {}): Promise<number> {
    return new Promise((resolve) => {
      const watch = () => {
        const end = this.#endOf(words, times, from);
        if (end === undefined) return;
        this.#watchers.delete(watch);
        resolve(end);
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  /** The events from index `from` on that start with these words. */
  having(words: string, from = 0): string[] {
    return this.events.slice(from).filter((event) => event.startsWith(words));
  }

  #endOf(words: string, times: number, from: number): number | undefined {
    let seen = 0;
    for (let at = from; at < this.events.length; at++) {
      if (this.events[at]?.startsWith(words)) seen++;
      if (seen === times) return at + 1;
    }
    return undefined;
  }
}

function* endlessText() {
  for (;;) yield '"protection":{'.repeat(4_096);
}
const endless = (): Readable => Readable.from(endlessText(), { objectMode: false });

type Form = { readonly fractions?: boolean; readonly task?: NamedTask; readonly padding?: number };

/** The agent's answer to a look. `task`: how it names the task. */
function protection(
  expiresAt: number,
  { fractions = false, task = { TaskArn: TASK_ARN }, padding = 0 }: Form = {},
): string {
  const date = new Date(expiresAt).toISOString();
  return JSON.stringify({
    protection: {
      ExpirationDate: expiresAt > Date.now() ? (fractions ? date : date.replace(/\.\d+/, '')) : null,
      ProtectionEnabled: expiresAt > Date.now(),
      ...task,
    },
    ...(padding > 0 && { padding: 'x'.repeat(padding) }),
  });
}

/** The agent's answer to a look, for another task, with so many hours left. 0: without protection. */
const ofAnother = (hours: number): Misbehaviour =>
  answer(protection(hours === 0 ? 0 : Date.now() + hours * HOUR_MS, { task: { TaskArn: OTHER_ARN } }));

/** Answers of the agent about another task. */
export const OTHERS: readonly { readonly is: string; readonly fault: Misbehaviour }[] = [
  { is: "another task's lease", fault: ofAnother(48) },
  { is: "another task's drain request", fault: ofAnother(23) },
  { is: "another task's drain request of long ago", fault: ofAnother(11) },
  { is: 'that another task has no lease', fault: ofAnother(0) },
];

/** The metadata of a task, with so many bytes more. The desired status of its container is always RUNNING. */
export function metadata(
  task: { readonly TaskARN?: string; readonly DesiredStatus?: string },
  padding = 0,
): string {
  return JSON.stringify(
    {
      Cluster: 'coder',
      TaskARN: TASK_ARN,
      Family: 'provisioner',
      DesiredStatus: 'RUNNING',
      KnownStatus: 'RUNNING',
      ...task,
      Containers: [
        { Name: 'coder', DesiredStatus: 'RUNNING', KnownStatus: 'RUNNING', Padding: 'x'.repeat(padding) },
      ],
      LaunchType: 'FARGATE',
    },
    undefined,
    2,
  );
}

/** Its end is a lease, which some shells would find after minutes only. */
const LONG_ANSWER = `${'{"protection":{'.repeat(600)}${protection(Date.now() + 48 * HOUR_MS)}`;

/** Answers that are no protection. A refusal can have the status 200. */
export const FAULTS: readonly { readonly fault: Misbehaviour; readonly is: string; readonly why: string }[] =
  [
    { is: 'breaks off', why: 'curl-52', fault: { kind: 'reset' } },
    answered('says nothing', '', 'unreadable-answer'),
    answered('says {}', '{}', 'unreadable-answer'),
    answered(
      'talks HTML',
      '<html><body>"protection":{"ProtectionEnabled":true</body></html>',
      'unreadable-answer',
    ),
    answered('ends in the middle', protection(Date.now() + 48 * HOUR_MS).slice(0, -20), 'unreadable-answer'),
    answered('has no date', '{"protection":{"ProtectionEnabled":true}}', 'unreadable-answer'),
    answered(
      'has a date that is none',
      '{"protection":{"ExpirationDate":"2026-13-45T99:00:00Z","ProtectionEnabled":true}}',
      'unreadable-answer',
    ),
    answered(
      'has a date that only some shells can read',
      '{"protection":{"ExpirationDate":"1month","ProtectionEnabled":true}}',
      'unreadable-answer',
    ),
    answered(
      'reports a failure with status 200',
      '{"failure":{"Arn":"arn:a","Detail":"\\"protection\\":{\\"Reason\\":\\"x\\"}","Reason":"MISSING"}}',
      'MISSING',
    ),
    answered(
      'reports an error with status 200',
      '{"requestID":"1","error":{"Arn":"arn:a","Code":"AccessDeniedException","Message":"no \\"protection\\""}}',
      'AccessDeniedException',
    ),
    answered('reports an error without a code', '{"error":{"Message":"not now"}}', 'unreadable-answer'),
    answered(
      'is throttled',
      '{"error":{"Code":"ThrottlingException","Message":"Rate exceeded"}}',
      'ThrottlingException',
      400,
    ),
    answered('has broken down', 'oops', 'unreadable-answer', 500),
    answered('talks for long', LONG_ANSWER, 'long-answer'),
    { is: "answers with another task's lease", why: 'other-task', fault: ofAnother(48) },
  ];

export const BLOCKED: Misbehaviour = answer(
  '{"failure":{"Arn":"arn:a","Detail":"Can\'t set task protection","Reason":"DEPLOYMENT_BLOCKED"}}',
);

export const DENIED: Misbehaviour = answer(
  '{"requestID":"1","error":{"Arn":"arn:a","Code":"AccessDeniedException","Message":"is not authorized"}}',
  400,
);

export function answer(body: string, status = 200) {
  return { kind: 'answer', status, body } as const;
}

export const HANGS: Misbehaviour = { kind: 'held', until: new Promise(() => {}) };

function answered(is: string, body: string, why: string, status?: number) {
  return { is, why, fault: answer(body, status) };
}

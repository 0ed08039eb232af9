/**
 * The key function in a small world: the simulated coderd and Secrets Manager behind the real
 * adapters, and tasks that read their key when they start. No sockets, and time moves only when told.
 */
import type { DaemonConnection } from '../../lab/world/base/daemon-connection.ts';
import { Random } from '../../lab/world/base/random.ts';
import { Timeline } from '../../lab/world/base/timeline.ts';
import { CoderdModel } from '../../lab/world/coderd/model.ts';
import type { ProvisionerKey } from '../../lab/world/coderd/tables/keys.ts';
import { ROTATION_STEPS, SecretsModel } from '../../lab/world/secrets/model.ts';
import type { StoredSecret } from '../../lab/world/secrets/secret.ts';
import type { RawAnswer } from '../../lambda/adapters/coderd/http/answer.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { POOL_TAG, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import type { KeysAnswer, ResourceAnswer } from '../../lambda/keys/model/events.ts';
import type { ManagedPool } from '../../lambda/keys/model/pool.ts';
import { deploymentOf } from '../../lambda/keys/model/pool.ts';
import type { KeyPorts, PoolTask } from '../../lambda/keys/model/ports.ts';
import { serveKeyEvent } from '../../lambda/keys/serve.ts';
import { START } from '../support/lab.ts';
import { simulatedKeyPorts } from './simulated-key-ports.ts';

export const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000] as const;
export const DEPLOYMENT = deploymentOf(
  'Stack',
  'arn:aws:cloudformation:eu-central-1:123456789012:stack/Stack/1',
);
export const OTHER_DEPLOYMENT = deploymentOf(
  'Stack',
  'arn:aws:cloudformation:eu-central-1:123456789012:stack/Stack/2',
);
export const CPU: ManagedPool = {
  name: 'cpu',
  coderUrl: 'https://coder.example.com',
  organization: 'default',
  tags: { environment: 'on-prem' },
};

export type RunningTask = PoolTask & {
  readonly pool: string;
  readonly key: string;
  readonly keyId: string;
  readonly connection: DaemonConnection;
};

export type LogLine = { readonly level: 'info' | 'warn'; readonly message: string; readonly fields?: object };

/** Called before each call of the function to coderd, Secrets Manager or ECS. May throw. */
export type OnCall = (what: string) => void;

/** Called with what coderd answered; may put another answer in its place, or throw. */
export type OnAnswer = (what: string, answer: RawAnswer) => RawAnswer;

export type KeyLabOptions = {
  readonly pools?: readonly ManagedPool[];
  readonly version?: string;
  readonly organizations?: readonly string[];
  readonly keyRights?: Parameters<CoderdModel['addToken']>[0]['keyRights'];
  readonly deployment?: typeof DEPLOYMENT;
  /** A world that exists already, with another deployment. */
  readonly shared?: KeyLab;
};

const ALL = { read: 'all', create: 'all', delete: 'all' } as const;

export class KeyLab {
  readonly timeline: Timeline;
  readonly coderd: CoderdModel;
  readonly secrets: SecretsModel;
  readonly deployment: typeof DEPLOYMENT;
  readonly log: LogLine[] = [];
  /** The pools of the function's configuration. */
  pools: readonly ManagedPool[];
  token: string;
  /** After each call the function may be dead. */
  onCall: OnCall = () => {};
  afterCall: OnCall = () => {};
  onAnswer: OnAnswer = (_, answer) => answer;
  /** Pools whose ECS service exists. */
  readonly services = new Set<string>();
  readonly tasks: RunningTask[] = [];
  #count = 0;

  constructor({ pools = [CPU], version, organizations, keyRights = ALL, ...options }: KeyLabOptions = {}) {
    const { shared } = options;
    this.pools = pools;
    this.deployment = options.deployment ?? DEPLOYMENT;
    this.timeline = shared?.timeline ?? new Timeline(START);
    const { timeline } = this;
    this.coderd =
      shared?.coderd ??
      new CoderdModel({
        timeline,
        random: new Random(1),
        organizations: organizations ?? ['default', 'data'],
        autobuildPollMs: 24 * HOUR,
        ...(version === undefined ? {} : { version }),
      });
    this.secrets = shared?.secrets ?? new SecretsModel({ timeline, random: new Random(2) });
    this.token = this.coderd.addToken({ canRead: 'all', keyRights });
    for (const { name } of pools) this.addPool(name);
  }

  /** What the stack makes: a secret without a value, and a service. */
  addPool(name: string): void {
    this.secrets.create(this.secretName(name), { [POOL_TAG]: name, [STACK_TAG]: this.stackTag });
    this.services.add(name);
  }

  get stackTag(): string {
    return this.deployment.id === DEPLOYMENT.id ? 'Stack' : this.deployment.id;
  }

  secretName(pool: string): string {
    return `${this.deployment.id}/key-of-${pool}`;
  }

  secret(pool = 'cpu'): StoredSecret {
    const found = this.secrets.find(this.secretName(pool));
    if (found === undefined) throw new Error(`the secret of pool ${pool} is missing`);
    return found;
  }

  get now(): EpochMs {
    return this.timeline.now();
  }

  pass(ms: number): void {
    this.timeline.advanceTo(plusMs(this.now, ms));
  }

  serve(event: unknown): Promise<ResourceAnswer | KeysAnswer | undefined> {
    return serveKeyEvent(event, this.ports(), this.pools);
  }

  resource(
    type: 'Create' | 'Update' | 'Delete',
    {
      pool = CPU,
      request = 'request-1',
      before = pool,
    }: { readonly pool?: ManagedPool; readonly request?: string; readonly before?: ManagedPool } = {},
  ): Promise<ResourceAnswer> {
    const event = {
      RequestType: type,
      RequestId: request,
      ...(type === 'Create' ? {} : { PhysicalResourceId: `key-of-${pool.name}` }),
      ResourceProperties: {
        ServiceToken: 'arn:aws:lambda:eu-central-1:123456789012:function:framework',
        Pool: pool.name,
        Organization: pool.organization,
        Tags: JSON.stringify(pool.tags),
        SecretArn: this.secret(pool.name).arn,
        CoderUrl: pool.coderUrl,
      },
      ...(type === 'Update' && { OldResourceProperties: { CoderUrl: before.coderUrl } }),
    };
    return this.serve(event) as Promise<ResourceAnswer>;
  }

  step(Step: (typeof ROTATION_STEPS)[number], token: string, pool = 'cpu'): Promise<unknown> {
    return this.serve({ Step, SecretId: this.secret(pool).arn, ClientRequestToken: token });
  }

  /** RotateSecret up to the first step, with a token that the lab chooses. */
  announce(pool = 'cpu'): string {
    return this.secrets.announceRotation(this.secret(pool));
  }

  async rotate(pool = 'cpu'): Promise<string> {
    const token = this.announce(pool);
    for (const step of ROTATION_STEPS) await this.step(step, token, pool);
    return token;
  }

  sweep(): Promise<KeysAnswer> {
    return this.serve({ sweep: true }) as Promise<KeysAnswer>;
  }

  check(): Promise<KeysAnswer> {
    return this.serve({ check: true }) as Promise<KeysAnswer>;
  }

  /** All keys of coderd. */
  keys(organization = 'default'): readonly ProvisionerKey[] {
    return this.coderd.keys.list(this.coderd.organizationId(organization));
  }

  keyNames(organization = 'default'): readonly string[] {
    return this.keys(organization).map(({ name }) => name);
  }

  /** Keys in coderd whose names are of this deployment. */
  ownKeys(): readonly ProvisionerKey[] {
    const all = this.coderd.organizations.all.flatMap(({ id }) => this.coderd.keys.list(id));
    return all.filter(({ name }) => name.startsWith(`${this.deployment.id}-`));
  }

  /** The key that a task would get now, as coderd knows it. */
  workingKey(pool = 'cpu'): ProvisionerKey | undefined {
    return this.coderd.keys.withSecret(keyIn(this.secret(pool).value));
  }

  /** Starts a task: it reads the current key and connects. Undefined if coderd refuses it. */
  startTask(pool = 'cpu'): RunningTask | undefined {
    const key = keyIn(this.secret(pool).value);
    const found = this.coderd.keys.withSecret(key);
    if (found === undefined) return undefined;
    const id = String(++this.#count).padStart(32, '0');
    const version = this.coderd.version.text;
    const connection = this.coderd.connect({ key, name: `${pool}-${id}`, version });
    const task = { id, pool, key, keyId: found.id, createdAt: this.now, connection };
    this.tasks.push(task);
    return task;
  }

  stopTask(task: RunningTask): void {
    task.connection.close();
    this.tasks.splice(this.tasks.indexOf(task), 1);
  }

  stopTasks(): void {
    for (const task of [...this.tasks]) this.stopTask(task);
  }

  /** Tasks whose daemon could not connect again: their builds would be lost. */
  lostTasks(): readonly string[] {
    return this.tasks.filter(({ key }) => this.coderd.keys.withSecret(key) === undefined).map(({ id }) => id);
  }

  ports(): KeyPorts {
    const clock = {
      now: () => this.now,
      sleep: async (ms: number): Promise<void> => this.pass(ms),
    };
    const servers = {
      coderd: this.coderd,
      secrets: this.secrets,
      token: () => this.token,
      called: <T>(what: string, act: () => T) => this.#called(what, act),
      onAnswer: (what: string, answer: RawAnswer) => this.onAnswer(what, answer),
    };
    return {
      ...simulatedKeyPorts(servers, clock),
      tasks: { running: () => this.#called('ecs tasks', () => this.#running()) },
      clock,
      random: {
        suffix: () => String(++this.#count).padStart(8, 'k'),
        token: () => `token-${String(++this.#count).padStart(30, '0')}`,
      },
      log: {
        info: (message, fields) => this.log.push({ level: 'info', message, ...(fields && { fields }) }),
        warn: (message, fields) => this.log.push({ level: 'warn', message, ...(fields && { fields }) }),
      },
      deployment: { id: this.deployment.id, stack: this.stackTag },
    };
  }

  #running(): ReadonlyMap<string, readonly PoolTask[]> {
    const tasksOf = (name: string) => this.tasks.filter(({ pool }) => pool === name);
    return new Map([...this.services].map((name) => [name, tasksOf(name)]));
  }

  async #called<T>(what: string, act: () => T): Promise<T> {
    this.onCall(what);
    const result = act();
    this.afterCall(what);
    return result;
  }
}

/** The field that tasks read. Empty for a value without it: coderd refuses it. */
export function keyIn(value: string | undefined): string {
  try {
    const parsed: unknown = JSON.parse(value ?? '');
    return String((parsed as { readonly key?: string } | null)?.key ?? '');
  } catch {
    return '';
  }
}

/** A key that somebody made by hand. */
export function addForeignKey(lab: KeyLab, name: string, tags: Tags = CPU.tags): string {
  return lab.coderd.addKey({ organization: 'default', name, tags });
}

/** The function's process dies: neither this call's answer nor any later call reaches it. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** Lets the function die after its call number `at`, counted from 1. Returns the calls so far. */
export function crashAfter(lab: KeyLab, at: number): () => number {
  let calls = 0;
  lab.onCall = () => {
    if (calls >= at) throw new Crash('the function is dead');
  };
  lab.afterCall = () => {
    calls += 1;
    if (calls >= at) throw new Crash('the function dies');
  };
  return () => calls;
}

export function revive(lab: KeyLab): void {
  lab.onCall = () => {};
  lab.afterCall = () => {};
  lab.onAnswer = (_, answer) => answer;
}

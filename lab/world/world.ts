/**
 * The whole world on one virtual clock: a coderd, an ECS with one service for each pool as the CDK stack creates it,
 * Secrets Manager with the keys and a token, and simulated guards and daemons in the tasks.
 */
import { readFileSync } from 'node:fs';
import { type EpochMs, spotPartOf } from '../../lambda/decision/model/brands.ts';
import type { Capacity, Instances } from '../../lambda/decision/model/config.ts';
import {
  KEY_ID_TAG,
  LOG_GROUP_TAG,
  ORGANIZATION_TAG,
  POOL_TAG,
  SCALE_IN_TAG,
  STACK_TAG,
} from '../../lambda/decision/model/service-tags.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import { AccountModel } from './account/model.ts';
import type { AcquiredJob } from './base/daemon-connection.ts';
import { Random } from './base/random.ts';
import { SimulatorError } from './base/simulator-error.ts';
import { SkewedTimeline, Timeline } from './base/timeline.ts';
import { CoderdModel } from './coderd/model.ts';
import { DEFAULT_RELEASE } from './coderd/rules/versions.ts';
import { EcsModel, type EcsOptions } from './ecs/model.ts';
import { BARE_TEMPLATE, type StartContainer, type TaskTemplate } from './ecs/parts/container.ts';
import type { Latencies } from './ecs/parts/latencies.ts';
import type { EcsService } from './ecs/service.ts';
import { type EcsTask, SCALING_REASON } from './ecs/task.ts';
import { LogsModel } from './logs/model.ts';
import { ParametersModel } from './parameters/model.ts';
import { bareTask, type ProvisionerTaskOptions, provisionerTask } from './provisioner-task.ts';
import { QueueModel } from './queue/model.ts';
import { SecretsModel } from './secrets/model.ts';
import type { Guard } from './task/guard.ts';
import type { Variables } from './task/start-variables.ts';

export type PoolSpec = {
  readonly name: string;
  readonly organization: string;
  readonly tags: Tags;
  /** With `spot` first it has a second service, `<name>/spot` (lambda/decision/settings/parts.ts). */
  readonly capacity?: readonly Capacity[];
  /** @default Fargate */
  readonly instances?: Instances;
  /** The stack of its service. @default that of the world */
  readonly stack?: string;
  /** The desired count at creation. @default 1, as CloudFormation does */
  readonly desiredCount?: number;
  /** @default 0 */
  readonly minimumHealthyPercent?: number;
  /** @default 100 */
  readonly maximumPercent?: number;
  /** With a deferred clean-up. @default none: a deployment ends when no old task is left */
  readonly earlySuccessPercent?: number;
  /**
   * What the pool's secret holds: a key of its own, one with the tags of the key function, coderd's pre-shared key, or
   * a session token, of the user in the tag `owner` or of one who may create daemons. @default 'key'
   */
  readonly credential?: 'key' | 'managed' | 'psk' | 'token';
  /** The plain variables of the container that coder reads. @default none */
  readonly variables?: Variables;
  /** `bare`: the daemon alone, without a guard. @default 'guarded' */
  readonly image?: 'guarded' | 'bare';
  readonly template?: Partial<TaskTemplate>;
};

export type WorldOptions = Pick<
  EcsOptions,
  | 'readLagMs'
  | 'historyMs'
  | 'throttling'
  | 'deploymentBlocked'
  | 'blockedTasks'
  | 'lateLease'
  | 'victims'
  | 'rollout'
  | 'cleanup'
  | 'sidecar'
> & {
  readonly start: EpochMs;
  readonly seed: number;
  readonly pools: readonly PoolSpec[];
  /** Names of organizations. @default those of the pools */
  readonly organizations?: readonly string[];
  /** Version of coderd and of the daemons. @default `DEFAULT_RELEASE` */
  readonly coderVersion?: string;
  /** Replicas of coderd. @default 1 */
  readonly replicas?: number;
  /** How far coderd's clock is ahead of AWS's, in milliseconds; negative: behind. @default 0 */
  readonly coderdAheadMs?: number;
  /** The pre-shared key of coderd. @default none */
  readonly psk?: string;
  /** The poll interval of coderd's lifecycle executor. @default a minute */
  readonly autobuildPollMs?: number;
  /** @default the known values of Fargate */
  readonly latencies?: Partial<Latencies>;
  /** The image of a pool with a guard. @default `provisionerTask`, with simulated guard and daemon */
  readonly guardedTask?: (options: ProvisionerTaskOptions) => StartContainer;
  readonly onAcquired?: (job: AcquiredJob, taskId: string, pool: string) => void;
  readonly onTaskStopped?: (task: EcsTask) => void;
};

export type WorldFigures = {
  readonly tasks: {
    readonly running: number;
    /** Tasks created since the beginning. */
    readonly launched: number;
    readonly peak: number;
  };
  readonly killed: number;
  /** By a scale-in, a deployment, or a guard that ended before its daemon. The lease must prevent these. */
  readonly killedByUs: number;
  /** By Spot, a host, memory, StopTask, or a protection that a person removed. */
  readonly killedByOthers: number;
};

export type Kill = {
  readonly job: AcquiredJob;
  /** The task after the kill; its histories have the earlier states. */
  readonly task: EcsTask;
  readonly pool: string;
  readonly at: EpochMs;
  readonly by: 'us' | 'others';
};

/** A task that got a drain request or drained by itself, and has stopped. */
type Leave = {
  readonly taskId: string;
  readonly pool: string;
  readonly idleSince: EpochMs;
  readonly goneAt: EpochMs;
};

export class World {
  readonly timeline: Timeline;
  readonly coderd: CoderdModel;
  readonly ecs: EcsModel;
  readonly secrets: SecretsModel;
  readonly account = new AccountModel();
  /** Empty, unless a test stores the configuration of a plain template. */
  readonly parameters = new ParametersModel();
  readonly logs: LogsModel;
  readonly queue: QueueModel;
  readonly tokenSecretName = 'coder/autoscaler-token';
  readonly stackName = 'Stack';
  readonly logGroupName = 'Stack-AutoscalerLogs-0A1B2C';
  readonly #random: Random;
  readonly #coderVersion: string;
  readonly #psk: string;
  readonly #guardedTask: (options: ProvisionerTaskOptions) => StartContainer;
  readonly #listeners: Pick<WorldOptions, 'onAcquired' | 'onTaskStopped'>;
  readonly #services = new Map<string, EcsService>();
  readonly #pools = new Map<string, PoolSpec>();
  /** Names of the keys that were replaced, by pool. */
  readonly #keyNames = new Map<string, string>();
  #changes = 0;
  readonly #guards = new Map<string, Guard>();
  readonly #kills: Kill[] = [];
  readonly #leaves: Leave[] = [];
  /** Leaves of the tasks that have left but not stopped yet. */
  readonly #leaving = new Map<string, Omit<Leave, 'goneAt'>>();

  constructor(options: WorldOptions) {
    const { start, seed, pools, latencies, coderVersion = DEFAULT_RELEASE } = options;
    this.#random = new Random(seed);
    this.#coderVersion = coderVersion;
    this.#psk = options.psk ?? '';
    this.#guardedTask = options.guardedTask ?? provisionerTask;
    this.#listeners = options;
    this.timeline = new Timeline(start);
    this.logs = new LogsModel(this.timeline);
    this.queue = new QueueModel({
      now: () => this.timeline.now(),
      wait: (ms) => new Promise((resolve) => this.timeline.after(ms, resolve)),
    });
    this.logs.createGroup(this.logGroupName);
    const logicalId = 'AutoscalerLogsDD9F7091';
    this.account.resources.set(this.logGroupName, { type: 'AWS::Logs::LogGroup', logicalId });
    const organizations = options.organizations ?? [...new Set(pools.map((pool) => pool.organization))];
    const { coderdAheadMs = 0, autobuildPollMs = 60_000, replicas = 1 } = options;
    const timeline = coderdAheadMs === 0 ? this.timeline : new SkewedTimeline(this.timeline, coderdAheadMs);
    const coder = { version: coderVersion, organizations, replicas, autobuildPollMs, psk: this.#psk };
    this.coderd = new CoderdModel({ ...this.#clockAndRandom(), timeline, ...coder });
    this.ecs = new EcsModel({
      ...options,
      ...this.#clockAndRandom(),
      latencies,
      onStopped: (task) => this.#stopped(task),
    });
    this.secrets = new SecretsModel(this.#clockAndRandom());
    this.secrets.put(this.tokenSecretName, this.coderd.addToken({ canRead: 'all' }));
    for (const pool of pools) this.addPool(pool);
    const stack = { status: 'CREATE_COMPLETE', cluster: this.ecs.clusterName };
    // as the settings name it, and as the tags of the services do
    if (pools.length > 0)
      for (const name of ['CoderProvisionerAutoscaler', this.stackName]) this.account.stacks.set(name, stack);
  }

  service(pool: string): EcsService {
    const service = this.#services.get(pool);
    if (service === undefined)
      throw new SimulatorError(
        `finding the service of pool "${pool}": the world has only ${[...this.#services.keys()].join(', ')}`,
      );
    return service;
  }

  /** Deploys a new revision of the pool's task definition, as a CDK deployment would. */
  deploy(pool: string, changed: Partial<TaskTemplate> = {}): void {
    const { name } = this.service(pool).identity;
    const { family, start, template } = this.service(pool).state.primary.definition;
    this.ecs.deploy(name, this.ecs.registerTaskDefinition(family, start, { ...template, ...changed }));
  }

  /** Deploys a first revision with the guard to a pool whose tasks have none, as an upgrade from 0.2 does. */
  addGuard(pool: string): void {
    const guarded = { ...this.#pool(pool), image: 'guarded' } as const;
    this.#pools.set(pool, guarded);
    const { identity, state } = this.service(pool);
    const { family } = state.primary.definition;
    const start = this.#containerOf(guarded);
    this.ecs.deploy(identity.name, this.ecs.registerTaskDefinition(family, start, templateOf(guarded)));
  }

  /** Its daemon rows are gone, but their jobs run on (docs/internals/coder.md §3). */
  deleteKey(pool: string): void {
    this.coderd.deleteKey(this.#pool(pool).organization, this.#keyNameOf(pool));
  }

  /** With the name of the key before it, if that was deleted. Tasks that start from now on get it. */
  renewKey(pool: string): void {
    const { organization, tags, credential } = this.#pool(pool);
    const { coderd } = this;
    if (coderd.keys.find(coderd.organizationId(organization), this.#keyNameOf(pool)) !== undefined)
      this.#keyNames.set(pool, `${pool}-${++this.#changes}`);
    const name = this.#keyNameOf(pool);
    const key = coderd.addKey({ organization, name, tags });
    const id = coderd.keys.withSecret(key)?.id;
    // as the key function stores it (lambda/keys/model/pool.ts)
    const value = credential === 'managed' ? JSON.stringify({ key, id, name }) : key;
    this.secrets.put(keySecretOf(pool), value);
    if (credential === 'managed' && id !== undefined)
      this.secrets.find(keySecretOf(pool))?.tag(
        new Map([
          [POOL_TAG, pool],
          [STACK_TAG, this.stackName],
          [KEY_ID_TAG, id],
        ]),
        this.timeline.now(),
      );
  }

  /** As a person does: the key before it stays valid. Returns its id. */
  changeKey(pool: string): string | undefined {
    const before = this.keyId(pool);
    this.renewKey(pool);
    return before;
  }

  /** The id of the key in the pool's secret; undefined if coderd does not know it. */
  keyId(pool: string): string | undefined {
    return this.coderd.keys.withSecret(this.#credentialOf(this.#pool(pool)))?.id;
  }

  #keyNameOf(pool: string): string {
    return this.#keyNames.get(pool) ?? pool;
  }

  /** The variables that coder reads in a task of the pool that starts now. */
  #variables({ name, credential = 'key', variables = {} }: PoolSpec): Variables {
    return { ...variables, [VARIABLE[credential]]: this.#credentialOf({ name, credential }) };
  }

  /** What a task reads that starts now: of a managed key's secret, its field `key`. */
  #credentialOf({ name, credential }: Pick<PoolSpec, 'name' | 'credential'>): string {
    const value = this.secrets.find(keySecretOf(name))?.value ?? '';
    return credential === 'managed' ? (/"key":"([^"]*)"/.exec(value)?.[1] ?? '') : value;
  }

  #storeCredential(pool: PoolSpec): void {
    const { name, credential = 'key' } = pool;
    if (credential === 'key' || credential === 'managed') this.renewKey(name);
    else this.secrets.put(keySecretOf(name), credential === 'psk' ? this.#psk : this.#tokenOf(pool));
  }

  #tokenOf({ organization, tags: { scope, owner } }: PoolSpec): string {
    if (scope !== 'user' || owner === undefined)
      return this.coderd.addToken({ canRead: [], keyRights: { create: [organization] } });
    const user = this.coderd.user(owner) ?? this.coderd.addUser({ id: owner });
    return this.coderd.addToken({ canRead: [], user });
  }

  /** The guard in a task's container; undefined before it has started and after it has ended. */
  guard(taskId: string): Guard | undefined {
    return this.#guards.get(taskId);
  }

  figures(): WorldFigures {
    const killedByUs = this.#kills.filter(({ by }) => by === 'us').length;
    const killed = this.#kills.length;
    return { tasks: this.ecs.counts(), killed, killedByUs, killedByOthers: killed - killedByUs };
  }

  kills(): readonly Kill[] {
    return this.#kills;
  }

  leaves(): readonly Leave[] {
    return this.#leaves;
  }

  #pool(name: string): PoolSpec {
    const pool = this.#pools.get(name);
    if (pool === undefined)
      throw new SimulatorError(
        `finding pool "${name}": the world has only ${[...this.#pools.keys()].join(', ')}`,
      );
    return pool;
  }

  /** Adds a pool with its service and key, as a deployment does. Its organization must exist in the world. */
  addPool(pool: PoolSpec): void {
    this.#pools.set(pool.name, pool);
    this.#storeCredential(pool);
    this.#addService(pool, pool.name);
    if (pool.capacity !== undefined) this.#addService(pool, spotPartOf(pool.name));
  }

  #addService(pool: PoolSpec, part: string): void {
    const { name } = pool;
    const template = templateOf(pool);
    this.logs.createGroup(template.logGroup);
    const logicalId = `AutoscalerPool${part.replaceAll(/\W/g, '')}Logs0A1B2C3D`;
    this.account.resources.set(template.logGroup, { type: 'AWS::Logs::LogGroup', logicalId });
    const start = this.#containerOf(pool);
    const spot = part !== name;
    const id = `Pool${pascalCase(name)}${spot ? 'Spot' : ''}`;
    const family = `Stack${id}Task${this.#hash()}`;
    const definition = this.ecs.registerTaskDefinition(family, start, template);
    const service = this.ecs.createService({
      ...{ ...pool, provider: spot ? 'FARGATE_SPOT' : pool.instances?.provider },
      name: `Stack-${id}Service-${this.#hash()}`,
      tags: {
        [POOL_TAG]: part,
        [LOG_GROUP_TAG]: this.logGroupName,
        [STACK_TAG]: pool.stack ?? this.stackName,
        [ORGANIZATION_TAG]: pool.organization,
        [SCALE_IN_TAG]: pool.image === 'bare' ? 'confirm' : 'lease',
      },
      definition,
    });
    this.#services.set(part, service);
  }

  #containerOf(pool: PoolSpec): StartContainer {
    const { name } = pool;
    const makeImage = pool.image === 'bare' ? bareTask : this.#guardedTask;
    return makeImage({
      ...this.#clockAndRandom(),
      server: this.coderd,
      latencies: this.ecs.latencies,
      pool: name,
      variables: () => this.#variables(pool),
      version: this.#coderVersion,
      onStart: (taskId, guard) => this.#guards.set(taskId, guard),
      onEnd: (taskId) => this.#guards.delete(taskId),
      onLog: (line) => this.logs.put(templateOf(pool).logGroup, line),
      onAcquired: (job, taskId) => this.#listeners.onAcquired?.(job, taskId, name),
      onKilledJob: (job, taskId) => this.#killed(job, taskId, name),
      onLeft: (taskId, { idleSince }) => this.#leaving.set(taskId, { taskId, pool: name, idleSince }),
    });
  }

  #killed(job: AcquiredJob, taskId: string, pool: string): void {
    const task = this.ecs.findTask(taskId);
    if (task === undefined) throw new SimulatorError(`recording a killed job: there is no task ${taskId}`);
    const at = this.timeline.now();
    this.#kills.push({ job, task, pool, at, by: isOurs(task) ? 'us' : 'others' });
  }

  #stopped(task: EcsTask): void {
    this.#listeners.onTaskStopped?.(task);
    const { id } = task.identity;
    const leave = this.#leaving.get(id);
    if (leave !== undefined && this.#leaving.delete(id))
      this.#leaves.push({ ...leave, goneAt: this.timeline.now() });
  }

  /** Each part gets its own random source, so one more call in one part changes nothing in another. */
  #clockAndRandom(): { readonly timeline: Timeline; readonly random: Random } {
    return { timeline: this.timeline, random: new Random(this.#random.whole(0, 2 ** 31 - 1)) };
  }

  #hash(): string {
    return this.#random.hex(12).toUpperCase();
  }
}

/** The task template as `infra/constructs/pool/pool-service.ts` creates it. */
function templateOf({ name, image, template }: PoolSpec): TaskTemplate {
  const guarded = {
    entryPoint: ['sh', '-c', guard, 'guard'],
    command: ['/opt/coder', 'provisioner', 'start'],
  };
  const logGroup = `Stack-Pool${pascalCase(name)}Logs`;
  return { ...BARE_TEMPLATE, ...(image === 'bare' ? {} : guarded), logGroup, ...template };
}

const guard = readFileSync(new URL('../../guard/guard.sh', import.meta.url), 'utf8');

/** docs/internals/coder.md §5 */
const VARIABLE = {
  key: 'CODER_PROVISIONER_DAEMON_KEY',
  managed: 'CODER_PROVISIONER_DAEMON_KEY',
  psk: 'CODER_PROVISIONER_DAEMON_PSK',
  token: 'CODER_SESSION_TOKEN',
};

const keySecretOf = (pool: string): string => `coder/keys/${pool}`;

/** Whether the lease must prevent this stop while the task has a job. */
function isOurs({ state: { stopCode, stoppedReason = '', isBared, containerReason } }: EcsTask): boolean {
  if (containerReason !== undefined) return false;
  if (stopCode === 'EssentialContainerExited') return true;
  return stopCode === 'ServiceSchedulerInitiated' && stoppedReason.startsWith(SCALING_REASON) && !isBared;
}

function pascalCase(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase()).replaceAll('-', '');
}

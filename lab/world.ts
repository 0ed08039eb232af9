/**
 * The whole world on one virtual clock: a coderd, an ECS with one service a pool as the CDK stack would create it, Secrets Manager
 * with the keys and a token, and tasks that play guard and daemon.
 */
import type { EpochMs } from '../lambda/core/brands.ts';
import type { Tags } from '../lambda/core/tags.ts';
import { CoderdModel } from './coderd/model.ts';
import type { Latencies } from './ecs/latencies.ts';
import { EcsModel, type EcsOptions } from './ecs/model.ts';
import type { EcsService } from './ecs/service.ts';
import { provisionerTask } from './provisioner-task.ts';
import { Random } from './random.ts';
import { SecretsModel } from './secrets/model.ts';
import type { Guard } from './task/guard.ts';
import { Timeline } from './timeline.ts';

export type PoolSpec = {
  readonly name: string;
  readonly organization: string;
  readonly tags: Tags;
  /** What the service is created with. @default 1, as CloudFormation does */
  readonly desiredCount?: number;
  /** @default 0 */
  readonly minimumHealthyPercent?: number;
  /** @default 100 */
  readonly maximumPercent?: number;
};

export type WorldOptions = Pick<
  EcsOptions,
  'readLagMs' | 'throttling' | 'deploymentBlocked' | 'lateLease' | 'victims'
> & {
  readonly start: EpochMs;
  readonly seed: number;
  readonly pools: readonly PoolSpec[];
  /** Names. @default those of the pools */
  readonly organizations?: readonly string[];
  /** Of coderd and of the daemons. @default 'v2.30.0' */
  readonly coderVersion?: string;
  /** @default as far as known for Fargate */
  readonly latencies?: Partial<Latencies>;
};

export type Figures = {
  readonly tasks: {
    /** RUNNING now. */
    readonly running: number;
    /** Created since the beginning. */
    readonly launched: number;
    /** The most that were RUNNING at one time. */
    readonly peak: number;
  };
  /** Jobs whose daemon ECS killed. */
  readonly killed: number;
};

const DEFAULT_VERSION = 'v2.30.0';
const POOL_TAG = 'coder-autoscaler:pool';

export class World {
  readonly timeline: Timeline;
  readonly coderd: CoderdModel;
  readonly ecs: EcsModel;
  readonly secrets: SecretsModel;
  /** The Secrets Manager name of a coderd token that may read all organizations. */
  readonly tokenSecretName = 'coder/autoscaler-token';
  readonly #random: Random;
  readonly #coderVersion: string;
  readonly #services = new Map<string, EcsService>();
  readonly #guards = new Map<string, Guard>();
  #killed = 0;

  constructor(options: WorldOptions) {
    const { start, seed, pools, latencies, coderVersion = DEFAULT_VERSION } = options;
    this.#random = new Random(seed);
    this.#coderVersion = coderVersion;
    this.timeline = new Timeline(start);
    const organizations = options.organizations ?? [...new Set(pools.map((pool) => pool.organization))];
    this.coderd = new CoderdModel({ ...this.#surroundings(), version: coderVersion, organizations });
    this.ecs = new EcsModel({ ...options, ...this.#surroundings(), latencies });
    this.secrets = new SecretsModel(this.#surroundings());
    this.secrets.put(this.tokenSecretName, this.coderd.addToken({ canRead: 'all' }));
    for (const pool of pools) this.#addPool(pool);
  }

  /** The ECS service of a pool. */
  service(pool: string): EcsService {
    const service = this.#services.get(pool);
    if (service === undefined)
      throw new Error(
        `finding the service of pool "${pool}": the world has only ${[...this.#services.keys()].join(', ')}`,
      );
    return service;
  }

  /** Deploys a new revision of the pool's task definition, as a CDK deployment would. */
  deploy(pool: string): void {
    const { name } = this.service(pool).identity;
    const { family, start } = this.service(pool).state.primary.definition;
    this.ecs.deploy(name, this.ecs.registerTaskDefinition(family, start));
  }

  /** The guard in a task's container; undefined before it has started and after it has ended. */
  guard(taskId: string): Guard | undefined {
    return this.#guards.get(taskId);
  }

  figures(): Figures {
    return { tasks: this.ecs.counts(), killed: this.#killed };
  }

  #addPool(pool: PoolSpec): void {
    const { name, organization, tags } = pool;
    const keySecret = `coder/keys/${name}`;
    this.secrets.put(keySecret, this.coderd.addKey({ organization, name, tags }));
    const start = provisionerTask({
      ...this.#surroundings(),
      server: this.coderd,
      latencies: this.ecs.latencies,
      pool: name,
      key: () => this.secrets.find(keySecret)?.value ?? '',
      version: this.#coderVersion,
      onStart: (taskId, guard) => this.#guards.set(taskId, guard),
      onEnd: (taskId) => this.#guards.delete(taskId),
      onKilledJob: () => this.#killed++,
    });
    const id = `Pool${pascalCase(name)}`;
    const definition = this.ecs.registerTaskDefinition(`Stack${id}Task${this.#hash()}`, start);
    const service = this.ecs.createService({
      ...pool,
      name: `Stack-${id}Service-${this.#hash()}`,
      tags: { [POOL_TAG]: name },
      definition,
    });
    this.#services.set(name, service);
  }

  /** Each part has randomness of its own, so that one more call in one part changes nothing in another. */
  #surroundings(): { readonly timeline: Timeline; readonly random: Random } {
    return { timeline: this.timeline, random: new Random(this.#random.whole(0, 2 ** 31 - 1)) };
  }

  #hash(): string {
    return this.#random.hex(12).toUpperCase();
  }
}

function pascalCase(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase()).replaceAll('-', '');
}

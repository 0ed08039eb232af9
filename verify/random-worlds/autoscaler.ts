/**
 * Invokes the product on its schedule in a world. The invocations are the real ones. Some overlap,
 * some are slow, and some end between two calls.
 */

import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { License } from '../../lambda/adapters/coderd/license.ts';
import { DesiredCounts } from '../../lambda/adapters/ecs/desired-counts.ts';
import { SecretMetadata } from '../../lambda/adapters/secrets/secret-metadata.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { InvocationError, runLooks } from '../../lambda/look/invocation.ts';
import type { LookResult } from '../../lambda/look/look.ts';
import type { Ports } from '../../lambda/look/ports.ts';
import { StockLearner } from '../../lambda/look/stock/stock-learner.ts';
import { Random } from '../../simulator/base/random.ts';
import type { VirtualScheduler } from '../../simulator/base/virtual-scheduler.ts';
import { InProcessCoderd } from '../../simulator/coderd/routes/in-process.ts';
import type { Range } from '../../simulator/ecs/parts/latencies.ts';
import { inProcessSecrets } from '../../simulator/in-process/aws-clients.ts';
import { inProcessPorts } from '../../simulator/in-process/ports.ts';
import type { World } from '../../simulator/world.ts';
import { type ConnectionFaults, FaultyConnection } from './world/faulty-connection.ts';
import type { Fleet, FleetPool } from './world/fleet.ts';
import type { WorldPlan } from './world/plan.ts';

const SCHEDULE_MS = 60_000;
/** The timeout that the CDK stack gives the function. */
const TIMEOUT_MS = 55_000;
/** Share of the invocations that a new instance of the function begins with. */
const COLD_STARTS = 0.02;
const DOUBLED_WITHIN_MS = 30_000;
/** Latency of a call in a slow invocation, which then has time for about one look. */
const SLOW: Range = [500, 20_000];
const CALLS_BEFORE_CRASH: Range = [1, 60];
const NO_FAULTS: ConnectionFaults = { failing: 0, losing: 0 };
const ALL_FAIL: ConnectionFaults = { failing: 1, losing: 0 };

type AutoscalerOptions = {
  readonly world: World;
  readonly plan: WorldPlan;
  readonly fleet: Fleet;
  readonly scheduler: VirtualScheduler;
  readonly random: Random;
  readonly isCoderdDown: () => boolean;
  /** Called after each look with its duration. */
  readonly onLook: (result: LookResult, durationMs: number) => void;
  /** Called with each error other than an InvocationError. */
  readonly onError: (error: unknown) => void;
};

/** A warm process of the function. It loses its memory with a crash. */
type Process = { counts: DesiredCounts };

/** What an instance of the function remembers. */
type Memory = { readonly secrets: SecretMetadata; readonly stock: StockLearner };

export class Autoscaler {
  readonly #options: AutoscalerOptions;
  #deployed: { readonly pools: readonly FleetPool[]; readonly config: Config } | undefined;
  readonly #secretsRandom: Random;
  #memory: Memory | undefined;
  #hasFaults = true;
  readonly #process: Process = { counts: new DesiredCounts() };
  /** It runs the invocations that overlap with another one. */
  readonly #second: Process = { counts: new DesiredCounts() };

  constructor(options: AutoscalerOptions) {
    this.#options = options;
    this.#secretsRandom = new Random(options.plan.seed);
  }

  /** Invokes the product once a minute for as long as the world is advanced. */
  async start(): Promise<never> {
    const { scheduler, random, plan } = this.#options;
    for (;;) {
      void this.#invoke(this.#process);
      if (this.#hasFaults && random.next() < plan.looks.doubled)
        void scheduler.wait(random.whole(0, DOUBLED_WITHIN_MS)).then(() => this.#invoke(this.#second));
      await scheduler.wait(SCHEDULE_MS);
    }
  }

  /** Ends all faults: from now on each invocation runs alone and to its end. */
  end(): void {
    this.#hasFaults = false;
  }

  async #invoke(process: Process): Promise<void> {
    const { scheduler, onLook, onError } = this.#options;
    const startedAt = scheduler.now();
    const remainingMs = (): number => startedAt + TIMEOUT_MS - scheduler.now();
    try {
      await runLooks({
        ports: this.#ports(process),
        config: this.#config(),
        remainingMs,
        onLook,
      });
    } catch (error) {
      if (!(error instanceof InvocationError)) onError(error);
    }
  }

  /**
   * The configuration of the last deployment. An invocation in progress keeps the one that it
   * started with.
   */
  #config(): Config {
    const { plan, fleet } = this.#options;
    if (this.#deployed?.pools !== fleet.pools)
      this.#deployed = { pools: fleet.pools, config: checkConfig(configOf(plan, fleet.pools)).config };
    return this.#deployed.config;
  }

  /** It has its own random source, so that all else in a world stayed the same when it was added. */
  #warmMemory(): Memory {
    const { world, scheduler, plan } = this.#options;
    const random = this.#secretsRandom;
    if (this.#memory !== undefined && random.next() >= COLD_STARTS) return this.#memory;
    const faults = (): ConnectionFaults => (this.#hasFaults ? plan.line : NO_FAULTS);
    const line = { scheduler, random, latency: plan.callLatency, faults, isCutOff: () => false };
    const connection = new FaultyConnection(line);
    const secrets = new SecretMetadata(inProcessSecrets(world.secrets, (act) => connection.call(act)));
    this.#memory = { secrets, stock: new StockLearner() };
    return this.#memory;
  }

  /** The ports of one invocation. */
  #ports(process: Process): Ports {
    const { world, scheduler, random, plan, isCoderdDown } = this.#options;
    const draws = { crash: random.next(), slow: random.next(), calls: random.whole(...CALLS_BEFORE_CRASH) };
    const isCrashing = this.#hasFaults && draws.crash < plan.looks.crashing;
    if (isCrashing) process.counts = new DesiredCounts();
    const isSlow = this.#hasFaults && draws.slow < plan.looks.slow;
    const latency = isSlow ? SLOW : plan.callLatency;
    const faults = (): ConnectionFaults => (this.#hasFaults ? plan.line : NO_FAULTS);
    let calls = 0;
    const isCutOff = (): boolean => ++calls >= draws.calls && isCrashing;
    const memory = this.#warmMemory();
    const aws = new FaultyConnection({ scheduler, random, latency, faults, isCutOff });
    const coderd = new FaultyConnection({
      ...{ scheduler, random, latency, isCutOff },
      faults: () => (isCoderdDown() ? ALL_FAIL : faults()),
    });
    const http = new InProcessCoderd(world.coderd, (act) => coderd.call(act));
    return inProcessPorts(world, {
      ...{ scheduler, counts: process.counts, ...memory },
      coderd: new CoderdAdapter(http, { license: new License(http) }),
      ecs: (act) => aws.call(act),
    })();
  }
}

/** The configuration as a user would write it. */
function configOf(
  { maxTasks, atOncePercent, lookEveryS }: WorldPlan,
  pools: readonly FleetPool[],
): Record<string, unknown> {
  return {
    coder: { url: 'https://coder.example.com', token: { secret: 'coder/autoscaler-token' } },
    limits: { maxTasks },
    looks: { every: `${lookEveryS}s` },
    roll: { atOnce: `${atOncePercent}%` },
    pools: pools.map(({ name, organization, tags, min, max, warm, retiring, idleTimeoutS }) => ({
      ...{ name, organization, tags, min, max, warm, retiring },
      key: { secret: `coder/keys/${name}` },
      idleTimeout: `${idleTimeoutS}s`,
    })),
  };
}

/** The product on its schedule in a world: the real invocations, now and then two at once, slow, or cut off between two calls. */
import { checkConfig } from '../../lambda/config/check.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { InvocationError, runLooks } from '../../lambda/look/invocation.ts';
import type { LookResult } from '../../lambda/look/look.ts';
import type { Random } from '../../simulator/base/random.ts';
import type { Range } from '../../simulator/ecs/parts/latencies.ts';
import type { World } from '../../simulator/world.ts';
import { portsOf } from './ports.ts';
import { FaultyConnection, type LineFaults } from './world/faulty-connection.ts';
import type { Fleet, FleetPool } from './world/fleet.ts';
import type { WorldPlan } from './world/plan.ts';
import type { VirtualScheduler } from './world/virtual-scheduler.ts';

const SCHEDULE_MS = 60_000;
/** What the CDK stack gives the function. */
const TIMEOUT_MS = 55_000;
const DOUBLED_WITHIN_MS = 30_000;
/** A slow invocation has time for about one look. */
const SLOW: Range = [500, 20_000];
const CALLS_BEFORE_CRASH: Range = [1, 60];
const NO_FAULTS: LineFaults = { failing: 0, losing: 0 };
const ALL_FAIL: LineFaults = { failing: 1, losing: 0 };

type Scene = {
  readonly world: World;
  readonly plan: WorldPlan;
  readonly fleet: Fleet;
  readonly pace: VirtualScheduler;
  readonly random: Random;
  readonly isCoderdDown: () => boolean;
  /** Told after each look, with how long it took. */
  readonly onLook: (result: LookResult, durationMs: number) => void;
  /** An invocation threw what it must not throw. */
  readonly onError: (error: unknown) => void;
};

export class Autoscaler {
  readonly #scene: Scene;
  #deployed: { readonly pools: readonly FleetPool[]; readonly config: Config } | undefined;
  #isTroubled = true;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Runs until the world is no longer advanced. */
  async start(): Promise<never> {
    const { pace, random, plan } = this.#scene;
    for (;;) {
      void this.#invoke();
      if (this.#isTroubled && random.next() < plan.looks.doubled)
        void pace.wait(random.whole(0, DOUBLED_WITHIN_MS)).then(() => this.#invoke());
      await pace.wait(SCHEDULE_MS);
    }
  }

  /** From now on every invocation runs alone, and to its end. */
  end(): void {
    this.#isTroubled = false;
  }

  async #invoke(): Promise<void> {
    const { world, pace, onLook, onError } = this.#scene;
    const startedAt = pace.now();
    const remainingMs = (): number => startedAt + TIMEOUT_MS - pace.now();
    try {
      await runLooks({ ports: portsOf(world, this.#lines()), config: this.#config(), remainingMs, onLook });
    } catch (error) {
      if (!(error instanceof InvocationError)) onError(error);
    }
  }

  /** That of the last deployment; an invocation that runs goes on with its own. */
  #config(): Config {
    const { plan, fleet } = this.#scene;
    if (this.#deployed?.pools !== fleet.pools)
      this.#deployed = { pools: fleet.pools, config: checkConfig(configOf(plan, fleet.pools)).config };
    return this.#deployed.config;
  }

  #lines() {
    const { pace, random, plan, isCoderdDown } = this.#scene;
    const draws = { crash: random.next(), slow: random.next(), calls: random.whole(...CALLS_BEFORE_CRASH) };
    const isCrashing = this.#isTroubled && draws.crash < plan.looks.crashing;
    const isSlow = this.#isTroubled && draws.slow < plan.looks.slow;
    const latency = isSlow ? SLOW : plan.callLatency;
    const faults = (): LineFaults => (this.#isTroubled ? plan.line : NO_FAULTS);
    let calls = 0;
    const isCutOff = (): boolean => ++calls >= draws.calls && isCrashing;
    return {
      pace,
      aws: new FaultyConnection({ pace, random, latency, faults, isCutOff }),
      coderd: new FaultyConnection({
        pace,
        random,
        latency,
        faults: () => (isCoderdDown() ? ALL_FAIL : faults()),
        isCutOff,
      }),
    };
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

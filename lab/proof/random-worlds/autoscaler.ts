/** Invokes the product on its schedule. Some invocations come twice, are slow, or end between two calls. */
import { checkConfig } from '../../../lambda/config/check.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { InvocationError } from '../../../lambda/look/invocation.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { Random } from '../../world/base/random.ts';
import type { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import type { Range } from '../../world/ecs/parts/latencies.ts';
import { InProcessFunction, type Line } from '../../world/in-process/function.ts';
import type { DrainSettings } from '../../world/pool-settings.ts';
import type { Fate } from '../../world/queue/model.ts';
import { type ConnectionFaults, FaultyConnection } from './world/faulty-connection.ts';
import type { FleetPool } from './world/fleet.ts';
import type { WorldPlan } from './world/plan.ts';
import type { WorldEvents } from './world/world-events.ts';

const DOUBLED_WITHIN_MS = 30_000;
/** Latency of a call in a slow invocation, which then has time for about one look. */
const SLOW: Range = [500, 20_000];
/** Late enough for the end of its minute. */
const LATE_MS: Range = [1_000, 60_000];
const CALLS_BEFORE_CRASH: Range = [1, 60];
const NO_FAULTS: ConnectionFaults = { failing: 0, losing: 0 };
const ALL_FAIL: ConnectionFaults = { failing: 1, losing: 0 };

type AutoscalerOptions = {
  readonly events: WorldEvents;
  readonly scheduler: VirtualScheduler;
  /** Called after each look, with the number of its process. */
  readonly onLook: (result: LookResult, durationMs: number, process: number) => void;
  readonly onError: (error: unknown) => void;
};

export class Autoscaler {
  readonly #options: AutoscalerOptions;
  readonly #function: InProcessFunction;
  /** Messages for the next look that were lost, repeated or late. */
  messageFaults = 0;
  readonly #random: Random;
  readonly #messages: Random;
  #deployed: { readonly pools: readonly FleetPool[]; readonly config: Config } | undefined;
  #hasFaults = true;

  constructor(options: AutoscalerOptions) {
    const { events, scheduler, onLook, onError } = options;
    this.#options = options;
    this.#random = events.source(3);
    this.#messages = events.source(42);
    this.#function = new InProcessFunction({
      world: events.world,
      scheduler,
      config: () => this.#config(),
      random: this.#random,
      lifeMs: events.plan.memory.processLifeMs,
      line: () => this.#line(),
      onLook: (result, durationMs, _, process) => onLook(result, durationMs, process),
      onInvoked: ({ error }) => {
        if (error !== undefined && !(error instanceof InvocationError)) onError(error);
      },
    });
    this.#function.queue.fate = () => this.#fate();
  }

  start(): void {
    void this.#function.run(0);
    void this.#double();
  }

  /** Ends all faults: from now on each invocation comes once and runs to its end. */
  end(): void {
    this.#hasFaults = false;
  }

  async #double(): Promise<never> {
    const { scheduler, events } = this.#options;
    const random = this.#random;
    for (;;) {
      if (this.#hasFaults && random.next() < events.plan.looks.doubled)
        void scheduler.wait(random.whole(0, DOUBLED_WITHIN_MS)).then(() => this.#function.invoke());
      await scheduler.wait(MINUTE_MS);
    }
  }

  #fate(): Fate {
    const random = this.#messages;
    const draws = { lost: random.next(), repeated: random.next(), late: random.next() };
    const lateMs = random.whole(...LATE_MS);
    if (!this.#hasFaults) return { copies: 1, lateMs: 0 };
    const { lost, repeated, late } = this.#options.events.plan.messages;
    const copies = draws.repeated < repeated ? 2 : 1;
    const isLate = draws.late < late;
    const fate = { copies: draws.lost < lost ? 0 : copies, lateMs: isLate ? lateMs : 0 };
    if (fate.copies !== 1 || isLate) this.messageFaults += 1;
    return fate;
  }

  /** Of the last deployment. An invocation in progress keeps the one that it started with. */
  #config(): Config {
    const { plan, fleet } = this.#options.events;
    if (this.#deployed?.pools !== fleet.pools)
      this.#deployed = { pools: fleet.pools, config: checkConfig(configOf(plan, fleet.pools)).config };
    return this.#deployed.config;
  }

  /** How the requests of one invocation come through. After a crash none is made. */
  #line(): Line {
    const { scheduler, events } = this.#options;
    const random = this.#random;
    const { looks, line, callLatency, coderdMsAJob } = events.plan;
    const draws = { crash: random.next(), slow: random.next(), calls: random.whole(...CALLS_BEFORE_CRASH) };
    const isCrashing = this.#hasFaults && draws.crash < looks.crashing;
    const isSlow = this.#hasFaults && draws.slow < looks.slow;
    const latency = isSlow ? SLOW : callLatency;
    const faults = (): ConnectionFaults => {
      if (!this.#hasFaults) return NO_FAULTS;
      return events.forgottenCalls-- > 0 ? ALL_FAIL : line;
    };
    let calls = 0;
    const isCutOff = (): boolean => ++calls >= draws.calls && isCrashing;
    const common = { scheduler, random, latency, isCutOff };
    const aws = new FaultyConnection({ ...common, faults });
    const { coderd: model } = events.world;
    const pending = (): number =>
      coderdMsAJob === 0 ? 0 : [...model.openJobs()].filter(({ status }) => status === 'pending').length;
    const coderd = new FaultyConnection({
      ...common,
      costMs: () => coderdMsAJob * pending(),
      faults: () => (events.isCoderdDown ? ALL_FAIL : faults()),
    });
    return {
      coderd: (answer) => coderd.call(answer),
      ecs: (answer) => aws.call(answer),
      others: (answer) => aws.call(answer),
    };
  }
}

function configOf(
  { maxTasks, dollarsPerHour, atOncePercent, lookEveryS }: WorldPlan,
  pools: readonly FleetPool[],
): Record<string, unknown> {
  return {
    coder: { url: 'https://coder.example.com', token: { secret: 'coder/autoscaler-token' } },
    limits: { maxTasks, ...(dollarsPerHour !== undefined && { dollarsPerHour }) },
    looks: { every: `${lookEveryS}s` },
    roll: { atOnce: `${atOncePercent}%` },
    pools: pools.map((pool) => {
      const { name, organization, tags } = pool;
      return { name, organization, tags, key: { secret: `coder/keys/${name}` }, ...drainSettings(pool) };
    }),
  };
}

function drainSettings({ min, max, warm, retiring, idleTimeoutS, capacity }: FleetPool): DrainSettings {
  return {
    min,
    max,
    warm,
    retiring,
    idleTimeout: `${idleTimeoutS}s`,
    capacity: capacity && [...capacity],
    schedules: undefined,
  };
}

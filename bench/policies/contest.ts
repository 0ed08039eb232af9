/** All policies on some traces of one scenario. */
import { boundsOf } from '../../lab/backtest/bounds.ts';
import { orderOf, pricesOf } from '../../lab/backtest/compare.ts';
import type { Crew, Order } from '../../lab/backtest/crew.ts';
import { BASELINES } from '../../lab/backtest/policies/index.ts';
import type { Policy, PolicySettings } from '../../lab/backtest/policy.ts';
import type { Bound, Figures } from '../../lab/backtest/result.ts';
import { runsOf, search } from '../../lab/backtest/search.ts';
import { configFileOf } from '../../lab/scenarios/index.ts';
import { generateTrace } from '../../lab/trace/generate/generate.ts';
import type { Scenario } from '../../lab/trace/generate/scenario.ts';
import type { Trace } from '../../lab/trace/trace.ts';
import type { Deployment } from '../../lambda/adapters/config/deployment.ts';
import { loadConfig } from '../../lambda/adapters/config/load.ts';

export type ContestOptions = {
  /** One trace each; none is `TRAINING_SEED`. */
  readonly seeds: readonly number[];
  readonly days: number;
  /** Dollars. */
  readonly valueOfMinute: number;
  readonly region: string;
  readonly crew: Crew;
  /** 0 to 1. */
  readonly onProgress: (share: number) => void;
};

/** What was run, and with what. */
export type Contestant = { readonly name: string; readonly settings: PolicySettings };

export type Round = {
  readonly seed: number;
  readonly jobs: number;
  /** By the contestants' names. */
  readonly figures: Readonly<Record<string, Figures>>;
  readonly clairvoyant: Bound;
};

export type Contest = {
  readonly scenario: string;
  readonly days: number;
  /** The autoscaler is the first. */
  readonly contestants: readonly Contestant[];
  readonly rounds: readonly Round[];
};

/** Of the trace on which the others are tuned. */
export const TRAINING_SEED = 0;

export const OURS = 'autoscaler';

export async function holdContest(scenario: Scenario, options: ContestOptions): Promise<Contest> {
  const arena = new Arena(scenario, options);
  // ours take longest: they are begun first
  const begun = options.seeds.map((seed) => ({ seed, ours: arena.run(seed, { policy: OURS }) }));
  const others = (await Promise.all(BASELINES.map((policy) => entrantsOf(policy, arena)))).flat();
  const rounds = begun.map(async ({ seed, ours }): Promise<Round> => {
    const runs = others.map(async ({ name, driver }) => [name, await arena.run(seed, driver)] as const);
    const figures = { ...Object.fromEntries(await Promise.all(runs)), [OURS]: await ours };
    return { seed, ...(await arena.groundOf(seed)), figures };
  });
  return {
    ...{ scenario: scenario.name, days: options.days, rounds: await Promise.all(rounds) },
    contestants: [
      { name: OURS, settings: {} },
      ...others.map(({ name, driver: { settings } }) => ({ name, settings })),
    ],
  };
}

type Entrant = {
  readonly name: string;
  readonly driver: { readonly policy: string; readonly settings: PolicySettings };
};

/** Each policy with its best settings; the static fleet as Coder sizes it, too: that is what most run. */
async function entrantsOf(policy: Policy, arena: Arena): Promise<readonly Entrant[]> {
  const grid = policy.grid(arena.config);
  const best = await search(policy, grid, {
    order: (driver, luck) => arena.order(TRAINING_SEED, driver, luck),
    run: (order) => arena.runOrder(order),
  });
  const tuned = { name: `${policy.id} tuned`, driver: { policy: policy.id, settings: best } };
  const [first = best] = grid;
  return policy.id === 'static'
    ? [{ name: policy.id, driver: { policy: policy.id, settings: first } }, tuned]
    : [tuned];
}

/** Runs on the traces of a scenario. */
class Arena {
  readonly config: Deployment;
  readonly #scenario: Scenario;
  readonly #options: ContestOptions;
  readonly #traces = new Map<number, Trace>();
  #done = 0;

  constructor(scenario: Scenario, options: ContestOptions) {
    this.config = loadConfig(configFileOf(scenario)).config;
    this.#scenario = scenario;
    this.#options = options;
  }

  /** `luck`: of the world, on the same trace. */
  order(seed: number, driver: Order['driver'], luck = 0): Order {
    return orderOf({ ...this.#given, trace: this.#traceOf(seed), seed: seed + luck }, driver, false);
  }

  async runOrder(order: Order): Promise<{ readonly figures: Figures }> {
    const run = await this.#options.crew.run(order);
    this.#done += weightOf(order.driver.policy);
    this.#options.onProgress(this.#done / this.#all);
    return run;
  }

  async run(seed: number, driver: Order['driver']): Promise<Figures> {
    return (await this.runOrder(this.order(seed, driver))).figures;
  }

  /** What there is to know of a trace beside the runs. */
  async groundOf(seed: number): Promise<Pick<Round, 'jobs' | 'clairvoyant'>> {
    const trace = this.#traceOf(seed);
    const prices = pricesOf(this.#given);
    const bounds = await boundsOf({ trace, config: this.config }, (pool) => prices[pool] ?? 0);
    const clairvoyant = bounds.find(({ bound }) => bound === 'clairvoyant');
    if (clairvoyant === undefined)
      throw new Error('holding a contest: there is no clairvoyant to compare with');
    return { jobs: trace.jobs.length, clairvoyant };
  }

  get #given() {
    const { valueOfMinute, region } = this.#options;
    return { config: this.config, valueOfMinute, region };
  }

  get #all(): number {
    const searched = BASELINES.reduce((sum, policy) => sum + runsOf(policy, policy.grid(this.config)), 0);
    return searched + this.#options.seeds.length * (weightOf(OURS) + BASELINES.length + 1);
  }

  #traceOf(seed: number): Trace {
    const { days } = this.#options;
    const trace = this.#traces.get(seed) ?? generateTrace(this.#scenario, { seed, days });
    this.#traces.set(seed, trace);
    return trace;
  }
}

/** About what a run of ours takes, one of the others being 1. */
function weightOf(policy: string): number {
  return policy === OURS ? 20 : 1;
}

/**
 * The autoscaler and what one would run instead, on traces of one scenario. The autoscaler runs once for each price of waiting and knows
 * nothing but that price. Each other policy runs with every setting of its grid on the same trace, and the best for each price counts.
 */

import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { BASELINES } from '../../backtest/policies/index.ts';
import type { Figures } from '../../backtest/replay/result.ts';
import { configFileOf } from '../../backtest/scenarios/index.ts';
import { orderOf } from '../../backtest/search/compare.ts';
import { runsOf, type Tried, tryAll } from '../../backtest/search/search.ts';
import type { Order, WorkerPool } from '../../backtest/search/worker-pool.ts';
import { generateTrace } from '../../backtest/trace/generate/generate.ts';
import type { Scenario } from '../../backtest/trace/generate/scenario.ts';
import type { Trace } from '../../backtest/trace/trace.ts';
import { readConfig } from '../../lambda/config/read.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';

export type ContestOptions = {
  /** One trace each. */
  readonly seeds: readonly number[];
  readonly days: number;
  /** Prices of waiting: dollars a minute of a person. */
  readonly values: readonly number[];
  readonly region: string;
  readonly crew: WorkerPool;
  /** 0 to 1. */
  readonly onProgress: (share: number) => void;
};

/** A policy with some settings, and what it came to in each of its goes. */
export type Entrant = { readonly policy: string } & Tried;

/** All runs on one trace. */
export type Round = {
  readonly seed: number;
  readonly jobs: number;
  /** With every setting of its grid. */
  readonly peers: readonly Entrant[];
  /** By price of waiting. */
  readonly ours: ReadonlyMap<number, Figures>;
};

export type PolicyComparison = {
  readonly scenario: string;
  readonly days: number;
  readonly rounds: readonly Round[];
};

export const OURS = 'autoscaler';

/** Each run is made once: a price of waiting changes how the others are judged, not what they do. */
export async function holdContest(scenario: Scenario, options: ContestOptions): Promise<PolicyComparison> {
  const arena = new Arena(scenario, options);
  const rounds = options.seeds.map((seed) => arena.hold(seed));
  return { scenario: scenario.name, days: options.days, rounds: await Promise.all(rounds) };
}

/** About what a run of ours takes, one of the others being 1. */
const OUR_WEIGHT = 20;

class Arena {
  readonly #scenario: Scenario;
  readonly #options: ContestOptions;
  readonly #config: Deployment;
  readonly #all: number;
  #done = 0;

  constructor(scenario: Scenario, options: ContestOptions) {
    this.#scenario = scenario;
    this.#options = options;
    this.#config = configOf(scenario);
    const { seeds, values } = options;
    const searched = BASELINES.map((policy) => runsOf(policy, policy.grid(this.#config)));
    this.#all = seeds.length * (searched.reduce((sum, runs) => sum + runs, 0) + values.length * OUR_WEIGHT);
  }

  async hold(seed: number): Promise<Round> {
    const { days, values } = this.#options;
    const trace = generateTrace(this.#scenario, { seed, days });
    // ours take longest: they are begun first
    const ours = values.map(async (value) => [value, await this.#runOurs(trace, seed, value)] as const);
    const peers = BASELINES.map(async (policy) => {
      const tried = await tryAll(policy, policy.grid(this.#config), {
        order: (driver, luck) => this.#order(trace, seed + luck, driver),
        run: (order) => this.#run(order, 1),
      });
      return tried.map((each) => ({ policy: policy.id, ...each }));
    });
    return {
      ...{ seed, jobs: trace.jobs.length },
      peers: (await Promise.all(peers)).flat(),
      ours: new Map(await Promise.all(ours)),
    };
  }

  async #runOurs(trace: Trace, seed: number, value: number): Promise<Figures> {
    const config = configOf(this.#scenario, value);
    const order = this.#order(trace, seed, { policy: OURS }, config);
    return (await this.#run(order, OUR_WEIGHT)).figures;
  }

  #order(trace: Trace, seed: number, driver: Order['driver'], config = this.#config): Order {
    // with a dollar a minute, the dollars of waiting are minutes: each price is multiplied in later
    return orderOf({ trace, seed, config, valueOfMinute: 1, region: this.#options.region }, driver, false);
  }

  async #run(order: Order, weight: number): Promise<{ readonly figures: Figures }> {
    const run = await this.#options.crew.run(order);
    this.#done += weight;
    this.#options.onProgress(this.#done / this.#all);
    return run;
  }
}

/** The scenario's file, and in it nothing but the price of waiting. */
function configOf(scenario: Scenario, value?: number): Deployment {
  const file = configFileOf(scenario);
  const document = parseDocument(readFileSync(file, 'utf8'));
  if (value !== undefined) document.set('waiting', { person: value, autostart: value });
  return readConfig(document.toString(), file).config;
}

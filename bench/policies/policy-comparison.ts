/**
 * Runs the autoscaler and other policies on traces of one scenario. The autoscaler runs once for
 * each price of waiting and knows only that price. Each other policy runs with every setting of its
 * grid on the same trace, and its best setting for each price counts.
 */

import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { BASELINES } from '../../backtest/policies/index.ts';
import type { Figures } from '../../backtest/replay/result.ts';
import { configFileOf } from '../../backtest/scenarios/index.ts';
import { orderOf } from '../../backtest/search/compare.ts';
import { type GridPointResult, runGrid, runsOf } from '../../backtest/search/search.ts';
import type { Order, WorkerPool } from '../../backtest/search/worker-pool.ts';
import { generateTrace } from '../../backtest/trace/generate/generate.ts';
import type { Scenario } from '../../backtest/trace/generate/scenario.ts';
import type { Trace } from '../../backtest/trace/trace.ts';
import { readConfig } from '../../lambda/config/read.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';

export type PolicyComparisonOptions = {
  /** One trace for each seed. */
  readonly seeds: readonly number[];
  readonly days: number;
  /** Prices of waiting: dollars for each minute of a person. */
  readonly values: readonly number[];
  readonly region: string;
  readonly workerPool: WorkerPool;
  /** Called with the share of the runs that are done, 0 to 1. */
  readonly onProgress: (share: number) => void;
};

/** A policy with one setting of its grid, and the figures of each of its runs. */
export type PolicyResult = { readonly policy: string } & GridPointResult;

/** All runs on one trace. */
export type TraceComparison = {
  readonly seed: number;
  readonly jobs: number;
  /** Every other policy with every setting of its grid. */
  readonly peers: readonly PolicyResult[];
  /** Figures of the autoscaler by price of waiting. */
  readonly ours: ReadonlyMap<number, Figures>;
};

export type PolicyComparison = {
  readonly scenario: string;
  readonly days: number;
  readonly traces: readonly TraceComparison[];
};

export const OURS = 'autoscaler';

/**
 * Runs each other policy once for all prices: the price of waiting changes its total, not what it
 * does.
 */
export async function comparePolicies(
  scenario: Scenario,
  options: PolicyComparisonOptions,
): Promise<PolicyComparison> {
  const runner = new ComparisonRunner(scenario, options);
  const traces = options.seeds.map((seed) => runner.runTrace(seed));
  return { scenario: scenario.name, days: options.days, traces: await Promise.all(traces) };
}

/** The work of a run of the autoscaler, as a multiple of a run of another policy. */
const OUR_WEIGHT = 20;

class ComparisonRunner {
  readonly #scenario: Scenario;
  readonly #options: PolicyComparisonOptions;
  readonly #config: Deployment;
  readonly #all: number;
  #done = 0;

  constructor(scenario: Scenario, options: PolicyComparisonOptions) {
    this.#scenario = scenario;
    this.#options = options;
    this.#config = configOf(scenario);
    const { seeds, values } = options;
    const searched = BASELINES.map((policy) => runsOf(policy, policy.grid(this.#config)));
    this.#all = seeds.length * (searched.reduce((sum, runs) => sum + runs, 0) + values.length * OUR_WEIGHT);
  }

  async runTrace(seed: number): Promise<TraceComparison> {
    const { days, values } = this.#options;
    const trace = generateTrace(this.#scenario, { seed, days });
    // runs of the autoscaler take longest, so they start first
    const ours = values.map(async (value) => [value, await this.#runOurs(trace, seed, value)] as const);
    const peers = BASELINES.map(async (policy) => {
      const results = await runGrid(policy, policy.grid(this.#config), {
        order: (driver, seedOffset) => this.#order(trace, seed + seedOffset, driver),
        run: (order) => this.#run(order, 1),
      });
      return results.map((each) => ({ policy: policy.id, ...each }));
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
    // at one dollar a minute, the dollars of waiting equal minutes; standings.ts multiplies them by
    // each price
    return orderOf({ trace, seed, config, valueOfMinute: 1, region: this.#options.region }, driver, false);
  }

  async #run(order: Order, weight: number): Promise<{ readonly figures: Figures }> {
    const run = await this.#options.workerPool.run(order);
    this.#done += weight;
    this.#options.onProgress(this.#done / this.#all);
    return run;
  }
}

/** The configuration of the scenario. `value` replaces its prices of waiting. */
function configOf(scenario: Scenario, value?: number): Deployment {
  const file = configFileOf(scenario);
  const document = parseDocument(readFileSync(file, 'utf8'));
  if (value !== undefined) document.set('waiting', { person: value, autostart: value });
  return readConfig(document.toString(), file).config;
}

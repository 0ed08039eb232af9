/**
 * Runs the autoscaler and other policies on the traces of one subject. The autoscaler runs once for
 * each price of waiting and knows only that price. Each other policy runs with every setting of its
 * grid on the same trace, and its best setting for each price counts.
 */

import { BASELINES } from '../../backtest/policies/index.ts';
import type { Figures } from '../../backtest/replay/result.ts';
import { orderOf } from '../../backtest/search/compare.ts';
import { type GridPointResult, runGrid, runsOf } from '../../backtest/search/search.ts';
import type { Order, WorkerPool } from '../../backtest/search/worker-pool.ts';
import type { Trace } from '../../backtest/trace/trace.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import type { Subject } from './subjects.ts';

export type PolicyComparisonOptions = {
  readonly seeds: readonly number[];
  /** Prices of waiting: dollars for each minute of a person. */
  readonly values: readonly number[];
  /** Dollars of one launch. Undefined: as configured. */
  readonly launch?: number | undefined;
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
  /** The name of the scenario or the trace. */
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
  subject: Subject,
  options: PolicyComparisonOptions,
): Promise<PolicyComparison> {
  const runner = new ComparisonRunner(subject, options);
  const traces = options.seeds.map((seed) => runner.runTrace(seed));
  return { scenario: subject.name, days: subject.days, traces: await Promise.all(traces) };
}

/** The work of a run of the autoscaler, as a multiple of a run of another policy. */
const OUR_WEIGHT = 20;

class ComparisonRunner {
  readonly #subject: Subject;
  readonly #options: PolicyComparisonOptions;
  readonly #config: Deployment;
  readonly #all: number;
  #done = 0;

  constructor(subject: Subject, options: PolicyComparisonOptions) {
    this.#subject = subject;
    this.#options = options;
    const { seeds, values, launch } = options;
    this.#config = subject.configAt({ launch });
    const searched = BASELINES.map((policy) => runsOf(policy, policy.grid(this.#config)));
    this.#all = seeds.length * (searched.reduce((sum, runs) => sum + runs, 0) + values.length * OUR_WEIGHT);
  }

  async runTrace(seed: number): Promise<TraceComparison> {
    const trace = this.#subject.traceOf(seed);
    // runs of the autoscaler take longest, so they start first
    const ours = this.#options.values.map(
      async (value) => [value, await this.#runOurs(trace, seed, value)] as const,
    );
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
    const config = this.#subject.configAt({ waiting: value, launch: this.#options.launch });
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

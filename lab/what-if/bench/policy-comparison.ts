/**
 * The autoscaler runs once for each price of waiting and knows only that. Each other policy runs
 * with every setting of its grid, and the best one for each price counts.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseDocument } from 'yaml';
import { readConfig } from '../../../lambda/config/read.ts';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';
import { BASELINES } from '../policies/index.ts';
import type { Figures } from '../replay/result.ts';
import { configFileOf } from '../scenarios/index.ts';
import { orderOf } from '../search/compare.ts';
import { type GridPointResult, runGrid } from '../search/search.ts';
import type { WorkerPool } from '../search/worker-pool.ts';
import { readTraceFile } from '../trace/file.ts';
import { generateTrace } from '../trace/generate/generate.ts';
import type { Scenario } from '../trace/generate/scenario.ts';
import type { Trace } from '../trace/trace.ts';

type PolicyComparisonOptions = {
  readonly seeds: readonly number[];
  readonly values: readonly number[];
  /** Dollars of one launch. Undefined: as configured. */
  readonly launch?: number | undefined;
  readonly region: string;
  readonly workerPool: WorkerPool;
};

/** A policy with one setting of its grid, and the figures of each of its runs. */
export type PolicyResult = { readonly policy: string } & GridPointResult;

export type TraceComparison = {
  readonly seed: number;
  readonly jobs: number;
  /** Every other policy with every setting of its grid. */
  readonly peers: readonly PolicyResult[];
  readonly ours: ReadonlyMap<number, Figures>;
};

export type PolicyComparison = {
  readonly scenario: string;
  readonly days: number;
  readonly traces: readonly TraceComparison[];
};

export const OURS = 'autoscaler';

/** Runs each other policy once for all prices: the price of waiting changes its total, not what it does. */
export async function comparePolicies(
  subject: Subject,
  options: PolicyComparisonOptions,
): Promise<PolicyComparison> {
  const traces = await Promise.all(options.seeds.map((seed) => compareOnTrace(subject, seed, options)));
  return { scenario: subject.name, days: subject.days, traces };
}

async function compareOnTrace(
  subject: Subject,
  seed: number,
  { values, launch, region, workerPool }: PolicyComparisonOptions,
): Promise<TraceComparison> {
  const trace = subject.traceOf(seed);
  const configured = subject.configAt({ launch });
  // at one dollar a minute, the dollars of waiting equal minutes; standings.ts multiplies them by
  // each price
  const given = { trace, region, valueOfMinute: 1 };
  // runs of the autoscaler take longest, so they start first
  const ours = values.map(async (value) => {
    const config = subject.configAt({ waiting: value, launch });
    const order = orderOf({ ...given, seed, config }, { policy: OURS }, false);
    return [value, (await workerPool.run(order)).figures] as const;
  });
  const peers = BASELINES.map(async (policy) => {
    const results = await runGrid(policy, policy.grid(configured), {
      order: (driver, seedOffset) =>
        orderOf({ ...given, seed: seed + seedOffset, config: configured }, driver, false),
      run: (order) => workerPool.run(order),
    });
    return results.map((each) => ({ policy: policy.id, ...each }));
  });
  return {
    ...{ seed, jobs: trace.jobs.length },
    peers: (await Promise.all(peers)).flat(),
    ours: new Map(await Promise.all(ours)),
  };
}

type Subject = {
  readonly name: string;
  readonly days: number;
  readonly traceOf: (seed: number) => Trace;
  /** The configuration. The arguments replace its prices. */
  readonly configAt: (prices: Prices) => Deployment;
};

/** In dollars. Undefined: as configured. */
export type Prices = {
  /** One minute of a person. */
  readonly waiting?: number | undefined;
  /** One launch, in addition to the task. */
  readonly launch?: number | undefined;
};

/** Each seed gives another trace. */
export function scenarioSubject(scenario: Scenario, days: number): Subject {
  return {
    ...{ name: scenario.name, days },
    traceOf: (seed) => generateTrace(scenario, { seed, days }),
    configAt: configReader(configFileOf(scenario)),
  };
}

/** One pool of up to 100 tasks, for the trace of a public log. */
const ONE_POOL = fileURLToPath(new URL('one-pool.yaml', import.meta.url));

/** Each seed gives other start times to the same trace. Throws TraceError. */
export function traceSubject(file: string, configFile = ONE_POOL): Subject {
  const { trace } = readTraceFile(file);
  const days = Math.round((trace.to - trace.from) / DAY_MS);
  return { name: trace.name, days, traceOf: () => trace, configAt: configReader(configFile) };
}

function configReader(file: string): Subject['configAt'] {
  const text = readFileSync(file, 'utf8');
  return ({ waiting, launch }) => {
    const document = parseDocument(text);
    if (waiting !== undefined) document.set('waiting', { person: waiting, autostart: waiting });
    const { config } = readConfig(document.toString(), file);
    if (launch === undefined) return config;
    return { ...config, pools: config.pools.map((pool) => ({ ...pool, dollarsPerLaunch: launch })) };
  };
}

/** Small worlds for whole runs: a morning's trace, a configuration, what a task takes and costs. */
import { BASELINES } from '../../backtest/policies/index.ts';
import type { PolicySettings } from '../../backtest/policies/policy.ts';
import { type Driver, type Run, type RunOptions, run } from '../../backtest/replay/run.ts';
import type { Trace, TraceJob } from '../../backtest/trace/trace.ts';
import { readConfig } from '../../lambda/config/read.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';

/** A Monday. */
export const NINE = Date.UTC(2026, 2, 2, 9) as EpochMs;

/** So many seconds after nine. */
export const atSecond = (seconds: number): EpochMs => plusMs(NINE, seconds * 1000);

/** A user's untagged job of a minute at nine. */
export function aTraceJob(given: Partial<TraceJob> = {}): TraceJob {
  return { at: NINE, organization: 'default', tags: {}, seconds: 60, kind: 'user', ...given };
}

/** A quarter of an hour from nine on, without a job. */
export function aTrace(given: Partial<Trace> = {}): Trace {
  return {
    ...{ name: 'morning', from: NINE, to: atSecond(900), timezone: 'UTC' },
    ...{ outages: [], startSeconds: undefined, jobs: [] },
    ...given,
  };
}

/** As `autoscaler.yaml` says it. */
export type PoolSettings = {
  readonly name?: string;
  readonly organization?: string;
  readonly tags?: Tags;
  readonly [setting: string]: unknown;
};

/** Without pools: one named `default`, untagged, 1 to 10 tasks. */
export function aDeployment(pools: readonly PoolSettings[] = [{ min: 1 }], maxTasks = 500): Deployment {
  const document = {
    coder: { url: 'https://coder.example.com', token: { secret: 'token' } },
    limits: { maxTasks },
    defaults: { image: 'ghcr.io/coder/coder:v2.30.0' },
    pools: pools.map((pool) => ({
      ...{ name: 'default', organization: 'default', key: { secret: 'key' }, max: 10 },
      ...pool,
    })),
  };
  return readConfig(JSON.stringify(document), 'autoscaler.yaml').config;
}

const ONE_POOL = aDeployment();

/** A tenth of a cent a second of a task, a cent a second of a person. */
export const DOLLARS_PER_HOUR = 3.6;
export const VALUE_OF_MINUTE = 0.6;

export function options(given: Partial<RunOptions> = {}): RunOptions {
  return {
    ...{ trace: aTrace(), config: ONE_POOL, seed: 1, isPictured: false },
    ...{ valueOfMinute: VALUE_OF_MINUTE, dollarsPerHour: () => DOLLARS_PER_HOUR },
    ...given,
  };
}

/** The product. */
export function runOurs(given: Partial<RunOptions> = {}): Promise<Run> {
  const all = options(given);
  return run({ kind: 'autoscaler' }, all);
}

/** One of the others, with what its source has by default. */
export function runBaseline(id: string, given: Partial<RunOptions> = {}): Promise<Run> {
  const all = options(given);
  return run(baseline(id, all.config), all);
}

/** `choose`: a point of its grid. @default the first, what its source has by default */
export function baseline(
  id: string,
  config: Deployment,
  choose: (grid: readonly PolicySettings[]) => PolicySettings | undefined = ([first]) => first,
): Driver {
  const policy = BASELINES.find((each) => each.id === id);
  const settings = choose(policy?.grid(config) ?? []);
  if (policy === undefined || settings === undefined)
    throw new Error(`finding policy "${id}": there is none`);
  return { kind: 'policy', policy, settings };
}

/**
 * Builds the input of whole runs in tests: a short trace, a configuration, latencies and prices.
 */
import { readConfig } from '../../../lambda/config/read.ts';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { BASELINES } from '../../what-if/policies/index.ts';
import { type Driver, type Run, type RunOptions, run } from '../../what-if/replay/run.ts';
import type { Trace, TraceJob } from '../../what-if/trace/trace.ts';

/** 9:00 on a Monday, in UTC. */
export const NINE = Date.UTC(2026, 2, 2, 9) as EpochMs;

/** This many seconds after 9:00. */
export const atSecond = (seconds: number): EpochMs => plusMs(NINE, seconds * 1000);

/** A user's untagged job of one minute at 9:00. */
export function aTraceJob(given: Partial<TraceJob> = {}): TraceJob {
  return { at: NINE, organization: 'default', tags: {}, seconds: 60, kind: 'user', ...given };
}

/** A quarter of an hour from 9:00 on, without jobs. */
export function aTrace(given: Partial<Trace> = {}): Trace {
  return {
    ...{ name: 'morning', from: NINE, to: atSecond(900), timezone: 'UTC' },
    ...{ outages: [], startSeconds: undefined, jobs: [] },
    ...given,
  };
}

/** Settings of a pool as in `autoscaler.yaml`. */
export type PoolSettings = {
  readonly name?: string;
  readonly organization?: string;
  readonly tags?: Tags;
  readonly [setting: string]: unknown;
};

/** The default is one untagged pool, `default`, with 1 to 10 tasks. */
export function aDeployment(pools: readonly PoolSettings[] = [{ min: 1 }], maxTasks = 500): Deployment {
  const document = {
    coder: { url: 'https://coder.example.com', token: { secret: 'token' } },
    limits: { maxTasks },
    defaults: { image: 'ghcr.io/coder/coder:v2.30.0' },
    pools: pools.map((pool, index) => ({
      ...{ name: 'default', organization: 'default', key: { secret: `key-${index}` }, max: 10 },
      dollarsPerLaunch: 0,
      ...pool,
    })),
  };
  return readConfig(JSON.stringify(document), 'autoscaler.yaml').config;
}

const ONE_POOL = aDeployment();

/** A task costs 0.001 dollars per second, a waiting person 0.01 dollars per second. */
export const DOLLARS_PER_HOUR = 3.6;
export const VALUE_OF_MINUTE = 0.6;

function options(given: Partial<RunOptions> = {}): RunOptions {
  return {
    ...{ trace: aTrace(), config: ONE_POOL, seed: 1, isPictured: false },
    ...{ valueOfMinute: VALUE_OF_MINUTE, dollarsPerHour: () => DOLLARS_PER_HOUR },
    ...given,
  };
}

/** Runs the autoscaler. */
export function runOurs(given: Partial<RunOptions> = {}): Promise<Run> {
  const all = options(given);
  return run({ kind: 'autoscaler' }, all);
}

/** Runs another policy with the defaults of its source. */
export function runBaseline(id: string, given: Partial<RunOptions> = {}): Promise<Run> {
  const all = options(given);
  return run(baseline(id), all);
}

/**
 * `choose`: chooses a point of the grid. @default the first one, with the defaults of the source
 */
function baseline(id: string): Driver {
  const policy = BASELINES.find((each) => each.id === id);
  const [settings] = policy?.grid ?? [];
  if (policy === undefined || settings === undefined)
    throw new Error(`finding policy "${id}": there is none`);
  return { kind: 'policy', policy, settings };
}

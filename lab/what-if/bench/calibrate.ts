/** Replays a scenario with the real look, and compares the starts that it promises with actual ones. */

import { loadConfig } from '../../../lambda/config/load.ts';
import { deliberate } from '../../../lambda/decision/decide.ts';
import { type EpochMs, type JobId, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import type { PendingJob } from '../../../lambda/decision/model/promise.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { withPromises } from '../../../lambda/decision/promise/promise.ts';
import { Random } from '../../world/base/random.ts';
import { serveRequests } from '../../world/base/worker-pool.ts';
import { run } from '../replay/run.ts';
import { configFileOf, SCENARIOS } from '../scenarios/index.ts';
import { BacktestError } from '../trace/backtest-error.ts';
import { generateTrace } from '../trace/generate/generate.ts';
import type { Scenario } from '../trace/generate/scenario.ts';
import type { Trace, TraceJob } from '../trace/trace.ts';
import { type Calibration, countKept, newTally, type Tally } from './tally.ts';

export type CalibrationOrder = {
  readonly scenario: string;
  readonly seed: number;
  /** The length of the trace, from Monday 0:00. */
  readonly hours: number;
  /** The share of the jobs of people that these cancel within three minutes, 0 to 1. */
  readonly cancelled: number;
};

export async function calibrate({
  scenario: name,
  seed,
  hours,
  cancelled,
}: CalibrationOrder): Promise<Calibration> {
  const scenario = SCENARIOS.find((known) => known.name === name);
  if (scenario === undefined)
    throw new BacktestError(`calibrating promises: there is no scenario "${name}"; name another one`);
  const { config } = loadConfig(configFileOf(scenario));
  const book = new PromiseBook();
  await run(
    { kind: 'autoscaler' },
    {
      ...{ trace: traceOf(scenario, seed, hours), config, seed, isPictured: false },
      ...{ valueOfMinute: 1, dollarsPerHour: () => 1 },
      onLook: ({ snapshot }) => book.note(promisesOf(snapshot, config)),
      onAcquired: (job, at) => book.settle(job, at),
      cancelAfterMs: cancellationsOf(seed, cancelled),
    },
  );
  return book.close();
}

/** The module that threads load. */
export const CALIBRATING = import.meta.url;
serveRequests(CALIBRATING, calibrate);

const CANCELS_WITHIN_MS = 3 * MINUTE_MS;

function cancellationsOf(seed: number, share: number): (job: TraceJob) => number | undefined {
  const random = new Random(seed);
  return ({ kind }) => {
    const drawn = random.between(0, 1);
    return kind === 'user' && drawn < share ? (drawn / share) * CANCELS_WITHIN_MS : undefined;
  };
}

/** Traces have whole days; this one ends earlier. */
function traceOf(scenario: Scenario, seed: number, hours: number): Trace {
  const trace = generateTrace(scenario, { seed, days: Math.ceil(hours / 24) });
  const to = plusMs(trace.from, hours * 3_600_000);
  return { ...trace, to, jobs: trace.jobs.filter(({ at }) => at < to) };
}

function promisesOf(snapshot: Snapshot, config: Config): readonly PendingJob[] {
  const isAnyPending = snapshot.coder.organizations.some(({ jobs }) =>
    jobs.items.some(({ status }) => status === 'pending'),
  );
  return isAnyPending ? withPromises(deliberate(snapshot, config), snapshot).pendingJobs : [];
}

type Promised = {
  readonly tallies: readonly { readonly tally: Tally; readonly share: number }[];
  readonly p5: number;
  readonly p95: number;
};

class PromiseBook {
  readonly #calibration: Calibration = { every: newTally(), first: newTally() };
  readonly #open = new Map<JobId, Promised[]>();

  note(rows: readonly PendingJob[]): void {
    const promised = rows.filter(({ startsAt }) => startsAt !== null);
    const isNew = new Set(rows.flatMap(({ id }) => (this.#open.has(id) ? [] : [id])));
    const shares = {
      every: 1 / promised.length,
      first: 1 / promised.filter(({ id }) => isNew.has(id)).length,
    };
    for (const row of rows) this.#noteRow(row, shares);
  }

  settle(job: JobId, startedAt: EpochMs): void {
    for (const { tallies, p5, p95 } of this.#open.get(job) ?? [])
      for (const { tally, share } of tallies) countKept(tally, { startedAt, p5, p95, share });
    this.#open.delete(job);
  }

  close(): Calibration {
    for (const { tallies } of [...this.#open.values()].flat()) for (const { tally } of tallies) tally.open++;
    return this.#calibration;
  }

  #noteRow({ id, startsAt, why }: PendingJob, shares: Readonly<Record<'every' | 'first', number>>): void {
    const { every, first } = this.#calibration;
    const known = this.#open.get(id);
    const toEvery = { tally: every, share: shares.every };
    const tallies = known === undefined ? [toEvery, { tally: first, share: shares.first }] : [toEvery];
    const promises = known ?? [];
    this.#open.set(id, promises);
    if (why !== null) for (const { tally } of tallies) tally.without[why] = (tally.without[why] ?? 0) + 1;
    if (startsAt !== null)
      promises.push({ tallies, p5: Date.parse(startsAt.p5), p95: Date.parse(startsAt.p95) });
  }
}

/** Moves jobs out of coderd's outages: coderd creates no job during an outage, and all of them after it. */
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Random } from '../../../simulator/base/random.ts';
import type { Outage, TraceJob } from '../trace.ts';
import { exponential } from './draws.ts';

/** Assumption: the mean time until people notice that coderd is back. */
const NOTICED_AFTER_MS = 90_000;
const LATEST_MS = 900_000;
/** coderd's own loops run once a minute. */
const LOOP_MS = 60_000;

export function afterOutages(
  jobs: readonly TraceJob[],
  outages: readonly Outage[],
  random: Random,
): readonly TraceJob[] {
  return jobs.map((job) => {
    const outage = outages.find(({ at, seconds }) => at <= job.at && job.at < plusMs(at, seconds * 1000));
    if (outage === undefined) return job;
    const end = plusMs(outage.at, outage.seconds * 1000);
    return { ...job, at: plusMs(end, delayMs(job, random)) };
  });
}

function delayMs({ kind }: TraceJob, random: Random): number {
  const isByHand = kind === 'user' || kind === 'import';
  const ms = isByHand ? Math.min(LATEST_MS, exponential(random, NOTICED_AFTER_MS)) : LOOP_MS;
  return Math.ceil(ms / 1000) * 1000;
}

/** coderd answers nobody for a while: nothing is created in it, and then everything that was to be. */
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Random } from '../../../simulator/base/random.ts';
import type { Outage, TraceJob } from '../trace.ts';
import { exponential } from './draws.ts';

/** How long it takes people to notice that it is back, on average: an assumption. */
const NOTICED_AFTER_MS = 90_000;
const LATEST_MS = 900_000;
/** coderd's own loops come once a minute. */
const LOOP_MS = 60_000;

/** Moves the jobs of an outage to after its end. */
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

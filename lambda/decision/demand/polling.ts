/**
 * What the lists of jobs cost coderd, from the time that they took. Its database computes for about as long
 * (docs/internals/coder.md §11), and has to run the builds too.
 */
import { sum } from '../model/collections.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { MINUTE_MS, SECOND_MS } from '../model/units.ts';

/** The next look comes after so many times what the lists took: then they use a tenth of a core. */
const PAUSE_TIMES = 10;
/** The schedule looks once a minute, whatever that costs. */
const SCHEDULE_MS = MINUTE_MS;
/** The delay of a message is in whole seconds: its look may come so much too soon. */
const EARLY_MS = SECOND_MS;

/** How long coderd took for all lists of jobs of this look, in milliseconds. */
export function jobsTookMs({ organizations }: Snapshot['coder']): number {
  return sum(organizations, ({ jobs, previousJobs }) => (jobs.tookMs ?? 0) + (previousJobs.tookMs ?? 0));
}

/** The least delay until the next look, in milliseconds: a whole part of the minute, at whose end the schedule looks. */
export function leastDelayMs(coder: Snapshot['coder']): number {
  const tookMs = jobsTookMs(coder);
  if (tookMs === 0) return 0;
  const looks = Math.floor(SCHEDULE_MS / (PAUSE_TIMES * tookMs + EARLY_MS));
  return SCHEDULE_MS / Math.max(1, looks);
}

/** Whether even one look a minute uses more than a tenth of a core. */
export function isPollingCostly(coder: Snapshot['coder']): boolean {
  return PAUSE_TIMES * jobsTookMs(coder) > SCHEDULE_MS;
}

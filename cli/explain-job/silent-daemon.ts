/** When coderd fails a job of which it no longer hears, because the daemon has probably died. */
import type { JobDetails } from '../../lambda/adapters/coderd/job-details.ts';
import { type EpochMs, isoTime, plusMs } from '../../lambda/decision/model/brands.ts';
import { isAlive } from '../../lambda/decision/supply/daemons.ts';
import type { ServingTasks } from '../../lambda/decision/waits/job-wait.ts';
import type { SilentDaemon } from './explanation.ts';

/**
 * A daemon that dies was seen up to a minute before. coderd fails its job 5 minutes after the last
 * update, and looks for such jobs once a minute (docs/internals/coder.md §5).
 */
const FAILED_WITHIN_MS = 7 * 60_000;

export function silentDaemon(
  job: JobDetails,
  { daemonOf, ofDaemon }: ServingTasks,
  takenAt: EpochMs,
): SilentDaemon | null {
  const daemon = job.completed_at == null ? daemonOf(job) : undefined;
  if (daemon?.last_seen_at == null) return null;
  const hasStopped = ofDaemon.get(daemon.id)?.lastStatus === 'STOPPED';
  if (isAlive(daemon, takenAt) && !hasStopped) return null;
  return {
    daemon: daemon.name,
    lastSeenAt: isoTime(daemon.last_seen_at),
    failsBy: isoTime(plusMs(daemon.last_seen_at, FAILED_WITHIN_MS)),
  };
}

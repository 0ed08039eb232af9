import type { AcquiredJob, DaemonConnection } from '../daemon-connection.ts';
import type { Timeline } from '../timeline.ts';

/** The life of one of coderd's own daemons: it works job after job, for as long as coderd runs. */
export function runBuiltInDaemon(connection: DaemonConnection, timeline: Timeline): void {
  const work = (job: AcquiredJob): void => {
    timeline.after(job.durationMs, () => {
      connection.complete(job.id, job.willFail ? 'failed' : 'succeeded');
      connection.acquire(work);
    });
  };
  connection.acquire(work);
}

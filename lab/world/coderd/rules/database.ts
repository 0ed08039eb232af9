/** What coderd's database computes for its costly answers, in milliseconds of one core (docs/internals/coder.md §11). */

/** For each row, and for each pending job with each daemon row of its organization. */
const JOB_MS = { other: 0.055, pending: 0.09, pendingAndDaemon: 0.00115 } as const;
/** For each workspace that the user may read, whatever the page. */
const WORKSPACE_MS = 0.119;

export type Cost = { readonly of: 'jobs' | 'workspaces'; readonly ms: number };

/** Of a list of jobs. `daemons`: all rows of the organization, of daemons that are gone too. */
export function costOfJobs(
  jobs: readonly { readonly status: string }[],
  { daemons }: { readonly daemons: number },
): Cost {
  const pending = jobs.filter(({ status }) => status === 'pending').length;
  const ofPending = pending * (JOB_MS.pending + daemons * JOB_MS.pendingAndDaemon);
  return { of: 'jobs', ms: ofPending + (jobs.length - pending) * JOB_MS.other };
}

/** Of a page of workspaces. */
export const costOfWorkspaces = (readable: number): Cost => ({
  of: 'workspaces',
  ms: readable * WORKSPACE_MS,
});

/** Of the list of builds of one workspace, which has an index. */
export const COST_OF_BUILDS: Cost = { of: 'workspaces', ms: 15 };

/** Its speed, and what it has computed. */
export class Database {
  /** How many times as long as measured an answer takes. 0: all come at once. */
  factor = 0;
  /** For all answers so far, in milliseconds of one core. */
  readonly busyMs = { jobs: 0, workspaces: 0 };
  /** For the answer that took longest, in milliseconds. */
  longestMs = 0;

  /** How long an answer takes. It ends with the request, after `atMostMs`. */
  work({ of, ms }: Cost, atMostMs: number): number {
    const tookMs = Math.min(atMostMs, Math.round(ms * this.factor));
    this.busyMs[of] += tookMs;
    this.longestMs = Math.max(this.longestMs, tookMs);
    return tookMs;
  }
}

/** How large a generated deployment is. The same size and seed give the same deployment. */
export type FleetSize = {
  /** Pending jobs, all organizations together. */
  readonly jobs: number;
  readonly pools: number;
  /** Daemons that coderd lists; starting tasks come on top. */
  readonly daemons: number;
  /** 0: no pool is woken for anything, so nobody reads a forecast. */
  readonly workspaces: number;
  readonly seed: number;
};

/** Three pools at night: what an invocation finds most of the time. */
export const QUIET = { jobs: 0, pools: 3, daemons: 3, workspaces: 300 } as const;
/** Busy: a fifth of the workspaces are about to start. */
export const BUSY = { jobs: 100, pools: 20, daemons: 200, workspaces: 10_000 } as const;
/** The largest deployment that is measured, and that the goals are for; more pools can't be deployed together. */
export const LARGEST = { jobs: 10_000, pools: 50, daemons: 1_000, workspaces: 10_000 } as const;

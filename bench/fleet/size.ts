/** The size of a generated deployment. The same size and seed give the same deployment. */
export type FleetSize = {
  /** Pending jobs of all organizations together. */
  readonly jobs: number;
  readonly pools: number;
  /** Daemons that coderd lists. Starting tasks are additional. */
  readonly daemons: number;
  /** 0: no pool wakes for autostarts or autostops, so the autoscaler reads no forecast. */
  readonly workspaces: number;
  readonly seed: number;
};

/** Three pools at night: the situation of most invocations. */
export const QUIET = { jobs: 0, pools: 3, daemons: 3, workspaces: 300 } as const;
/** Busy: a fifth of the workspaces are about to start. */
export const BUSY = { jobs: 100, pools: 20, daemons: 200, workspaces: 10_000 } as const;
/**
 * The largest measured deployment, to which the goals apply. One deployment cannot have more pools.
 */
export const LARGEST = { jobs: 10_000, pools: 50, daemons: 1_000, workspaces: 10_000 } as const;

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

/** The largest deployment that is measured, and that the goals are for. */
export const LARGEST = { jobs: 10_000, pools: 200, daemons: 1_000, workspaces: 10_000 } as const;

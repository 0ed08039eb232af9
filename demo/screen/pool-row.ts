/** What the screen shows of a pool. Every task is in one of the four states. */
export type PoolRow = {
  readonly name: string;
  readonly tags: string;
  /** `2 (1 old)` */
  readonly revision: string;
  readonly desired: number;
  readonly busy: number;
  readonly idle: number;
  readonly draining: number;
  readonly starting: number;
  readonly jobsDone: number;
};

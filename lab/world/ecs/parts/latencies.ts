/** A range in whole milliseconds; each latency is drawn from it uniformly. */
export type Range = readonly [fromMs: number, toMs: number];

export type Latencies = {
  /** From a needed change of a service until the scheduler acts. */
  readonly react: Range;
  /** From a task's creation until RUNNING. */
  readonly boot: Range;
  /** From a guard's call to the agent endpoint until its answer. */
  readonly lease: Range;
  /** From a daemon's start until coderd knows it. Keep it above `signal`, as it is in reality. */
  readonly connect: Range;
  /** From ECS choosing a task to stop until SIGTERM in its container. */
  readonly signal: Range;
  /** From the exit of its container until STOPPED. */
  readonly stop: Range;
  /** From RUNNING until a deployment counts the task as healthy (docs/internals/aws.md §2: 40 s). */
  readonly healthyMs: number;
};

/** How `boot` is divided, in this order (docs/internals/aws.md §2: about 10 s for the interface). */
export const BOOT_SHARES = { network: 0.3, imagePull: 0.6, containerStart: 0.1 } as const;

/** Of Fargate, for small images (docs/internals/aws.md §2: 30 to 60 s, no primary number). */
export const FARGATE: Latencies = {
  react: [500, 3_000],
  boot: [25_000, 60_000],
  lease: [50, 400],
  connect: [2_500, 6_000],
  signal: [200, 1_500],
  stop: [5_000, 20_000],
  healthyMs: 40_000,
};

/** From and to, in whole milliseconds; each time anew and evenly in between. */
export type Range = readonly [fromMs: number, toMs: number];

/** How long things take in ECS and in a task. */
export type Latencies = {
  /** A service that needs a change -> the scheduler acts. */
  readonly react: Range;
  /** A task created -> RUNNING. */
  readonly boot: Range;
  /** A guard's call to the agent endpoint -> its answer. */
  readonly lease: Range;
  /** A daemon started -> registered with coderd. Keep it above `signal`, as it is in reality. */
  readonly connect: Range;
  /** A task chosen to be stopped -> SIGTERM in its container. */
  readonly signal: Range;
  /** Its container exited -> STOPPED. */
  readonly stop: Range;
  /** RUNNING -> counted as healthy by a deployment: 40 s where there is no health check (docs/aws.md §2). */
  readonly healthyMs: number;
};

/** As far as is known for Fargate and small images (docs/aws.md §2: 30 to 60 s, no primary number). */
export const FARGATE: Latencies = {
  react: [500, 3_000],
  boot: [25_000, 60_000],
  lease: [50, 400],
  connect: [2_500, 6_000],
  signal: [200, 1_500],
  stop: [5_000, 20_000],
  healthyMs: 40_000,
};

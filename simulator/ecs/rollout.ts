/**
 * How AWS's texts on rolling deployments can be read where they leave something open. "What's new" of November 2025 tells of
 * replacements and of Application Auto Scaling, not of a plain UpdateService; the guide to early success criteria tells neither of
 * leases nor of counts while the old revision is cleaned up.
 */

/** What ECS does with the old revision while it is being replaced. */
export type RolloutReading = {
  /** Which revision takes the place of an old task that ends by itself. @default 'newest' */
  readonly replacement?: 'newest' | 'same';
  /** Which revisions a raised count goes to: with `both`, half of it to the old one. @default 'newest' */
  readonly scaleOut?: 'newest' | 'both';
};

/** What holds after an early success, while old tasks are still there. */
export type CleanupReading = {
  /** Whether protected old tasks still make ECS refuse leases. @default true */
  readonly blocks?: boolean;
  /** Whether old tasks count against the desired count. @default true */
  readonly counts?: boolean;
  /** Whether another deployment may begin. @default true */
  readonly admits?: boolean;
  /** Whether DescribeServices still lists the old deployment. @default true */
  readonly lists?: boolean;
};

/** Every reading of a clean-up but whether a second deployment may begin: that one shows only where there is one. */
export const CLEANUPS: readonly CleanupReading[] = [true, false].flatMap((blocks) =>
  [true, false].flatMap((counts) => [true, false].map((lists) => ({ blocks, counts, lists }))),
);

/** Every reading of what becomes of the old revision. */
export const ROLLOUTS: readonly RolloutReading[] = (['newest', 'same'] as const).flatMap((replacement) =>
  (['newest', 'both'] as const).map((scaleOut) => ({ replacement, scaleOut })),
);

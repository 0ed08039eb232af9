/**
 * Readings of AWS's texts on rolling deployments, where they leave something open: "What's new" of November 2025
 * does not cover a plain UpdateService, the guide to early success criteria neither leases nor clean-ups.
 */

/** What ECS does with the old revision while it is being replaced. */
export type RolloutReading = {
  /** The revision that replaces an old task that ends by itself. @default 'newest' */
  readonly replacement?: 'newest' | 'same';
  /** With `both`, half of the new tasks of a raised count are old. @default 'newest' */
  readonly scaleOut?: 'newest' | 'both';
};

/** What holds after an early success, while old tasks still exist. */
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

/** Every reading of a clean-up, except `admits`, which matters only if there is a second deployment. */
export const CLEANUPS: readonly CleanupReading[] = [true, false].flatMap((blocks) =>
  [true, false].flatMap((counts) => [true, false].map((lists) => ({ blocks, counts, lists }))),
);

export const ROLLOUTS: readonly RolloutReading[] = (['newest', 'same'] as const).flatMap((replacement) =>
  (['newest', 'both'] as const).map((scaleOut) => ({ replacement, scaleOut })),
);

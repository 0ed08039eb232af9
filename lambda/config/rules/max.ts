/** The settings of a pool that follow its `max` by default, and those that may not be above it. */
import type { PoolConfig } from '../../decision/model/config.ts';
import type { Path } from '../problems/shown.ts';

type FollowingMax = Pick<PoolConfig, 'prebuilds'>;

/** The defaults. Prebuilds get four fifths: their backlog fills that, and people need the rest. */
export function followingMax(max: number): FollowingMax {
  return { prebuilds: { maxTasks: Math.max(1, Math.floor((max * 4) / 5)) } };
}

type Counts = {
  readonly min?: number | 'auto' | undefined;
  readonly warm?: number | 'auto' | undefined;
  readonly prebuilds?: { readonly maxTasks?: number | undefined } | undefined;
  readonly schedules?: readonly { readonly min: number; readonly warm: number }[] | undefined;
};

/** The counts that may not be above `max`, with their paths in the pool. */
export function countsUpToMax({ min, warm, prebuilds, schedules = [] }: Counts) {
  const all: readonly { readonly path: Path; readonly count: number | 'auto' | undefined }[] = [
    { path: ['min'], count: min },
    { path: ['warm'], count: warm },
    { path: ['prebuilds', 'maxTasks'], count: prebuilds?.maxTasks },
    ...schedules.flatMap(({ min, warm }, index) => [
      { path: ['schedules', index, 'min'], count: min },
      { path: ['schedules', index, 'warm'], count: warm },
    ]),
  ];
  return all.flatMap(({ path, count }) => (typeof count === 'number' ? [{ path, count }] : []));
}

/** The settings of a pool that may not be above its `max`. */
import type { Path } from '../problems/shown.ts';

type Counts = {
  readonly min?: number | 'auto' | undefined;
  readonly warm?: number | 'auto' | undefined;
  readonly schedules?: readonly { readonly min: number; readonly warm: number }[] | undefined;
};

/** The counts that may not be above `max`, with their paths in the pool. */
export function countsUpToMax({ min, warm, schedules = [] }: Counts) {
  const all: readonly { readonly path: Path; readonly count: number | 'auto' | undefined }[] = [
    { path: ['min'], count: min },
    { path: ['warm'], count: warm },
    ...schedules.flatMap(({ min, warm }, index) => [
      { path: ['schedules', index, 'min'], count: min },
      { path: ['schedules', index, 'warm'], count: warm },
    ]),
  ];
  return all.flatMap(({ path, count }) => (typeof count === 'number' ? [{ path, count }] : []));
}

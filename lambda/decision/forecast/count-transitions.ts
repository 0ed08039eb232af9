import type { Transition } from '../demand/transitions.ts';
import { type EpochMs, isoTime } from '../model/brands.ts';
import { by, partition } from '../model/collections.ts';
import type { Transitions } from '../model/plan.ts';

/** Counts transitions by kind, the overdue ones separately, the earliest first. */
export function countTransitions(transitions: readonly Transition[], now: EpochMs): readonly Transitions[] {
  return partition(transitions, ({ at }) => at <= now)
    .flatMap((part) => [...Map.groupBy(part, ({ kind }) => kind).values()])
    .map((alike) => ({
      kind: alike[0]?.kind ?? 'autostart',
      transitions: alike.length,
      earliest: alike.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY),
    }))
    .toSorted(
      by(
        ({ earliest }) => earliest,
        ({ kind }) => kind,
      ),
    )
    .map(({ earliest, ...count }) => ({ ...count, at: isoTime(earliest) }));
}

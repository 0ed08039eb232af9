import type { Config } from '../lambda/core/config.ts';
import { decide } from '../lambda/core/decide.ts';
import type { Snapshot } from '../lambda/core/snapshot.ts';
import { timeOn } from './statistics.ts';

/** Milliseconds of one decision of which nothing is remembered, as in the first look of a function. */
export function decisionTime(snapshot: Snapshot, config: Config): number {
  return timeOn(
    () => structuredClone(snapshot),
    (fresh) => decide(fresh, config),
  );
}

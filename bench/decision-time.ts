import { decide } from '../lambda/decision/decide.ts';
import type { Config } from '../lambda/decision/model/config.ts';
import type { Snapshot } from '../lambda/decision/model/snapshot.ts';
import { timeOn } from './shared/statistics.ts';

/** Median milliseconds of one decision without any cache, as in the first look of a function. */
export function decisionTime(snapshot: Snapshot, config: Config): number {
  return timeOn(
    () => structuredClone(snapshot),
    (fresh) => decide(fresh, config),
  );
}

import { parseSnapshot } from '../../lambda/adapters/snapshot-schema.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { deliberate } from '../../lambda/decision/decide.ts';
import type { PromisedPlan } from '../../lambda/decision/model/promise.ts';
import { withPromises } from '../../lambda/decision/promise/promise.ts';

/**
 * Plans from a snapshot document and a parsed `autoscaler.yaml`, like a look at the snapshot's
 * `takenAt`. Throws SnapshotError or ConfigError; their messages say what was seen.
 */
export function planSnapshot(snapshot: unknown, config: unknown): PromisedPlan {
  const parsed = parseSnapshot(snapshot);
  return withPromises(deliberate(parsed, checkConfig(config).config), parsed);
}

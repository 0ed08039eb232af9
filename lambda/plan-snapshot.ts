import { parseSnapshot } from './adapters/snapshot-schema.ts';
import { checkConfig } from './config/check.ts';
import { deliberate } from './decision/decide.ts';
import type { PromisedPlan } from './decision/model/promise.ts';
import { withPromises } from './decision/promise/promise.ts';

/**
 * Plans from a snapshot document and a parsed `autoscaler.yaml`, like a look at the snapshot's
 * `takenAt`. Throws SnapshotError or ConfigError; their messages say what was seen.
 */
export function planSnapshot(snapshot: unknown, config: unknown): PromisedPlan {
  const parsed = parseSnapshot(snapshot);
  return withPromises(deliberate(parsed, checkConfig(config).config), parsed);
}

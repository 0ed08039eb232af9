import { parseSnapshot } from './adapters/snapshot/schema.ts';
import { checkConfig } from './config/check.ts';
import { decide } from './decision/decide.ts';
import type { Plan } from './decision/model/plan.ts';

/**
 * Plans from a snapshot document and a parsed `autoscaler.yaml`, like a look at the snapshot's
 * `takenAt`. Throws SnapshotError or ConfigError; their messages say what was seen.
 */
export function planSnapshot(snapshot: unknown, config: unknown): Plan {
  return decide(parseSnapshot(snapshot), checkConfig(config).config);
}

import { parseSnapshot } from './adapters/snapshot/schema.ts';
import { checkConfig } from './config/check.ts';
import { decide } from './decision/decide.ts';
import type { Plan } from './decision/model/plan.ts';

/**
 * Plans on a snapshot document and a parsed `autoscaler.yaml`, as a look would at the snapshot's
 * `takenAt`. Throws SnapshotError or ConfigError, whose messages say what was seen.
 */
export function planSnapshot(snapshot: unknown, config: unknown): Plan {
  return decide(parseSnapshot(snapshot), checkConfig(config).config);
}

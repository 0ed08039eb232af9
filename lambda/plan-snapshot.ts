import { checkConfig } from './adapters/config/check.ts';
import { parseSnapshot } from './adapters/snapshot/schema.ts';
import { decide } from './core/decide.ts';
import type { Plan } from './core/plan.ts';

/**
 * Plans on a snapshot document and a parsed `autoscaler.yaml`, as a tick would at the snapshot's `takenAt`.
 * Throws SnapshotError or ConfigError, whose messages say what was seen.
 */
export function planSnapshot(snapshot: unknown, config: unknown): Plan {
  return decide(parseSnapshot(snapshot), checkConfig(config).config);
}

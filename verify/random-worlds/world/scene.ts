import type { Random } from '../../../simulator/base/random.ts';
import type { World } from '../../../simulator/world.ts';
import type { Fleet } from './fleet.ts';
import type { WorldPlan } from './plan.ts';

/** What happens in a world is planned on this. */
export type Scene = {
  readonly world: World;
  readonly plan: WorldPlan;
  readonly fleet: Fleet;
  readonly random: Random;
  /** Tells the world's story. */
  readonly say: (line: string) => void;
};

const HOUR_MS = 3_600_000;

/** Milliseconds until what comes so often, at random, comes next. */
export function untilNextMs(random: Random, perHour: number): number {
  return Math.round((-Math.log(1 - random.next()) / perHour) * HOUR_MS);
}

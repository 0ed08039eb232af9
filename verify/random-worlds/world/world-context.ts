/** What all planners of events of a random world share. */
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import type { Random } from '../../../simulator/base/random.ts';
import type { World } from '../../../simulator/world.ts';
import type { Fleet } from './fleet.ts';
import type { WorldPlan } from './plan.ts';

/** What the planners of events need: the world, its plan, its pools and a random source. */
export type WorldContext = {
  readonly world: World;
  readonly plan: WorldPlan;
  readonly fleet: Fleet;
  readonly random: Random;
  /** Called with a line for each event. */
  readonly print: (line: string) => void;
};

/** Milliseconds until the next event, exponentially distributed with `perHour` events an hour. */
export function untilNextMs(random: Random, perHour: number): number {
  return Math.round((-Math.log(1 - random.next()) / perHour) * HOUR_MS);
}

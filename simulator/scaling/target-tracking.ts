/**
 * Target tracking of Application Auto Scaling: once a minute it sets the desired count of a service
 * so that half of its tasks are in use, within its bounds. It knows no jobs and asks nobody.
 */
import type { EcsModel } from '../ecs/model.ts';

const EVERY_MS = 60_000;
const TARGET = 0.5;

export type TargetTracking = {
  readonly service: string;
  readonly min: number;
  readonly max: number;
  /** How many of its tasks are in use now. */
  readonly inUse: () => number;
};

export function trackTarget(model: EcsModel, { service, min, max, inUse }: TargetTracking): void {
  model.scalableTargets.set(service, { min, max });
  const track = (): void => {
    const count = Math.min(max, Math.max(min, Math.ceil(inUse() / TARGET)));
    model.setDesiredCount(service, count);
    model.timeline.after(EVERY_MS, track);
  };
  model.timeline.after(EVERY_MS, track);
}

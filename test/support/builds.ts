/** Submits builds to a lab, and expects that they end well. */
import { expect } from 'vitest';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import type { Lab } from './lab.ts';

type InWorld = Pick<Lab, 'world'>;

/** Submits builds, with the minutes that each of them runs. */
export function submit(
  { world }: InWorld,
  count: number,
  minutes: (index: number) => number,
  tags: Tags = {},
): void {
  for (let index = 0; index < count; index++)
    world.coderd.submitJob({ organization: 'default', tags, durationMs: minutes(index) * MINUTE_MS });
}

/** Expects that all builds succeeded and none was killed. */
export function expectNoHarm({ world }: InWorld): void {
  expect(world.coderd.jobs().filter(({ status }) => status !== 'succeeded')).toEqual([]);
  expect(world.figures().killed).toBe(0);
}

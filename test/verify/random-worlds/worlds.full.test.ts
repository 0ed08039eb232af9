import { expect, it } from 'vitest';
import { runWorlds } from '../../../verify/random-worlds/worlds.ts';

/** Its first world is not enough for so many leaves, its second one is. */
const GIVEN = { seed: 54, leaves: 150 };

it('runs the same worlds, in their order, with one thread and with two', async () => {
  const alone = await runWorlds(GIVEN);
  expect(alone).toHaveLength(2);
  expect(await runWorlds({ ...GIVEN, workers: 2 })).toEqual(alone);
});

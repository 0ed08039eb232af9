import { expect, it } from 'vitest';
import { runWorld } from '../../../proof/random-worlds/run-world.ts';
import { planOf } from '../../../proof/random-worlds/world/quiet.ts';
import { runRequest } from '../../../proof/random-worlds/worlds.ts';
import { startWorkerPool } from '../../../world/base/worker-pool.ts';

/** A short world, in which many looks end between two calls and some calls are slow. */
const SEED = 2324;
/** Another short world. */
const OTHER = 454;

const requestOf = (seed: number) => ({ seed, isUnguarded: false, isQuiet: false, hasTwin: false });

it('plays a world the same alone, after another one, and on one and two threads', async () => {
  const alone = await runRequest(requestOf(SEED));
  expect(alone.digest).toMatch(/^[0-9a-f]{16}$/);
  const other = await runRequest(requestOf(OTHER));
  expect(other.digest).not.toBe(alone.digest);
  const module = import.meta.resolve('../../../proof/random-worlds/worlds.ts');
  const pool = startWorkerPool({
    module,
    handle: (request: ReturnType<typeof requestOf>) => runRequest(request),
    threads: 2,
    describe: ({ seed }) => `${seed}`,
  });
  try {
    const seeds = [SEED, OTHER, SEED, SEED];
    const again = await Promise.all(seeds.map((seed) => pool.run(requestOf(seed))));
    expect(again).toEqual([alone, other, alone, alone]);
  } finally {
    await pool.close();
  }
  expect(await runRequest(requestOf(SEED))).toEqual(alone);
});

it('plays a world the same however fast real time runs, and whatever real chance draws', async () => {
  const played = () => runWorld(planOf(SEED, false));
  const usual = await played();
  expect(await inOtherTime(played)).toEqual(usual);
});

/** Acts while timers end at once, signals have timed out, clocks jump, and chance always draws the same. */
async function inOtherTime<T>(act: () => Promise<T>): Promise<T> {
  const { setTimeout, AbortSignal } = globalThis;
  const real = { timeout: AbortSignal.timeout, dateNow: Date.now, random: Math.random };
  let days = 0;
  globalThis.setTimeout = ((end: () => void) => setTimeout(end, 0)) as unknown as typeof setTimeout;
  AbortSignal.timeout = () => AbortSignal.abort();
  Date.now = () => ++days * 86_400_000;
  Math.random = () => 0.5;
  try {
    return await act();
  } finally {
    globalThis.setTimeout = setTimeout;
    AbortSignal.timeout = real.timeout;
    Date.now = real.dateNow;
    Math.random = real.random;
  }
}

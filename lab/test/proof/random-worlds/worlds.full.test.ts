import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runWorlds } from '../../../proof/random-worlds/worlds.ts';

/** Its first world is not enough for so many leaves, its second one is. */
const GIVEN = { seed: 54, leaves: 150 };

/** Its first world is short. */
const SHORT_SEED = 45;
/** A short world. */
const SMALL_WORLD = 2;

it('runs the same worlds, in their order, with one thread and with two', async () => {
  const alone = await runWorlds(GIVEN);
  expect(alone).toHaveLength(2);
  expect(await runWorlds({ ...GIVEN, workers: 2 })).toEqual(alone);
});

describe('npm run sim:leaves', () => {
  it('finds and describes builds killed by a scale-in when tasks have no guard, and prints how to run that world alone', async () => {
    const { code, stdout } = await main('--world', `${SMALL_WORLD}`, '--no-guards', '--json');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /task [0-9a-f]{32} of pool "[a-z-]+" was killed at .*: ServiceSchedulerInitiated[\s\S]*desired STOPPED/,
    );
    expect(stdout).toContain('the world does not settle');
    expect(stdout).toContain(`npm run sim:leaves -- --world ${SMALL_WORLD} --no-guards`);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '').killedByUs).toBeGreaterThan(0);
  });

  it('exits with 0 when nothing is wrong, and prints the figures on the last line', async () => {
    const { code, stdout } = await main('--leaves', '1', '--seed', `${SHORT_SEED}`, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      ...{ killedByUs: 0, worlds: 1, heldWorlds: 0, seed: SHORT_SEED },
      watched: { countsAboveMax: 0, launches: expect.any(Number) },
    });
  });
});

const MAIN = fileURLToPath(new URL('../../../proof/random-worlds/main.ts', import.meta.url));

function main(
  ...args: readonly string[]
): Promise<{ readonly code: number | undefined; readonly stdout: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...args], { maxBuffer: 2 ** 26 }, (_, stdout) =>
      resolve({ code: child.exitCode ?? undefined, stdout }),
    );
  });
}

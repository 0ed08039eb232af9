/**
 * Daemons that exit just when the guard stops waiting for their start, with and without a signal at
 * that moment. `npm run race` runs 1,000 of them in each shell.
 */
import { describe, expect } from 'vitest';
import { IS_FULL } from '../support/runs.ts';
import { GUARD_SHELLS, guardTest, type Shell, type StartGuard } from './running-guard.ts';

const RUNS = Number(process.env.GUARD_RACE_RUNS ?? (IS_FULL ? 16 : 8));
const AT_ONCE = 8;
const SETTLE_MS = 30;

describe.each(GUARD_SHELLS)('a daemon that dies as it settles, under $name', ({ isMissing, ...shell }) => {
  guardTest.skipIf(isMissing)(
    'never prevents its guard from exiting',
    async ({ start }) => {
      const ends: string[] = [];
      const runs = Array.from({ length: RUNS }, (_, run) => run).values();
      const worker = async () => {
        for (const run of runs) ends.push(await endOf(run, shell, start));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      expect(ends.filter((end) => end !== 'right')).toEqual([]);
      expect(ends).toHaveLength(RUNS);
    },
    60_000 + 200 * RUNS,
  );
});

/**
 * Runs a guard whose daemon lives slightly longer or shorter than SETTLE. Returns `right`, or its
 * wrong exit code.
 */
async function endOf(run: number, shell: Shell, start: StartGuard): Promise<string> {
  const lifeMs = SETTLE_MS - 12 + (run % 24);
  const isStopped = run % 2 === 1;
  const guard = await start({
    shell,
    daemon: ['sh', '-c', `sleep 0.0${lifeMs}; ${isStopped ? 'kill "$PPID"; ' : ''}exit 7`],
    intervalsMs: { SETTLE: SETTLE_MS, DIED: 0 },
  });
  await guard.trace.until('exit');
  await guard.cleanUp();
  const end = guard.trace.having('exit').join();
  // after a signal the daemon ends with its own code or by the signal. bash may lose both, and
  // report its last signal
  const codes = isStopped
    ? ['exit 7', 'exit 143', ...(shell.name === 'bash' ? ['exit 140'] : [])]
    : ['exit 7'];
  return codes.includes(end) ? 'right' : end;
}

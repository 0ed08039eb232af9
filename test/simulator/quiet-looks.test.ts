/** Whether a replay may leave out looks that change nothing. */
import { describe, expect, it } from 'vitest';
import type { TraceJob } from '../../backtest/trace/trace.ts';
import { aDeployment, aTrace, aTraceJob, atSecond, runOurs } from '../backtest/support.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Builds alone, together and in a row, and builds that coderd makes. */
const JOBS: readonly TraceJob[] = [
  aTraceJob({ at: atSecond(7 * MINUTE) }),
  ...[1, 2, 3].map((second) => aTraceJob({ at: atSecond(HOUR + second), seconds: 95 })),
  ...[0, 4, 9, 30].map((minute) => aTraceJob({ at: atSecond(2 * HOUR + minute * MINUTE), seconds: 40 })),
  aTraceJob({ at: atSecond(3.5 * HOUR), kind: 'autostart' }),
  aTraceJob({ at: atSecond(4 * HOUR + 20), seconds: 300 }),
  aTraceJob({ at: atSecond(4.4 * HOUR), kind: 'autostop', seconds: 30 }),
];

async function replay(person: number, leavesOutLooks: boolean) {
  let made = 0;
  const { figures, days, peopleWait } = await runOurs({
    trace: aTrace({ to: atSecond(5 * HOUR), jobs: JOBS }),
    config: aDeployment([{ min: 0, max: 5, waiting: { person } }]),
    leavesOutLooks,
    onLook: () => made++,
  });
  const { calls, ...others } = figures;
  return { made, looks: calls.ticks, result: { ...others, days, peopleWait } };
}

describe('a replay without the looks that change nothing', () => {
  it('has the same result as one with all looks', async () => {
    const [quick, whole] = [await replay(0.02, true), await replay(0.02, false)];
    expect(quick.result).toEqual(whole.result);
    expect(Math.abs(quick.looks / whole.looks - 1)).toBeLessThan(0.02);
    expect(quick.made).toBeLessThan(whole.made / 2);
  });
});

/** The fields of the log event of a started job. */
import { expect, it } from 'vitest';
import type { IsoTime } from '../../../lambda/decision/model/plan.ts';
import { waitLine } from '../../../lambda/look/waits/wait-line.ts';
import { waitMetrics } from '../../../lambda/telemetry/look-metrics.ts';
import { ago, jobId, MINUTE, NOW, poolName, SECOND } from '../../support/parts.ts';

const WAIT = {
  ...{ id: jobId('a'), organization: 'default', pool: poolName('cpu'), task: null, type: 'workspace_build' },
  ...{ createdAt: ago(MINUTE), startedAt: NOW, waitMs: MINUTE, parts: {} },
};
const time = (ms: number): IsoTime => new Date(ms).toISOString() as IsoTime;

it('has what was promised as the two waits from the submission: p50 first, then p95', () => {
  const [p50, p95] = [ago(20 * SECOND), ago(-30 * SECOND)].map(time) as [IsoTime, IsoTime];
  const line = waitLine({ ...WAIT, promised: { p50, p95 } as never });
  expect(line).toEqual({
    ...{ id: 'a', pool: 'cpu', startedAt: time(NOW), waitMs: MINUTE },
    pools: [{ name: 'cpu', waitMs: MINUTE }],
    ...{ promisedFromMs: 40 * SECOND, promisedToMs: 90 * SECOND },
  });
});

it('has no promise that no look made, and no part that is unknown', () => {
  const line = waitLine({ ...WAIT, task: 'task-id', parts: { queue: undefined } as never });
  expect(line).toEqual({
    ...{ id: 'a', pool: 'cpu', task: 'task-id', startedAt: time(NOW), waitMs: MINUTE },
    pools: [{ name: 'cpu', waitMs: MINUTE }],
  });
});

it('gives the metrics of waits in seconds, the sums of all jobs, and none that is zero', () => {
  const waits = [
    { ...WAIT, parts: { notNoticed: 9 * SECOND, held: SECOND, queued: 500 } },
    { ...WAIT, parts: { launching: 2 * SECOND, imagePull: 0 } },
  ];
  expect(waitMetrics(waits)).toEqual({ WaitForLaunch: 12, WaitInQueue: 0.5 });
});

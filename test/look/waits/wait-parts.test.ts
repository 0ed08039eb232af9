import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import {
  addParts,
  type ServingTask,
  splitWait,
  type WaitParts,
} from '../../../lambda/look/waits/wait-parts.ts';
import { runs } from '../../support/runs.ts';

const at = (seconds: number): EpochMs => (1_800_000_000_000 + seconds * 1000) as EpochMs;
const optional = (seconds: number | undefined): EpochMs | undefined =>
  seconds === undefined ? undefined : at(seconds);

type Row = {
  readonly scenario: string;
  /** Seconds: request, creation, pull from, pull to, running, daemon. */
  readonly times: readonly (number | undefined)[];
  readonly noticed?: number;
  readonly wait: readonly [from: number, to: number];
  /** Seconds. */
  readonly expected: Readonly<Record<string, number>>;
};

const ROWS: readonly Row[] = [
  {
    scenario: 'a task that was launched for the job',
    times: [10, 12, 20, 50, 55, 60],
    noticed: 10,
    wait: [0, 61],
    expected: {
      notNoticed: 10,
      launching: 2,
      provisioning: 8,
      imagePull: 30,
      containerStart: 5,
      registration: 5,
      queued: 1,
    },
  },
  {
    scenario: 'a job that was seen long before a limit allowed the launch',
    times: [100, 101, 102, 103, 104, 105],
    noticed: 5,
    wait: [0, 105],
    expected: {
      notNoticed: 5,
      held: 95,
      launching: 1,
      provisioning: 1,
      imagePull: 1,
      containerStart: 1,
      registration: 1,
    },
  },
  {
    scenario: 'a task of another process',
    times: [undefined, 12, 20, 50, 55, 60],
    noticed: 3,
    wait: [0, 60],
    expected: { notLaunched: 12, provisioning: 8, imagePull: 30, containerStart: 5, registration: 5 },
  },
  {
    scenario: 'a job that comes in the middle of the pull',
    times: [0, 1, 10, 50, 55, 60],
    wait: [30, 60],
    expected: { imagePull: 20, containerStart: 5, registration: 5 },
  },
  {
    scenario: 'a daemon that was registered before and had other jobs',
    times: [0, 1, 2, 3, 4, 5],
    wait: [100, 160],
    expected: { queued: 60 },
  },
  {
    scenario: 'a job that a free daemon took at once',
    times: [0, 1, 2, 3, 4, 5],
    wait: [100, 100],
    expected: {},
  },
  {
    scenario: 'a task whose pull ECS does not tell',
    times: [0, 10, undefined, undefined, 50, 60],
    wait: [0, 60],
    expected: { launching: 10, unknown: 40, registration: 10 },
  },
  {
    scenario: 'a daemon whose task ECS has forgotten',
    times: [undefined, undefined, undefined, undefined, undefined, 40],
    wait: [0, 60],
    expected: { unknown: 40, queued: 20 },
  },
  {
    scenario: 'a daemon that coderd no longer lists',
    times: [undefined, 10, 20, 30, 40, undefined],
    wait: [0, 60],
    expected: { notLaunched: 10, provisioning: 10, imagePull: 10, containerStart: 10, unknown: 20 },
  },
  {
    scenario: 'a row of coderd that a daemon of an earlier task with the same address made',
    times: [undefined, 1000, 1010, 1020, 1030, 5],
    wait: [990, 1050],
    expected: { notLaunched: 10, provisioning: 10, imagePull: 10, containerStart: 10, unknown: 20 },
  },
  {
    scenario: 'a task that was requested before a look saw the job',
    times: [5, 30, 31, 32, 33, 34],
    noticed: 20,
    wait: [0, 34],
    expected: {
      notNoticed: 5,
      launching: 25,
      provisioning: 1,
      imagePull: 1,
      containerStart: 1,
      registration: 1,
    },
  },
  {
    scenario: "clocks that differ: AWS's times are after the start",
    times: [0, 70, 80, 90, 95, 60],
    wait: [10, 60],
    expected: { launching: 50 },
  },
  { scenario: 'a start before the creation', times: [0, 1, 2, 3, 4, 5], wait: [10, 8], expected: {} },
];

function served({ times, noticed }: Pick<Row, 'times' | 'noticed'>): ServingTask {
  const [requestedAt, createdAt, pullStartedAt, pullStoppedAt, startedAt, daemon] = times.map(optional);
  return {
    requestedAt,
    noticedAt: optional(noticed),
    task: { createdAt, pullStartedAt, pullStoppedAt, startedAt },
    daemon: daemon === undefined ? undefined : { created_at: daemon },
  };
}

const secondsOf = (parts: WaitParts) =>
  Object.fromEntries(Object.entries(parts).map(([part, ms]) => [part, ms / 1000]));

describe('splitWait', () => {
  it.each(ROWS)('splits the wait for $scenario', (row) => {
    const [from, to] = row.wait;
    const parts = splitWait({ createdAt: at(from), startedAt: at(to) }, served(row));
    expect(secondsOf(parts)).toEqual(row.expected);
  });

  it('has parts that add up to the wait, whatever times are missing or out of order', () => {
    const time = fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined });
    const ms = (value: number | undefined) => (value === undefined ? undefined : (value as EpochMs));
    fc.assert(
      fc.property(
        fc.tuple(time, time, time, time, time, time, time),
        fc.nat(100_000),
        fc.nat(100_000),
        (times, from, waitMs) => {
          const [requestedAt, createdAt, pullStartedAt, pullStoppedAt, startedAt, daemon, noticedAt] =
            times.map(ms);
          const parts = splitWait(
            { createdAt: from as EpochMs, startedAt: (from + waitMs) as EpochMs },
            {
              ...{ requestedAt, noticedAt, task: { createdAt, pullStartedAt, pullStoppedAt, startedAt } },
              daemon: daemon === undefined ? undefined : { created_at: daemon },
            },
          );
          const values = Object.values(parts);
          expect(values.every((value) => value > 0)).toBe(true);
          expect(values.reduce((all, value) => all + value, 0)).toBe(waitMs);
        },
      ),
      runs(2_000),
    );
  });
});

describe('addParts', () => {
  it('adds each part up, and leaves parts of zero out', () => {
    expect(addParts([{ queued: 1, imagePull: 2 }, { queued: 3 }, {}])).toEqual({ imagePull: 2, queued: 4 });
  });
});

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
import { table } from '../../support/table.ts';

const at = (seconds: number): EpochMs => (1_800_000_000_000 + seconds * 1000) as EpochMs;
const optional = (seconds: number | undefined): EpochMs | undefined =>
  seconds === undefined ? undefined : at(seconds);

type Row = {
  /** Seconds: request, creation, pull from, pull to, running, daemon. */
  readonly times: string;
  readonly noticed?: number;
  /** Seconds: from and to. */
  readonly wait: string;
  readonly expected?: string;
  readonly scenario: string;
};

const ROWS = table<Row>`
  times                      | noticed | wait     | expected | scenario
  10 12 20 50 55 60          | 10      | 0 61     | notNoticed 10, launching 2, provisioning 8, imagePull 30, containerStart 5, registration 5, queued 1 | a task that was launched for the job
  100 101 102 103 104 105    | 5       | 0 105    | notNoticed 5, held 95, launching 1, provisioning 1, imagePull 1, containerStart 1, registration 1 | a job that was seen long before a limit allowed the launch
  - 12 20 50 55 60           | 3       | 0 60     | notLaunched 12, provisioning 8, imagePull 30, containerStart 5, registration 5 | a task of another process
  0 1 10 50 55 60            |         | 30 60    | imagePull 20, containerStart 5, registration 5 | a job that comes in the middle of the pull
  0 1 2 3 4 5                |         | 100 160  | queued 60 | a daemon that was registered before and had other jobs
  0 1 2 3 4 5                |         | 100 100  |  | a job that a free daemon took at once
  0 10 - - 50 60             |         | 0 60     | launching 10, unknown 40, registration 10 | a task whose pull ECS does not tell
  - - - - - 40               |         | 0 60     | unknown 40, queued 20 | a daemon whose task ECS has forgotten
  - 10 20 30 40 -            |         | 0 60     | notLaunched 10, provisioning 10, imagePull 10, containerStart 10, unknown 20 | a daemon that coderd no longer lists
  - 1000 1010 1020 1030 5    |         | 990 1050 | notLaunched 10, provisioning 10, imagePull 10, containerStart 10, unknown 20 | a row of coderd that a daemon of an earlier task with the same address made
  5 30 31 32 33 34           | 20      | 0 34     | notNoticed 5, launching 25, provisioning 1, imagePull 1, containerStart 1, registration 1 | a task that was requested before a look saw the job
  0 70 80 90 95 60           |         | 10 60    | launching 50 | clocks that differ: AWS's times are after the start
  0 1 2 3 4 5                |         | 10 8     |  | a start before the creation
`;

function served({ times, noticed }: Pick<Row, 'times' | 'noticed'>): ServingTask {
  const [requestedAt, createdAt, pullStartedAt, pullStoppedAt, startedAt, daemon] = times
    .split(' ')
    .map((time) => optional(time === '-' ? undefined : Number(time)));
  return {
    requestedAt,
    noticedAt: optional(noticed),
    task: startedAt === undefined ? undefined : { createdAt, pullStartedAt, pullStoppedAt, startedAt },
    daemon: daemon === undefined ? undefined : { created_at: daemon },
  };
}

const inSeconds = (parts: WaitParts): string =>
  Object.entries(parts)
    .map(([part, ms]) => `${part} ${ms / 1000}`)
    .join(', ');

describe('splitWait', () => {
  it.each(ROWS)('splits the wait for $scenario', (row) => {
    const [from = 0, to = 0] = row.wait.split(' ').map(Number);
    const parts = splitWait({ createdAt: at(from), startedAt: at(to) }, served(row));
    expect(inSeconds(parts)).toBe(row.expected ?? '');
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

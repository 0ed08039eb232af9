/** The reapers of jobs (docs/internals/coder.md §5). */
import { describe, expect, it } from 'vitest';
import { coderdWorld, MINUTE, SECOND, START } from './coderd-fixture.ts';

const ENDED = 'minutes and has been terminated by';

describe('the reaper of hung jobs', () => {
  /** A daemon gets a job at once; its websocket closes later. */
  function hung(closedAt: number, version = 'v2.30.0') {
    const world = coderdWorld({ version });
    const id = world.submit();
    const connection = world.connect('one');
    connection.acquire(() => {});
    world.at(closedAt);
    connection.close();
    return { ...world, id };
  }

  it.each([
    { closedAt: 12 * MINUTE + 30 * SECOND, minute: 18, because: '5 min end between two runs' },
    { closedAt: 0, minute: 6, because: 'exactly 5 min are not more than 5 min' },
  ])(
    'fails a job in minute $minute if no update came since $closedAt ms: $because',
    ({ closedAt, minute }) => {
      const { model, at, statuses } = hung(closedAt);
      at(minute * MINUTE - 1);
      expect(statuses()).toEqual(['running']);
      at(minute * MINUTE);
      const error = `Coder: Build has been detected as hung for 5 ${ENDED} the reaper.`;
      expect(model.jobs()).toMatchObject([
        { status: 'failed', failedBy: 'hung-reaper', completedAt: START + minute * MINUTE, error },
      ]);
    },
  );

  it('leaves a job of hours alone while its websocket is open', () => {
    const { connect, submit, at, statuses } = coderdWorld();
    submit();
    connect('one').acquire(() => {});
    at(600 * MINUTE);
    expect(statuses()).toEqual(['running']);
  });

  it('fails the job although another daemon of the same name asks for a job', () => {
    const { connect, at, statuses } = hung(0);
    at(2 * MINUTE);
    connect('one').acquire(() => {});
    at(6 * MINUTE);
    expect(statuses()).toEqual(['failed']);
  });

  it('makes coderd refuse the late end of a job, and is the hang detector before 2.23', () => {
    const { connect, id, model, at } = hung(0, 'v2.22.0');
    at(7 * MINUTE);
    connect('one').complete(id, 'succeeded');
    const error = `Coder: Build has been detected as hung for 5 ${ENDED} hang detector.`;
    expect(model.jobs()).toMatchObject([{ status: 'failed', error }]);
  });
});

describe('the reaper of pending jobs', () => {
  it('fails a job at the first minute more than 30 min after its creation, and no daemon gets it then', () => {
    const { model, connect, submit, at, statuses } = coderdWorld();
    at(30 * SECOND);
    submit();
    at(31 * MINUTE - 1);
    expect(statuses()).toEqual(['pending']);
    at(31 * MINUTE);
    const end = START + 31 * MINUTE;
    const error = `Coder: Build has been detected as pending for 30 ${ENDED} the reaper.`;
    expect(model.jobs()).toMatchObject([
      {
        status: 'failed',
        failedBy: 'pending-reaper',
        workerId: undefined,
        startedAt: end,
        completedAt: end,
        error,
      },
    ]);
    connect('one').acquire(() => expect.unreachable());
  });

  it('does not exist before 2.23', () => {
    const { submit, at, statuses } = coderdWorld({ version: 'v2.22.0' });
    submit();
    at(300 * MINUTE);
    expect(statuses()).toEqual(['pending']);
  });

  it.each([
    { replicas: 1, jobs: 40, failed: [10, 20] },
    { replicas: 3, jobs: 40, failed: [30, 40] },
  ])('fails $failed of $jobs jobs in two minutes if coderd has $replicas', ({ replicas, jobs, failed }) => {
    const { submit, at, statuses } = coderdWorld({ replicas });
    for (let n = 0; n < jobs; n++) submit();
    const seen = [31, 32].map((minute) => {
      at(minute * MINUTE);
      return statuses().filter((status) => status === 'failed').length;
    });
    expect(seen).toEqual(failed);
  });

  it('fails at most 10 jobs a run, with the hung ones', () => {
    const { submit, connect, at, statuses } = coderdWorld();
    for (let n = 0; n < 12; n++) submit();
    at(25 * MINUTE + 1);
    for (let n = 0; n < 6; n++) {
      const connection = connect(`daemon-${n}`);
      connection.acquire(() => {});
      connection.close();
    }
    const failed = () => statuses().filter((status) => status === 'failed').length;
    at(31 * MINUTE);
    expect(failed()).toBe(10);
    at(32 * MINUTE);
    expect(failed()).toBe(12);
  });
});

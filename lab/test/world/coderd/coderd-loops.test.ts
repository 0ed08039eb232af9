import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { MINUTE_MS as MINUTE, SECOND_MS as SECOND } from '../../../../lambda/decision/model/units.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { CoderdModel, type CoderdOptions } from '../../../world/coderd/model.ts';

const START = Date.parse('2026-11-20T09:00:00Z') as EpochMs;

function world(options: Partial<CoderdOptions> = {}) {
  const timeline = new Timeline(START);
  const model = new CoderdModel({
    timeline,
    random: new Random(1),
    organizations: ['default', 'data'],
    ...options,
  });
  const connect = (name: string, tags: Tags = {}, organization = 'default') =>
    model.connect({
      key: model.addKey({ organization, name: `${name}-${timeline.now()}`, tags }),
      name,
      version: 'v2.15.0',
    });
  const submit = () => model.submitJob({ organization: 'default', tags: {}, durationMs: MINUTE });
  const at = (ms: number): void => timeline.advanceTo((START + ms) as EpochMs);
  const statuses = () => model.jobs().map(({ status }) => status);
  return { model, connect, submit, at, statuses };
}

describe('the reaper of hung jobs', () => {
  it('fails a killed job at the first minute more than 5 min after its last update', () => {
    const { model, connect, submit, at } = world();
    const connection = connect('one');
    submit();
    connection.acquire(() => {});
    at(12 * MINUTE + 30 * SECOND);
    connection.close();
    at(18 * MINUTE - 1);
    expect(model.jobs()).toMatchObject([{ status: 'running' }]);
    at(18 * MINUTE);
    expect(model.jobs()).toMatchObject([
      {
        status: 'failed',
        failedBy: 'hung-reaper',
        completedAt: START + 18 * MINUTE,
        error: 'Coder: Build has been detected as hung for 5 minutes and has been terminated by the reaper.',
      },
    ]);
  });

  it('does not fail a job after exactly 5 min', () => {
    const { connect, submit, at, statuses } = world();
    const connection = connect('one');
    submit();
    connection.acquire(() => {});
    connection.close();
    at(5 * MINUTE);
    expect(statuses()).toEqual(['running']);
    at(6 * MINUTE);
    expect(statuses()).toEqual(['failed']);
  });

  it('does not fail a job of hours while its websocket is open', () => {
    const { connect, submit, at, statuses } = world();
    submit();
    connect('one').acquire(() => {});
    at(600 * MINUTE);
    expect(statuses()).toEqual(['running']);
  });

  it('fails the job although another daemon of the same name asks for a job', () => {
    const { connect, submit, at, statuses } = world();
    submit();
    const killed = connect('one');
    killed.acquire(() => {});
    killed.close();
    at(2 * MINUTE);
    connect('one').acquire(() => {});
    at(6 * MINUTE);
    expect(statuses()).toEqual(['failed']);
  });

  it('calls itself the hang detector before 2.23', () => {
    const { model, connect, submit, at } = world({ version: 'v2.22.0' });
    submit();
    const connection = connect('one');
    connection.acquire(() => {});
    connection.close();
    at(7 * MINUTE);
    expect(model.jobs()).toMatchObject([
      {
        error:
          'Coder: Build has been detected as hung for 5 minutes and has been terminated by hang detector.',
      },
    ]);
  });

  it('fails at most 10 jobs a run', () => {
    const { connect, submit, at, statuses } = world();
    for (let n = 0; n < 15; n++) {
      const connection = connect(`daemon-${n}`);
      submit();
      connection.acquire(() => {});
      connection.close();
    }
    const failed = () => statuses().filter((status) => status === 'failed').length;
    at(6 * MINUTE);
    expect(failed()).toBe(10);
    at(7 * MINUTE);
    expect(failed()).toBe(15);
  });

  it('makes coderd refuse the late end of a job that it has failed', () => {
    const { model, connect, submit, at } = world();
    const id = submit();
    const connection = connect('one');
    connection.acquire(() => {});
    connection.close();
    at(7 * MINUTE);
    connect('one').complete(id, 'succeeded');
    expect(model.jobs()).toMatchObject([{ status: 'failed', failedBy: 'hung-reaper' }]);
  });
});

describe('the reaper of pending jobs', () => {
  it('fails a job at the first minute more than 30 min after its creation, and no daemon gets it afterwards', () => {
    const { model, connect, submit, at } = world();
    at(30 * SECOND);
    submit();
    at(31 * MINUTE - 1);
    expect(model.jobs()).toMatchObject([{ status: 'pending' }]);
    at(31 * MINUTE);
    expect(model.jobs()).toMatchObject([
      {
        status: 'failed',
        failedBy: 'pending-reaper',
        workerId: undefined,
        startedAt: START + 31 * MINUTE,
        completedAt: START + 31 * MINUTE,
        error:
          'Coder: Build has been detected as pending for 30 minutes and has been terminated by the reaper.',
      },
    ]);
    connect('one').acquire(() => expect.unreachable());
  });

  it('does not exist before 2.23', () => {
    const { submit, at, statuses } = world({ version: 'v2.22.0' });
    submit();
    at(300 * MINUTE);
    expect(statuses()).toEqual(['pending']);
  });

  it('shares the limit of 10 jobs a run with the reaper of hung jobs', () => {
    const { submit, at, statuses } = world();
    for (let n = 0; n < 12; n++) submit();
    at(31 * MINUTE);
    expect(statuses().filter((status) => status === 'failed')).toHaveLength(10);
    at(32 * MINUTE);
    expect(statuses().filter((status) => status === 'failed')).toHaveLength(12);
  });
});

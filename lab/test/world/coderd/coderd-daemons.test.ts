import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import {
  DAY_MS as DAY,
  MINUTE_MS as MINUTE,
  SECOND_MS as SECOND,
} from '../../../../lambda/decision/model/units.ts';
import { ConnectionRefused } from '../../../world/base/daemon-connection.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { CoderdModel, type CoderdOptions } from '../../../world/coderd/model.ts';

const START = Date.parse('2026-11-20T09:00:00Z') as EpochMs;
const VERSION = 'v2.30.0';

function world(options: Partial<CoderdOptions> = {}) {
  const timeline = new Timeline(START);
  const model = new CoderdModel({ timeline, random: new Random(1), organizations: ['default'], ...options });
  const key = model.addKey({ organization: 'default', name: 'pool', tags: {} });
  const connect = (name: string, given = key) => model.connect({ key: given, name, version: 'v2.19.0' });
  const submit = () => model.submitJob({ organization: 'default', tags: {}, durationMs: MINUTE });
  const later = (ms: number): void => timeline.advanceTo((timeline.now() + ms) as EpochMs);
  const list = () =>
    model.listDaemons({
      organizationId: model.organizationId('default'),
      limit: 0,
      ids: [],
      tags: {},
      offline: true,
      statuses: [],
      maxAgeMs: 0,
    });
  return { timeline, model, key, connect, submit, later, list, status: () => list()[0]?.status };
}

function refusal(run: () => unknown): number | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof ConnectionRefused) return error.status;
    throw error;
  }
  return undefined;
}

describe('the registration of a daemon', () => {
  const rows = [
    { given: { key: 'x'.repeat(43) }, status: 401, because: 'the key is unknown' },
    { given: { key: 'short' }, status: 400, because: 'no key has this length' },
    { given: { name: 'under_score' }, status: 400, because: 'names have no underscore' },
    { given: { name: 'a'.repeat(64) }, status: 400, because: 'names have at most 63 characters' },
    { given: { version: 'v2.31.1' }, status: 400, because: "its API is newer than the server's" },
    { given: { version: 'v2.31.0' }, status: undefined, because: 'its API version equals that of 2.30' },
    { given: { name: 'a'.repeat(63) }, status: undefined, because: '63 characters are allowed' },
    { given: { version: 'v2.29.4' }, status: undefined, because: 'older daemons are accepted' },
  ];
  it.each(rows)('gives status $status: $because', ({ given, status }) => {
    const { model, key } = world();
    expect(refusal(() => model.connect({ key, name: 'one', version: VERSION, ...given }))).toBe(status);
  });

  it('gives status 403 without a licence', () => {
    const { model, key } = world({ licensed: false });
    expect(refusal(() => model.connect({ key, name: 'one', version: VERSION }))).toBe(403);
  });

  it('writes no row for a refused daemon', () => {
    const { model, connect } = world({ licensed: false });
    expect(() => connect('one')).toThrow();
    expect(model.daemons()).toEqual([]);
  });
});

describe('provisioner keys', () => {
  it('have unique secrets of 43 letters and digits', () => {
    const { model } = world();
    const secrets = Array.from({ length: 50 }, (_, n) =>
      model.addKey({ organization: 'default', name: `k${n}`, tags: {} }),
    );
    for (const secret of secrets) expect(secret).toMatch(/^[A-Za-z0-9]{43}$/);
    expect(new Set(secrets).size).toBe(50);
  });

  const refused = [
    { name: 'pool', status: 409, because: 'it exists' },
    { name: '', status: 400, because: 'it is empty' },
    { name: 'ä'.repeat(33), status: 400, because: 'it has more than 64 bytes' },
    { name: 'Built-In', status: 400, because: 'it is reserved' },
    { name: 'user-auth', status: 400, because: 'it is reserved' },
    { name: 'psk', status: 400, because: 'it is reserved' },
  ];
  it.each(refused)('are refused with status $status for the name "$name": $because', ({ name, status }) => {
    const { model } = world();
    expect(() => model.addKey({ organization: 'default', name, tags: {} })).toThrow(
      expect.objectContaining({ status }),
    );
  });

  it('are refused for an unknown organization or a NUL byte in tags; unknown or reserved ones cannot be deleted', () => {
    const { model } = world();
    const status = (value: number) => expect.objectContaining({ status: value });
    expect(() => model.addKey({ organization: 'x', name: 'k', tags: {} })).toThrow(status(404));
    expect(() => model.addKey({ organization: 'default', name: 'k', tags: { a: '\0' } })).toThrow(
      status(500),
    );
    expect(() => model.deleteKey('default', 'other')).toThrow(status(404));
    expect(() => model.deleteKey('default', 'psk')).toThrow(status(400));
  });

  it('lose their daemon rows when deleted, and admit no daemon afterwards', () => {
    const { model, connect } = world();
    connect('one');
    model.deleteKey('default', 'pool');
    expect(model.daemons()).toEqual([]);
    expect(refusal(() => connect('one'))).toBe(401);
  });

  it('leave sessions working without a row when deleted, up to 2.36', () => {
    const { model, connect, submit, later } = world({ version: 'v2.36.0' });
    const connection = connect('one');
    connection.acquire(() => {});
    model.deleteKey('default', 'pool');
    const id = submit();
    later(10 * MINUTE);
    expect(model.jobs()).toMatchObject([{ id, status: 'running', workerId: connection.id }]);
    expect(model.daemons()).toEqual([]);
  });

  it('close sessions when deleted after 2.36, busy ones after their job', () => {
    const { model, connect, submit } = world({ version: 'v2.37.0' });
    const [busy, idle] = [connect('busy'), connect('idle')];
    const first = submit();
    busy.acquire(() => {});
    idle.acquire(() => expect.unreachable('an idle session of a deleted key gets no job'));
    model.deleteKey('default', 'pool');
    submit();
    busy.complete(first, 'succeeded');
    busy.acquire(() => expect.unreachable('a session of a deleted key gets no further job'));
    expect(model.jobs().map(({ status }) => status)).toEqual(['succeeded', 'pending']);
    busy.close();
    idle.close();
  });
});

describe('the state of a daemon', () => {
  it('gets a heartbeat at once, and then every 60 s while the websocket is open', () => {
    const { model, connect, later } = world();
    const seen = () => model.daemons().map(({ lastSeenAt }) => lastSeenAt - START);
    connect('one');
    expect(seen()).toEqual([0]);
    later(59 * SECOND);
    expect(seen()).toEqual([0]);
    later(2 * MINUTE);
    expect(seen()).toEqual([2 * MINUTE]);
  });

  it.each([
    { closedAt: 0, because: 'it was just seen, so 90 s remain' },
    { closedAt: 59 * SECOND, because: 'it was seen 59 s before, so 31 s remain' },
  ])(
    'stays idle for 90 s after the last heartbeat when the websocket closes at $closedAt ms: $because',
    ({ closedAt }) => {
      const { connect, later, status } = world();
      const connection = connect('one');
      later(closedAt);
      connection.close();
      later(90 * SECOND - closedAt);
      expect(status()).toBe('idle');
      later(1);
      expect(status()).toBe('offline');
    },
  );

  it.each([
    { version: 'v2.25.3', status: 'offline', because: 'a daemon that was not seen is offline' },
    { version: 'v2.26.0', status: 'busy', because: 'a daemon with a job is busy' },
  ])('is $status in $version after the daemon died with a job: $because', ({ version, status: expected }) => {
    const { connect, submit, later, list, status } = world({ version });
    const connection = connect('one');
    const id = submit();
    connection.acquire(() => {});
    expect(status()).toBe('busy');
    connection.close();
    later(91 * SECOND);
    expect(list()).toMatchObject([
      { status: expected, current_job: { id, status: 'running' }, previous_job: null },
    ]);
  });

  it('has the job that was completed last as the previous job', () => {
    const { connect, submit, later, list } = world();
    const connection = connect('one');
    const ids = [submit(), submit()];
    for (const id of ids) {
      connection.acquire(() => {});
      later(SECOND);
      connection.complete(id, 'succeeded');
    }
    expect(list()).toMatchObject([{ status: 'idle', current_job: null, previous_job: { id: ids[1] } }]);
  });

  it('is deleted after 7 days without a heartbeat, checked every 10 min', () => {
    const { model, connect, later } = world();
    connect('gone').close();
    connect('alive');
    later(7 * DAY);
    expect(model.daemons()).toHaveLength(2);
    later(10 * MINUTE);
    expect(model.daemons().map(({ name }) => name)).toEqual(['alive']);
  });
});

describe('daemon rows', () => {
  it('are reused by name: id and creation stay, key and version change', () => {
    const { model, connect, later } = world();
    const first = connect('one');
    first.close();
    later(DAY);
    const key = model.addKey({ organization: 'default', name: 'second', tags: { env: 'a' } });
    const again = model.connect({ key, name: 'one', version: VERSION });
    expect(again.id).toBe(first.id);
    expect(model.daemons()).toMatchObject([
      { createdAt: START, lastSeenAt: START + DAY, keyName: 'second', version: VERSION, tags: { env: 'a' } },
    ]);
  });

  it('get a new id after the key was deleted, without the earlier job', () => {
    const { model, connect, submit } = world();
    const id = submit();
    const before = connect('one');
    before.acquire(() => {});
    before.close();
    model.deleteKey('default', 'pool');
    const again = connect('one', model.addKey({ organization: 'default', name: 'pool', tags: {} }));
    again.complete(id, 'succeeded');
    expect(again.id).not.toBe(before.id);
    expect(model.jobs()).toMatchObject([{ status: 'running', workerId: before.id }]);
  });

  it('are separate for each organization', () => {
    const { model, connect } = world({ organizations: ['default', 'data'] });
    const key = model.addKey({ organization: 'data', name: 'pool', tags: {} });
    expect(connect('one').id).not.toBe(connect('one', key).id);
    expect(model.daemons()).toHaveLength(2);
  });

  it('are shared by two live daemons of one name, with heartbeats and jobs of both', () => {
    const { model, connect, submit, later, list } = world();
    const [first, second] = [connect('one'), connect('one')];
    const ids = [submit(), submit()];
    first.acquire(() => {});
    second.acquire(() => {});
    expect(list().map(({ current_job }) => current_job?.id)).toEqual(expect.arrayContaining(ids));
    first.close();
    later(3 * MINUTE);
    expect(model.daemons()).toMatchObject([{ id: first.id, lastSeenAt: START + 3 * MINUTE }]);
  });

  it('keep the job of a daemon that reconnects while it runs', () => {
    const { model, connect, submit, later } = world();
    const id = submit();
    const first = connect('one');
    first.acquire(() => {});
    first.close();
    later(3 * MINUTE);
    const again = connect('one');
    later(20 * MINUTE);
    again.complete(id, 'succeeded');
    expect(model.jobs()).toMatchObject([{ status: 'succeeded', workerId: first.id }]);
  });
});

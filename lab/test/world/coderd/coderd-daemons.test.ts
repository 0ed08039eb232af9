/** Who may run a daemon, and its row (docs/internals/coder.md §2, §3, §5). */
import { describe, expect, it } from 'vitest';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { table } from '../../../../test/support/table.ts';
import { ConnectionRefused, type Credential } from '../../../world/base/daemon-connection.ts';
import { NIL_UUID } from '../../../world/coderd/tables/keys.ts';
import { coderdWorld, DAY, MINUTE, SECOND, START } from './coderd-fixture.ts';

/** A coderd with the pre-shared key `shared`, a key, a member, and a user who may make daemons in `data`. */
function credentialWorld() {
  const world = coderdWorld({ psk: 'shared' });
  const { model } = world;
  const user = model.addUser({ username: 'ann' });
  const credentials = {
    key: model.addKey({ organization: 'data', name: 'pool', tags: { a: '1', b: '' } }),
    token: model.addToken({ canRead: [], user }),
    admin: model.addToken({ canRead: [], keyRights: { create: ['data'] } }),
  };
  const connect = (daemon: Credential & { readonly name?: string; readonly version?: string }): string => {
    try {
      const { id } = model.connect({ name: 'one', version: 'v2.30.0', ...daemon });
      const row = model.daemon(id);
      const organization = model.organizations.inPath(row?.organizationId ?? '')?.name;
      return `${row?.keyName} ${organization} ${JSON.stringify(row?.tags)}`;
    } catch (error) {
      if (error instanceof ConnectionRefused) return `${error.status} ${error.message}`;
      throw error;
    }
  };
  return { ...world, user, credentials, connectWith: connect };
}

describe('a daemon', () => {
  const MINE: Tags = { scope: 'user', owner: 'somebody else' };
  const GPU: Tags = { gpu: 'true', b: '' };
  const NOBODY = '401 API key or external provisioner authentication required';
  const BOTH = 'only one is allowed';
  type Row = {
    /** KEY, TOKEN and ADMIN stand for the credentials of the world. */
    readonly daemon: Parameters<ReturnType<typeof credentialWorld>['connectWith']>[0];
    /** The key's name, organization and tags of its row, or the refusal; or a part of this. */
    readonly says: string;
    readonly because: string;
  };
  const rows = table<Row>`
    daemon                                                    | says                                                      | because
    ${{ key: 'KEY' }}                                         | pool data {"a":"1","scope":"organization","owner":""}     | it has the tags of its key, without empty ones
    ${{ key: 'KEY', tags: GPU }}                              | tags are not allowed when using a provisioner key         | a key has its own tags
    ${{ key: 'x'.repeat(43) }}                                | 401 provisioner daemon key invalid                        | the key is unknown
    ${{ key: 'short' }}                                       | 400 provisioner daemon key invalid                        | no key has this length
    ${{ key: 'KEY', name: 'under_score' }}                    | 400 provisioner daemon name "under_score" invalid         | names have no underscore
    ${{ key: 'KEY', name: 'a'.repeat(64) }}                   | 400 provisioner daemon name                               | the name is too long
    ${{ key: 'KEY', name: 'a'.repeat(63) }}                   | pool data                                                 | the name is as long as may be
    ${{ key: 'KEY', version: 'v2.31.1' }}                     | 400 Incompatible                                          | its API is newer than coderd's
    ${{ key: 'KEY', version: 'v2.31.0' }}                     | pool data                                                 | its API is coderd's
    ${{ psk: 'shared', tags: GPU }}                           | psk default {"gpu":"true","scope":"organization","owner":""} | it has the tags that it sends, in the default organization
    ${{ psk: 'shared', tags: MINE }}                          | psk default {"scope":"user","owner":"NIL"}                | the pre-shared key has no user
    ${{ psk: 'wrong' }}                                       | ${NOBODY}                                                 | coderd has another pre-shared key
    ${{ psk: 'shared', organization: 'data' }}                | PSK auth is only allowed for the default organization     | the pre-shared key is of the default organization
    ${{ token: 'TOKEN', organization: 'data', tags: MINE }}   | user-auth data {"scope":"user","owner":"ANN"}             | the user of the token owns it
    ${{ token: 'TOKEN', organization: 'data' }}               | user unauthorized                                         | a member may only run daemons of its own
    ${{ token: 'ADMIN', organization: 'data' }}               | user-auth data                                            | its user may make daemons there
    ${{ token: 'ADMIN' }}                                     | user unauthorized                                         | its user may not make daemons there
    ${{ token: 'TOKEN', organization: 'nowhere', tags: MINE }} | 404 Resource not found                                   | there is no such organization
    ${{ key: 'KEY', token: 'TOKEN' }}                         | ${BOTH}                                                   | it has two credentials
    ${{ psk: 'shared', token: 'TOKEN' }}                      | ${BOTH}                                                   | it has two credentials
    ${{ key: 'KEY', psk: 'shared' }}                          | ${NOBODY}                                                 | a key and a pre-shared key count as neither
  `;
  it.each(rows)('gets "$says": $because', ({ daemon, says }) => {
    const { connectWith, credentials, user } = credentialWorld();
    const given = Object.entries({
      KEY: credentials.key,
      TOKEN: credentials.token,
      ADMIN: credentials.admin,
    });
    const filled = Object.entries(daemon).map(([field, value]) => {
      const [, credential = value] = given.find(([name]) => name === value) ?? [];
      return [field, credential] as const;
    });
    const seen = connectWith(Object.fromEntries(filled));
    expect(seen.replace(user.id, 'ANN').replace(NIL_UUID, 'NIL')).toContain(says);
  });

  it('is refused, without a row, without a licence or a valid user', () => {
    const unlicensed = credentialWorld();
    unlicensed.model.licence = 'not_entitled';
    const { key, token } = unlicensed.credentials;
    for (const daemon of [{ key }, { psk: 'shared' }, { token }])
      expect(unlicensed.connectWith(daemon)).toMatch(/^403 External provisioner daemons is an Enterprise/);
    expect(unlicensed.model.daemons()).toEqual([]);
    const { model, user, connectWith, credentials } = credentialWorld();
    model.psk = '';
    expect(connectWith({ psk: '' })).toContain(NOBODY);
    model.setUserStatus(user, 'suspended');
    expect(connectWith({ token: credentials.token, organization: 'data', tags: MINE })).toContain(NOBODY);
  });
});

describe('the row of a daemon', () => {
  it('gets a heartbeat every 60 s while the websocket is open, and is deleted 7 days after the last one', () => {
    const { model, connect, at } = coderdWorld();
    connect('gone').close();
    connect('alive');
    const seen = () => model.daemons().map(({ name, lastSeenAt }) => [name, lastSeenAt - START]);
    at(59 * SECOND);
    expect(seen()).toEqual([
      ['gone', 0],
      ['alive', 0],
    ]);
    at(2 * MINUTE + 59 * SECOND);
    expect(seen()[1]).toEqual(['alive', 2 * MINUTE]);
    at(7 * DAY);
    expect(seen()).toHaveLength(2);
    at(7 * DAY + 10 * MINUTE);
    expect(seen()).toMatchObject([['alive', 7 * DAY + 10 * MINUTE]]);
  });

  it('has the time of the replica that the daemon is connected to, and gets no earlier one', () => {
    const { model, connect, at } = coderdWorld();
    connect('before');
    model.heartbeatAgeMs = () => 45 * SECOND;
    connect('after');
    const seen = () => model.daemons().map(({ lastSeenAt }) => (lastSeenAt - START) / SECOND);
    expect(seen()).toEqual([0, -45]);
    at(MINUTE);
    expect(seen()).toEqual([15, 15]);
    model.heartbeatAgeMs = () => 2 * MINUTE;
    at(2 * MINUTE);
    expect(seen()).toEqual([15, 15]);
  });

  it('is called offline once its replica is behind by more than 90 s', () => {
    const { model, connect } = coderdWorld();
    model.heartbeatAgeMs = () => 91 * SECOND;
    connect('one');
    const organizationId = model.organizationId('default');
    const query = { organizationId, limit: 0, ids: [], tags: {}, offline: true, statuses: [], maxAgeMs: 0 };
    expect(model.listDaemons(query)).toMatchObject([{ status: 'offline' }]);
  });

  it('gets no heartbeat while they fail, but is written anew by a daemon that connects', () => {
    const { model, connect, at } = coderdWorld();
    connect('one');
    connect('two').close();
    model.heartbeatAgeMs = () => undefined;
    at(MINUTE);
    connect('two');
    at(3 * MINUTE);
    expect(model.daemons().map(({ lastSeenAt }) => lastSeenAt - START)).toEqual([0, MINUTE]);
    model.heartbeatAgeMs = () => 0;
    at(4 * MINUTE);
    expect(model.daemons().map(({ lastSeenAt }) => lastSeenAt - START)).toEqual([4 * MINUTE, 4 * MINUTE]);
  });

  it('stays when the connection is lost, and its daemon gets no job', () => {
    const { model, connect, worker, submit, statuses, at } = coderdWorld();
    connect('other');
    const { id } = worker();
    model.loseDaemons([id]);
    submit();
    at(5 * MINUTE);
    expect(statuses()).toEqual(['pending']);
    expect(model.daemon(id)?.lastSeenAt).toBe(START);
  });

  it('is that of the name in its organization: id and creation stay, key and version change', () => {
    const { model, connect, at } = coderdWorld();
    const first = connect('one');
    first.close();
    expect(connect('one', {}, 'data').id).not.toBe(first.id);
    at(DAY);
    expect(connect('one', { env: 'a' }).id).toBe(first.id);
    expect(model.daemon(first.id)).toMatchObject({
      createdAt: START,
      lastSeenAt: START + DAY,
      tags: { env: 'a' },
    });
  });

  it('is shared by two live daemons of one name, with heartbeats and jobs of both', () => {
    const { model, connect, submit, at } = coderdWorld();
    const [first, second] = [connect('one'), connect('one')];
    for (const connection of [first, second]) {
      submit();
      connection.acquire(() => {});
    }
    const [row] = model.daemons();
    expect(row && model.jobsOf(row).current).toHaveLength(2);
    first.close();
    at(3 * MINUTE);
    expect(model.daemons()).toMatchObject([{ id: first.id, lastSeenAt: START + 3 * MINUTE }]);
  });

  it('keeps the job of a daemon that reconnects while it runs', () => {
    const { model, connect, submit, at } = coderdWorld();
    const id = submit();
    const first = connect('one');
    first.acquire(() => {});
    first.close();
    at(3 * MINUTE);
    const again = connect('one');
    at(20 * MINUTE);
    again.complete(id, 'succeeded');
    expect(model.jobs()).toMatchObject([{ status: 'succeeded', workerId: first.id }]);
  });
});

describe('a heartbeat', () => {
  it('has the clock of its replica, and never makes a row older', () => {
    const { model, at, onlooker } = coderdWorld();
    const slow = onlooker();
    const quick = onlooker();
    model.heartbeatAgeMs = (id) => (id === slow.id ? 45 * SECOND : 0);
    const ages = () =>
      [slow, quick].map(({ id }) => model.timeline.now() - (model.daemon(id)?.lastSeenAt ?? 0));
    at(30 * SECOND);
    expect(ages()).toEqual([30 * SECOND, 30 * SECOND]);
    at(MINUTE);
    expect(ages()).toEqual([45 * SECOND, 0]);
    model.heartbeatAgeMs = () => 110 * SECOND;
    at(2 * MINUTE);
    expect(ages()).toEqual([105 * SECOND, MINUTE]);
  });

  it('may not be written for a time', () => {
    const { model, at, onlooker } = coderdWorld();
    const { id } = onlooker();
    const seen = () => ((model.daemon(id)?.lastSeenAt ?? 0) - START) / MINUTE;
    at(2 * MINUTE);
    model.heartbeatAgeMs = () => undefined;
    at(9 * MINUTE);
    expect(seen()).toBe(2);
    model.heartbeatAgeMs = () => 0;
    at(10 * MINUTE);
    expect(seen()).toBe(10);
  });
});

describe('a deleted key', () => {
  it.each([
    { version: 'v2.36.0', statuses: ['succeeded', 'running'], because: 'live sessions go on' },
    {
      version: 'v2.37.0',
      statuses: ['succeeded', 'pending'],
      because: 'sessions end, busy ones after their job',
    },
  ])('deletes rows and admits no daemon, and in $version $because', ({ version, statuses: expected }) => {
    const { model, submit, statuses } = coderdWorld({ version });
    const key = model.addKey({ organization: 'default', name: 'pool', tags: {} });
    const connect = (name: string) => model.connect({ key, name, version: 'v2.15.0' });
    const [busy, idle] = [connect('busy'), connect('idle')];
    const first = submit();
    busy.acquire(() => {});
    model.deleteKey('default', 'pool');
    expect(model.daemons()).toEqual([]);
    expect(() => connect('late')).toThrow(expect.objectContaining({ status: 401 }));
    busy.complete(first, 'succeeded');
    for (const connection of [idle, busy]) connection.acquire(() => {});
    submit();
    expect(statuses()).toEqual(expected);
    for (const connection of [idle, busy]) connection.close();
  });

  it('leaves its jobs to a row that is gone: a daemon of the same name gets another one', () => {
    const { model, submit, connect } = coderdWorld();
    const key = model.addKey({ organization: 'default', name: 'pool', tags: {} });
    const before = model.connect({ key, name: 'one', version: 'v2.15.0' });
    const id = submit();
    before.acquire(() => {});
    model.deleteKey('default', 'pool');
    const again = connect('one');
    again.complete(id, 'succeeded');
    expect(again.id).not.toBe(before.id);
    expect(model.jobs()).toMatchObject([{ status: 'running', workerId: before.id }]);
  });
});

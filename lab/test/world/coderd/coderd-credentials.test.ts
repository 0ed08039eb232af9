/**
 * Daemons without a key of their own: the pre-shared key and users' tokens (docs/internals/coder.md
 * §3).
 */
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { ConnectionRefused, type Credential } from '../../../world/base/daemon-connection.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { CoderdModel } from '../../../world/coderd/model.ts';

const NIL = '00000000-0000-0000-0000-000000000000';
const MINE: Tags = { scope: 'user', owner: 'somebody else', gpu: 'true' };

function world({ licensed = true }: { readonly licensed?: boolean } = {}) {
  const timeline = new Timeline(Date.parse('2026-11-20T09:00:00Z') as EpochMs);
  const organizations = ['default', 'data'];
  const model = new CoderdModel({ timeline, random: new Random(1), organizations, psk: 'shared', licensed });
  const user = model.addUser({ username: 'ann' });
  const credentials = {
    key: model.addKey({ organization: 'data', name: 'pool', tags: { a: '1' } }),
    token: model.addToken({ canRead: [], user }),
    admin: model.addToken({ canRead: [], keyRights: { create: ['data'] } }),
    owner: model.addToken({ canRead: [], isOwner: true }),
  };
  const connect = (daemon: Credential) => {
    const { id } = model.connect({ name: 'one', version: 'v2.30.0', ...daemon });
    const row = model.daemons().find((one) => one.id === id);
    return row && { tags: row.tags, key: row.keyName, id: row.keyId, organization: row.organizationId };
  };
  return { model, user, connect, ...credentials };
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ConnectionRefused) return `${error.status} ${error.message}`;
    throw error;
  }
  return '';
}

const scoped = (scope: string, detail: string) =>
  `403 You aren't allowed to create provisioner daemons with scope "${scope}": ${detail}`;
const NOBODY = '401 API key or external provisioner authentication required, but none provided';

describe('a daemon with the pre-shared key', () => {
  it('is of the default organization and has the tags that it sends', () => {
    const { model, connect } = world();
    expect(connect({ psk: 'shared', tags: { gpu: 'true' } })).toEqual({
      tags: { gpu: 'true', scope: 'organization', owner: '' },
      key: 'psk',
      id: '00000000-0000-0000-0000-000000000003',
      organization: model.organizationId('default'),
    });
  });

  it('has the nil user as owner if it asks for the scope of a user', () => {
    const { connect } = world();
    expect(connect({ psk: 'shared', tags: MINE })?.tags).toEqual({ ...MINE, owner: NIL });
  });

  it.each([
    { daemon: { psk: 'wrong' }, says: NOBODY },
    { daemon: { psk: '' }, says: NOBODY },
    {
      daemon: { psk: 'shared', organization: 'data' },
      says: scoped('', "PSK auth is only allowed for the default organization 'data'"),
    },
  ])('is refused: $daemon', ({ daemon, says }) => {
    const { connect } = world();
    expect(refusal(() => connect(daemon))).toBe(says);
  });

  it('is refused if coderd has none, and with the old one once coderd has another', () => {
    const { model, connect } = world();
    model.psk = undefined;
    expect(refusal(() => connect({ psk: 'shared' }))).toBe(NOBODY);
    model.psk = '';
    expect(refusal(() => connect({ psk: '' }))).toBe(NOBODY);
    model.psk = 'other';
    expect(refusal(() => connect({ psk: 'shared' }))).toBe(NOBODY);
  });
});

describe("a daemon with a user's token", () => {
  it('is owned by the user of the token, whatever owner it sends', () => {
    const { model, user, connect, token } = world();
    expect(connect({ token, organization: 'data', tags: MINE })).toEqual({
      tags: { ...MINE, owner: user.id },
      key: 'user-auth',
      id: '00000000-0000-0000-0000-000000000002',
      organization: model.organizationId('data'),
    });
  });

  it('may have the scope of the organization only if its user may create daemons there', () => {
    const { connect, token, admin, owner } = world();
    const inOrganization = (of: string, organization: string) =>
      refusal(() => connect({ token: of, organization, tags: { gpu: 'true' } }));
    expect(inOrganization(token, 'data')).toBe(scoped('', 'user unauthorized'));
    expect(inOrganization(admin, 'data')).toBe('');
    expect(inOrganization(admin, 'default')).toBe(scoped('', 'user unauthorized'));
    expect(inOrganization(owner, 'default')).toBe('');
  });

  it.each([
    { change: 'revoked', says: NOBODY },
    { change: 'suspended', says: NOBODY },
    { change: 'elsewhere', says: '404 Resource not found or you do not have access' },
  ])('is refused: $change', ({ change, says }) => {
    const { model, user, connect, token } = world();
    if (change === 'revoked') model.tokens.revoke(token);
    if (change === 'suspended') model.setUserStatus(user, 'suspended');
    const organization = change === 'elsewhere' ? 'nowhere' : 'data';
    expect(refusal(() => connect({ token, organization, tags: MINE }))).toBe(says);
  });
});

describe('a daemon with two credentials', () => {
  it('is refused', () => {
    const { connect, key, token } = world();
    const both = '400 API key and external provisioner authentication provided, but only one is allowed';
    expect(refusal(() => connect({ key, token }))).toBe(both);
    expect(refusal(() => connect({ psk: 'shared', token }))).toBe(both);
    expect(refusal(() => connect({ key, psk: 'shared' }))).toBe(NOBODY);
  });
});

it('refuses tags of a daemon with a key, whose own tags count', () => {
  const { connect, key } = world();
  expect(refusal(() => connect({ key, tags: { gpu: 'true' } }))).toBe(
    scoped('', 'tags are not allowed when using a provisioner key'),
  );
  expect(connect({ key, organization: 'default', tags: {} })?.tags).toEqual({
    a: '1',
    scope: 'organization',
    owner: '',
  });
});

it('drops tags with an empty value, of keys and of daemons', () => {
  const { model, connect } = world();
  const key = model.addKey({ organization: 'data', name: 'empty', tags: { a: '', b: '1' } });
  const tags = { b: '1', scope: 'organization', owner: '' };
  expect(connect({ key })?.tags).toEqual(tags);
  expect(connect({ psk: 'shared', tags: { a: '', b: '1' } })?.tags).toEqual(tags);
});

it('refuses every daemon without a licence', () => {
  const { connect, key, token } = world({ licensed: false });
  for (const daemon of [{ key }, { psk: 'shared' }, { token }])
    expect(refusal(() => connect(daemon))).toMatch(/^403 External provisioner daemons is an Enterprise/);
});

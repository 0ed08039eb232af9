/**
 * Tests the simulated coderd's routes for the token's user, the token, the licence and provisioner
 * keys (docs/internals/coder.md §3, §9).
 */
import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../../lambda/decision/model/brands.ts';
import { DAY_MS as DAY, HOUR_MS as HOUR } from '../../../../lambda/decision/model/units.ts';
import { START } from '../../../../test/support/lab.ts';
import { serve } from '../../../../test/support/servers.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { CoderdModel } from '../../../world/coderd/model.ts';
import { coderdHandler } from '../../../world/coderd/routes/http.ts';

const NOT_FOUND = { message: 'Resource not found or you do not have access to this resource' };
async function world(version?: string) {
  const timeline = new Timeline(START);
  const model = new CoderdModel({
    timeline,
    random: new Random(1),
    organizations: ['default', 'data'],
    ...(version === undefined ? {} : { version }),
  });
  const root = await serve(coderdHandler(model));
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${root}/api/v2/${path}`, { headers });
    const body: unknown = await response.json();
    return { status: response.status, body };
  };
  const as = (token: string) => ({ 'Coder-Session-Token': token });
  const later = (ms: number): void => timeline.advanceTo(plusMs(timeline.now(), ms));
  return { model, get, as, later };
}

const idOf = (token: string): string => token.split('-')[0] ?? '';

describe('users/me', () => {
  it('returns the user of the token, and whether the user is an owner', async () => {
    const { model, get, as } = await world();
    const [plain, owner] = [false, true].map((isOwner) => model.addToken({ canRead: 'all', isOwner }));
    expect(await get('users/me', as(plain ?? ''))).toMatchObject({
      status: 200,
      body: { username: 'autoscaler-1', roles: [] },
    });
    expect((await get('users/me', as(owner ?? ''))).body).toMatchObject({
      username: 'autoscaler-2',
      roles: [{ name: 'owner' }],
    });
  });

  it('requires a token, and refuses other users', async () => {
    const { model, get, as } = await world();
    expect((await get('users/me')).status).toBe(401);
    expect(await get('users/ada', as(model.addToken({ canRead: 'all' })))).toEqual({
      status: 404,
      body: NOT_FOUND,
    });
  });
});

describe('a token', () => {
  it('shows its expiry only to its own user', async () => {
    const { model, get, as } = await world();
    const own = model.addToken({ canRead: 'all', lifetimeMs: 7 * DAY });
    const other = model.addToken({ canRead: 'all' });
    const path = `users/me/keys/${idOf(own)}`;
    expect(await get(path, as(own))).toMatchObject({
      status: 200,
      body: {
        created_at: '2026-03-02T09:00:00Z',
        expires_at: '2026-03-09T09:00:00Z',
        lifetime_seconds: 604_800,
      },
    });
    expect(await get(path, as(other))).toEqual({ status: 404, body: NOT_FOUND });
    expect((await get(path)).status).toBe(401);
  });

  it.each(['v2.29.17', 'v2.30.9', 'v2.34.2'])(
    'extends its expiry when it is used, at most once an hour, in %s',
    async (version) => {
      const { model, get, as, later } = await world(version);
      const token = model.addToken({ canRead: 'all', lifetimeMs: DAY });
      const path = `users/me/keys/${idOf(token)}`;
      later(HOUR - 1000);
      expect((await get(path, as(token))).body).toMatchObject({ expires_at: '2026-03-03T09:00:00Z' });
      later(1000);
      expect((await get(path, as(token))).body).toMatchObject({ expires_at: '2026-03-03T10:00:00Z' });
    },
  );

  it.each(['v2.29.18', 'v2.34.3', 'v2.35.0'])('keeps its expiry when it is used in %s', async (version) => {
    const { model, get, as, later } = await world(version);
    const token = model.addToken({ canRead: 'all', lifetimeMs: DAY });
    later(HOUR);
    expect((await get(`users/me/keys/${idOf(token)}`, as(token))).body).toMatchObject({
      expires_at: '2026-03-03T09:00:00Z',
    });
  });

  it.each([
    { change: (token: string) => `${token}x`, detail: 'API key secret is invalid.' },
    { change: (token: string) => `x${token}`, detail: 'API key is invalid.' },
  ])('is refused when it is altered: $detail', async ({ change, detail }) => {
    const { model, get, as } = await world();
    const token = model.addToken({ canRead: 'all' });
    const { status, body } = await get('users/me', as(change(token)));
    expect({ status, body }).toMatchObject({ status: 401, body: { detail } });
  });

  it('expires and is refused when expiry refresh is disabled', async () => {
    const { model, get, as, later } = await world();
    model.tokens.disableExpiryRefresh();
    const token = model.addToken({ canRead: 'all', lifetimeMs: DAY });
    later(DAY);
    expect((await get('users/me', as(token))).status).toBe(200);
    later(1000);
    expect(await get('users/me', as(token))).toEqual({
      status: 401,
      body: {
        message: 'You are signed out or your session has expired. Please sign in again to continue.',
        detail: 'API key expired at "2026-03-03 09:00:00 +0000 UTC".',
      },
    });
  });
});

describe('entitlements', () => {
  it.each([
    { licence: 'entitled', enabled: true },
    { licence: 'grace_period', enabled: true },
    { licence: 'not_entitled', enabled: false },
  ] as const)('show whether external daemons are licensed: $licence', async ({ licence, enabled }) => {
    const { model, get } = await world();
    model.licence = licence;
    expect(await get('entitlements')).toMatchObject({
      status: 200,
      body: { features: { external_provisioner_daemons: { entitlement: licence, enabled } } },
    });
    const key = model.addKey({ organization: 'default', name: 'cpu', tags: {} });
    const connect = () => model.connect({ key, name: 'cpu-1', version: 'v2.30.0' });
    if (enabled) expect(connect).not.toThrow();
    else expect(connect).toThrow('External provisioner daemons is an Enterprise feature');
  });
});

it('has no licensed routes and admits no external daemon as the open-source build', async () => {
  const { model, get } = await world();
  const key = model.addKey({ organization: 'default', name: 'cpu', tags: {} });
  model.licence = 'open-source';
  for (const path of ['entitlements', 'provisionerkeys/self', 'organizations/default/provisionerkeys'])
    expect(await get(path)).toMatchObject({ status: 404, body: { message: 'Route not found.' } });
  expect(() => model.connect({ key, name: 'cpu-1', version: 'v2.30.0' })).toThrow('Enterprise feature');
});

describe('a provisioner key', () => {
  it('is returned with its original tags to a request with the key, whatever the path is', async () => {
    const { model, get } = await world();
    const key = model.addKey({ organization: 'data', name: 'gpu', tags: { gpu: 'a10' } });
    expect(await get('provisionerkeys/anything', { 'Coder-Provisioner-Daemon-Key': key })).toMatchObject({
      status: 200,
      body: { name: 'gpu', organization: model.organizationId('data'), tags: { gpu: 'a10' } },
    });
  });

  it.each([
    { key: undefined, status: 401, message: 'provisioner daemon key required' },
    { key: 'short', status: 400, message: 'provisioner daemon key invalid' },
    { key: 'k'.repeat(43), status: 401, message: 'provisioner daemon key invalid' },
  ])('is refused with $status: $message ($key)', async ({ key, status, message }) => {
    const { model, get, as } = await world();
    const token = as(model.addToken({ canRead: 'all' }));
    const headers = { ...token, ...(key === undefined ? {} : { 'Coder-Provisioner-Daemon-Key': key }) };
    expect(await get('provisionerkeys/self', headers)).toMatchObject({ status, body: { message } });
  });
});

/** When the token ends, against the world's coderd and against servers that answer otherwise. */
import { expect, it } from 'vitest';
import { TokenExpiry, tokenId } from '../../lambda/adapters/coderd/token-expiry.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { decide } from '../../lambda/decision/decide.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { DAY_MS, HOUR_MS } from '../../lambda/decision/model/units.ts';
import { observe } from '../../lambda/look/observe.ts';
import { type Lab, START, startLab } from '../support/lab.ts';
import { coderdClient } from '../support/servers.ts';

let lab: Lab;

/** A coderd whose token has this lifetime. */
async function start(lifetimeMs: number, options: { readonly refreshes?: boolean } = {}) {
  const asked: string[] = [];
  lab = await startLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {} }],
    onRequest: ({ operation }) => asked.push(operation),
  });
  const { coderd, secrets, tokenSecretName, timeline } = lab.world;
  if (options.refreshes !== true) coderd.tokens.disableExpiryRefresh();
  const renew = (): void => {
    secrets.put(tokenSecretName, coderd.addToken({ canRead: 'all', lifetimeMs }));
  };
  renew();
  const token = { read: async () => new Secret(secrets.find(tokenSecretName)?.value ?? '') };
  const expiry = new TokenExpiry(coderdClient(lab.coderdUrl, { token }), token);
  const at = (ms: number): Promise<EpochMs | undefined> => {
    if (plusMs(START, ms) > timeline.now()) timeline.advanceTo(plusMs(START, ms));
    return expiry.at(plusMs(START, ms));
  };
  return { at, asked: () => asked.filter((operation) => operation.includes('/keys/')).length, renew };
}

it('reads the expiry and caches it for an hour', async () => {
  const { at, asked } = await start(30 * DAY_MS);
  expect(await at(0)).toBe(plusMs(START, 30 * DAY_MS));
  expect(await at(HOUR_MS - 1)).toBe(plusMs(START, 30 * DAY_MS));
  expect(asked()).toBe(1);
  expect(await at(HOUR_MS)).toBe(plusMs(START, 30 * DAY_MS));
  expect(asked()).toBe(2);
});

it('reads the expiry of another token at once', async () => {
  const { at, renew } = await start(30 * DAY_MS);
  await at(0);
  lab.pass(60);
  renew();
  expect(await at(60_000)).toBe(plusMs(START, 30 * DAY_MS + 60_000));
});

it('does not know the expiry while coderd extends the token with each use', async () => {
  const { at } = await start(7 * DAY_MS, { refreshes: true });
  expect(await at(0)).toBe(plusMs(START, 7 * DAY_MS));
  expect(await at(2 * HOUR_MS)).toBeUndefined();
});

it('knows the expiry again after an upgrade to a coderd that does not extend tokens', async () => {
  const { at } = await start(30 * DAY_MS, { refreshes: true });
  await at(2 * DAY_MS);
  lab.world.coderd.tokens.disableExpiryRefresh();
  const end = plusMs(START, 32 * DAY_MS);
  // nothing shows the difference within the hour
  expect(await at(2 * DAY_MS + HOUR_MS / 2)).toBeUndefined();
  expect(await at(2 * DAY_MS + HOUR_MS)).toBeUndefined();
  expect(await at(2 * DAY_MS + 2 * HOUR_MS)).toBe(end);
  expect(await at(31 * DAY_MS)).toBe(end);
});

it('knows the expiry from the first hour if coderd never extends the token', async () => {
  const { at } = await start(30 * DAY_MS);
  expect(await at(HOUR_MS / 2)).toBe(plusMs(START, 30 * DAY_MS));
});

it('does not ask coderd about a text that is not a token', async () => {
  const { at, asked } = await start(DAY_MS);
  lab.world.secrets.put(lab.world.tokenSecretName, 'pasted');
  expect(await at(0)).toBeUndefined();
  expect(asked()).toBe(0);
});

it('keeps the earlier expiry if the refresh fails, and never throws', async () => {
  const { at, asked } = await start(30 * DAY_MS);
  await at(0);
  const { secrets, tokenSecretName, coderd } = lab.world;
  coderd.tokens.revoke(secrets.find(tokenSecretName)?.value ?? '');
  expect(await at(2 * HOUR_MS)).toBe(plusMs(START, 30 * DAY_MS));
  // refused, tried again with a newly read secret, and not tried in the next look
  expect(asked()).toBe(3);
  await at(2 * HOUR_MS + 10_000);
  expect(asked()).toBe(3);
});

it('is in the snapshot and, if it is near, in the findings', async () => {
  await start(13 * DAY_MS);
  const snapshot = await observe(lab.ports(), lab.config);
  expect(snapshot.coder.token).toEqual({ expiresAt: plusMs(START, 13 * DAY_MS) });
  expect(decide(snapshot, lab.config).findings).toContainEqual({
    code: 'token-expires',
    at: '2026-03-15T09:00:00.000Z',
  });
});

it.each([
  { token: 'abcdefghij-0123456789abcdefghijkl', id: 'abcdefghij' },
  { token: 'one-two-three', id: 'one' },
  { token: '-secret', id: undefined },
  { token: 'id-', id: undefined },
  { token: 'a/../b-secret', id: undefined },
  { token: '', id: undefined },
])('finds the public part $id of the token "$token"', ({ token, id }) => {
  expect(tokenId(new Secret(token))).toBe(id);
});

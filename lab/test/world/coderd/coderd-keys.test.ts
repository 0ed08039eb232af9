/** The routes of provisioner keys, which no recording has (docs/internals/coder.md §3). */
import { describe, expect, it } from 'vitest';
import type { CoderdModel } from '../../../world/coderd/model.ts';
import { answerOf } from '../../../world/coderd/routes/http.ts';
import { coderdWorld } from './coderd-fixture.ts';

const ALL = { read: 'all', create: 'all', delete: 'all' } as const;

type Rights = Parameters<CoderdModel['addToken']>[0]['keyRights'];

/** A coderd with a key `cpu`, for a user with these rights. */
function server(keyRights: Rights = ALL) {
  const { model } = coderdWorld();
  const token = model.addToken({ canRead: 'all', ...(keyRights && { keyRights }) });
  const cpu = model.addKey({ organization: 'default', name: 'cpu', tags: { gpu: 'a10' } });
  const ask = (
    method: string,
    path: string,
    given: { readonly body?: unknown; readonly key?: string } = {},
  ) =>
    answerOf(model, {
      method,
      url: new URL(`http://coderd/api/v2/${path}`),
      headers: { 'coder-session-token': token, 'coder-provisioner-daemon-key': given.key },
      body: given.body === undefined ? '' : JSON.stringify(given.body),
    });
  return { model, ask, cpu };
}

const KEYS = 'organizations/default/provisionerkeys';
const FORBIDDEN = { detail: 'unauthorized: rbac: forbidden' };
const invalid = (message: string) => ({ message, validations: [{ field: 'name', detail: message }] });

describe('creating a key', () => {
  it('answers 201 with the key alone, which no list shows again', () => {
    const { ask } = server();
    const created = ask('POST', KEYS, { body: { name: 'GPU', tags: { environment: 'on-prem' } } });
    expect(created).toEqual({ status: 201, body: { key: expect.stringMatching(/^\w{43}$/) } });
    const { body } = ask('GET', KEYS);
    expect(body).toMatchObject([{ name: 'cpu' }, { name: 'gpu', tags: { environment: 'on-prem' } }]);
    expect(JSON.stringify(body)).not.toContain((created.body as { readonly key: string }).key);
  });

  it.each([
    { name: '', status: 400, body: invalid('Name is required') },
    { name: 'x'.repeat(64), status: 201, body: {} },
    { name: 'ä'.repeat(33), status: 400, body: invalid('Name must be at most 64 characters') },
    { name: 'Built-In', status: 400, body: invalid("Name cannot be reserved name 'Built-In'") },
    {
      name: 'CPU',
      status: 409,
      body: { message: "Provisioner key with name 'CPU' already exists in organization" },
    },
    { name: 'new', tags: { a: 1 }, status: 400, body: { message: 'Request body must be valid JSON.' } },
    { name: 'new', tags: { a: '\0' }, status: 500, body: {} },
    { name: 'new', rights: {}, status: 500, body: FORBIDDEN },
  ])('answers $status to the name "$name" with tags $tags and rights $rights', (row) => {
    const { name, tags = {}, rights, status, body } = row;
    expect(server(rights).ask('POST', KEYS, { body: { name, tags } })).toMatchObject({ status, body });
  });
});

describe('deleting a key', () => {
  it.each([
    { name: 'a/b', path: 'a%2Fb', status: 404 },
    { name: 'a@b', path: 'a%40b', status: 404 },
    { name: 'a@b', path: 'a@b', status: 204 },
    { name: 'a b', path: 'a%20b', status: 204 },
    { name: 'a(b', path: 'a%28b', status: 204 },
    { name: 'a(b', path: 'a(b', status: 204 },
    { name: 'gpu', path: 'GPU', status: 204 },
    { name: 'gpu', path: 'psk', status: 400 },
    { name: 'gpu', path: 'other', status: 404 },
  ])('answers $status to $path for the name "$name", as Go encodes paths', ({ name, path, status }) => {
    const { ask, model } = server();
    model.addKey({ organization: 'default', name, tags: {} });
    expect(ask('DELETE', `${KEYS}/${path}`).status).toBe(status);
    expect(model.keys.list(model.organizationId('default'))).toHaveLength(status === 204 ? 1 : 2);
  });

  it.each([
    { rights: { read: [] as const }, status: 404, because: 'a key that may not be read looks like none' },
    { rights: { read: 'all' } as const, status: 500, because: 'deleting is refused after it was found' },
  ])('answers $status without the right: $because', ({ rights, status }) => {
    expect(server(rights).ask('DELETE', `${KEYS}/cpu`).status).toBe(status);
  });
});

describe('the routes of keys', () => {
  it('list no key that the user may not read', () => {
    expect(server({ read: [] }).ask('GET', KEYS)).toEqual({ status: 200, body: [] });
    expect(server().ask('GET', 'organizations/data/provisionerkeys')).toEqual({ status: 200, body: [] });
  });

  it('answer 403 without a licence, but a key about itself', () => {
    const { model, ask, cpu } = server();
    model.licence = 'not_entitled';
    for (const [method, path] of [
      ['GET', KEYS],
      ['POST', KEYS],
      ['DELETE', `${KEYS}/cpu`],
    ] as const)
      expect(ask(method, path, { body: { name: 'new' } })).toMatchObject({ status: 403 });
    const organization = model.organizationId('default');
    expect(ask('GET', 'provisionerkeys/anything', { key: cpu })).toMatchObject({
      status: 200,
      body: { name: 'cpu', organization, tags: { gpu: 'a10' } },
    });
  });

  it.each([
    { key: '', status: 401, message: 'provisioner daemon key required' },
    { key: 'short', status: 400, message: 'provisioner daemon key invalid' },
    { key: 'k'.repeat(43), status: 401, message: 'provisioner daemon key invalid' },
  ])('answer $status to the key "$key" about itself', ({ key, status, message }) => {
    expect(server().ask('GET', 'provisionerkeys/self', { key })).toMatchObject({ status, body: { message } });
  });

  it.each([
    { rights: ALL, expected: { read: true, create: true, delete: true } },
    { rights: {}, expected: { read: true, create: false, delete: false } },
    { rights: { read: [], create: ['data'] }, expected: { read: false, create: false, delete: false } },
  ])('agree with authcheck about $rights', ({ rights, expected }) => {
    const { model, ask } = server(rights);
    const object = { resource_type: 'provisioner_daemon', organization_id: model.organizationId('default') };
    const checks = Object.fromEntries(Object.keys(expected).map((action) => [action, { action, object }]));
    expect(ask('POST', 'authcheck', { body: { checks } })).toEqual({ status: 200, body: expected });
  });
});

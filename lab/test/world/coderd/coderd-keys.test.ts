/** Tests the simulated coderd's routes for provisioner keys (docs/internals/coder.md §3). */
import { describe, expect, it } from 'vitest';
import { START } from '../../../../test/support/lab.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { CoderdModel } from '../../../world/coderd/model.ts';
import { answerOf } from '../../../world/coderd/routes/http.ts';

const NOT_FOUND = { message: 'Resource not found or you do not have access to this resource' };
const FORBIDDEN = {
  message: 'An internal server error occurred.',
  detail: 'unauthorized: rbac: forbidden',
};
const ALL = { read: 'all', create: 'all', delete: 'all' } as const;

type Rights = Parameters<CoderdModel['addToken']>[0]['keyRights'];

function server(
  keyRights: Rights = ALL,
  options: { readonly version?: string; readonly licensed?: boolean } = {},
) {
  const timeline = new Timeline(START);
  const model = new CoderdModel({
    timeline,
    random: new Random(1),
    organizations: ['default', 'data'],
    ...options,
  });
  const token = model.addToken({ canRead: 'all', ...(keyRights && { keyRights }) });
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
  const create = (name: string, tags: object | null = {}) =>
    ask('POST', 'organizations/default/provisionerkeys', { body: { name, tags } });
  return { model, ask, create };
}

const keyOf = ({ body }: { readonly body: unknown }): string => (body as { readonly key: string }).key;

describe('creating a key', () => {
  it('answers 201 with the key alone, which no list shows again', () => {
    const { ask, create } = server();
    const created = create('cpu', { environment: 'on-prem' });
    expect(created).toEqual({ status: 201, body: { key: expect.stringMatching(/^\w{43}$/) } });
    const listed = ask('GET', 'organizations/default/provisionerkeys');
    expect(listed.body).toMatchObject([{ name: 'cpu', tags: { environment: 'on-prem' } }]);
    expect(JSON.stringify(listed)).not.toContain(keyOf(created));
  });

  it.each([
    { name: '', message: 'Name is required' },
    { name: 'x'.repeat(65), message: 'Name must be at most 64 characters' },
    { name: 'Built-In', message: "Name cannot be reserved name 'Built-In'" },
  ])('answers 400 to the name "$name"', ({ name, message }) => {
    const body = { message, validations: [{ field: 'name', detail: message }] };
    expect(server().create(name)).toEqual({ status: 400, body });
  });

  it('takes a name of 64 characters', () => {
    expect(server().create('x'.repeat(64)).status).toBe(201);
  });

  it('refuses a name that differs only in case, within one organization', () => {
    const { ask, create } = server();
    expect(create('cpu').status).toBe(201);
    expect(create('CPU')).toEqual({
      status: 409,
      body: { message: "Provisioner key with name 'CPU' already exists in organization" },
    });
    expect(ask('POST', 'organizations/data/provisionerkeys', { body: { name: 'cpu' } }).status).toBe(201);
  });

  it('answers 500 with a detail without the right', () => {
    expect(server({}).create('cpu')).toEqual({ status: 500, body: FORBIDDEN });
  });

  it('answers 400 to a body that is no key', () => {
    const { ask } = server();
    expect(ask('POST', 'organizations/default/provisionerkeys', { body: { tags: { a: 1 } } }).status).toBe(
      400,
    );
  });
});

describe('listing keys', () => {
  it('shows the keys of one organization, oldest first, without reserved ones', () => {
    const { model, ask, create } = server();
    model.addBuiltInDaemons(1);
    create('one');
    model.timeline.advanceTo((START + 1000) as typeof START);
    create('two');
    const { body } = ask('GET', 'organizations/default/provisionerkeys');
    expect(body).toMatchObject([{ name: 'one' }, { name: 'two', created_at: '2026-03-02T09:00:01Z' }]);
    expect(ask('GET', 'organizations/data/provisionerkeys').body).toEqual([]);
  });

  it('answers 200 with an empty list without the right', () => {
    const { model, ask } = server({ read: [] });
    model.addKey({ organization: 'default', name: 'cpu', tags: {} });
    expect(ask('GET', 'organizations/default/provisionerkeys')).toEqual({ status: 200, body: [] });
  });
});

describe('listing keys with their daemons', () => {
  it.each([
    { organization: 'default', reserved: ['built-in', 'user-auth', 'psk'] },
    { organization: 'data', reserved: ['user-auth'] },
  ])('adds the reserved keys of $organization', ({ organization, reserved }) => {
    const { model, ask } = server();
    const key = model.addKey({ organization, name: 'cpu', tags: {} });
    model.connect({ key, name: 'daemon-1', version: model.version.text });
    const { body } = ask('GET', `organizations/${organization}/provisionerkeys/daemons`);
    expect(body).toMatchObject([
      { key: { name: 'cpu' }, daemons: [{ name: 'daemon-1' }] },
      ...reserved.map((name) => ({ key: { name }, daemons: [] })),
    ]);
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
  ])('answers $status to $path for the name "$name", as Go encodes paths', ({ name, path, status }) => {
    const { ask, create } = server();
    create(name);
    expect(ask('DELETE', `organizations/default/provisionerkeys/${path}`).status).toBe(status);
  });

  it.each(['psk', 'user-auth', 'built-in'])('refuses to delete %s in the default organization', (name) => {
    const { ask } = server();
    expect(ask('DELETE', `organizations/default/provisionerkeys/${name}`)).toEqual({
      status: 400,
      body: { message: `Cannot delete reserved '${name}' provisioner key` },
    });
    expect(ask('DELETE', `organizations/data/provisionerkeys/${name}`).status).toBe(404);
  });

  it('finds it in any case, and deletes the rows of its daemons', () => {
    const { model, ask, create } = server();
    const key = keyOf(create('cpu'));
    model.connect({ key, name: 'daemon-1', version: model.version.text });
    expect(ask('DELETE', 'organizations/default/provisionerkeys/CPU').status).toBe(204);
    expect(model.daemons()).toEqual([]);
    expect(ask('DELETE', 'organizations/default/provisionerkeys/cpu')).toEqual({
      status: 404,
      body: NOT_FOUND,
    });
  });

  it.each([
    { rights: { read: [] as const }, status: 404, because: 'a key that may not be read looks like none' },
    { rights: { read: 'all' } as const, status: 500, because: 'deleting is refused after it was found' },
  ])('answers $status without the right: $because', ({ rights, status }) => {
    const { model, ask } = server(rights);
    model.addKey({ organization: 'default', name: 'cpu', tags: {} });
    expect(ask('DELETE', 'organizations/default/provisionerkeys/cpu').status).toBe(status);
    expect(model.keys.list(model.organizationId('default'))).toHaveLength(1);
  });

  it.each([
    { version: 'v2.36.0', acquires: true },
    { version: 'v2.37.0', acquires: false },
  ])('leaves its sessions as $version does', ({ version, acquires }) => {
    const { model, ask, create } = server(ALL, { version });
    const session = model.connect({ key: keyOf(create('cpu')), name: 'daemon-1', version });
    ask('DELETE', 'organizations/default/provisionerkeys/cpu');
    let acquired = false;
    session.acquire(() => {
      acquired = true;
    });
    model.submitJob({ organization: 'default', tags: {}, durationMs: 1000 });
    expect(acquired).toBe(acquires);
  });
});

describe('the routes of keys', () => {
  it.each(['GET', 'POST'])('answer 403 to %s without a licence, whatever the role', (method) => {
    const { ask } = server(ALL, { licensed: false });
    const body = { name: 'cpu', tags: {} };
    expect(ask(method, 'organizations/default/provisionerkeys', { body })).toEqual({
      status: 403,
      body: { message: 'External Provisioner Daemons is a Premium feature. Contact sales!' },
    });
    expect(ask('DELETE', 'organizations/default/provisionerkeys/cpu').status).toBe(403);
  });

  it('answer a key about itself without a licence', () => {
    const { model, ask, create } = server();
    const key = keyOf(create('cpu', { a: 'b' }));
    model.licence = 'not_entitled';
    expect(ask('GET', 'provisionerkeys/self', { key })).toMatchObject({
      status: 200,
      body: { name: 'cpu', tags: { a: 'b' }, organization: model.organizationId('default') },
    });
  });

  it.each([
    { rights: ALL, expected: { read: true, create: true, delete: true } },
    { rights: {}, expected: { read: true, create: false, delete: false } },
    { rights: { read: [] }, expected: { read: false, create: false, delete: false } },
    {
      rights: { create: ['data'], delete: ['data'] },
      expected: { read: true, create: false, delete: false },
    },
  ])('agree with authcheck about $rights', ({ rights, expected }) => {
    const { model, ask } = server(rights);
    const object = { resource_type: 'provisioner_daemon', organization_id: model.organizationId('default') };
    const checks = Object.fromEntries(
      ['read', 'create', 'delete'].map((action) => [action, { action, object }]),
    );
    expect(ask('POST', 'authcheck', { body: { checks } })).toEqual({ status: 200, body: expected });
  });
});

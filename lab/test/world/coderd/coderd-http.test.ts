/** Answers of coderd that no recording has: of custom roles, licences, long lists, and releases before 2.25. */
import { describe, expect, it } from 'vitest';
import { serve } from '../../../../test/support/servers.ts';
import type { CoderdOptions } from '../../../world/coderd/model.ts';
import { coderdHandler } from '../../../world/coderd/routes/http.ts';
import { coderdWorld, DAY, HOUR, MINUTE, SECOND } from './coderd-fixture.ts';

type Item = Readonly<Record<string, unknown>> & { readonly id: string };
type Page = { readonly workspaces: readonly Item[]; readonly count: number };

async function served(options: Partial<CoderdOptions> = {}) {
  const made = coderdWorld(options);
  const { model } = made;
  const root = await serve(coderdHandler(model));
  const all = model.addToken({ canRead: 'all' });
  const get = async (path: string, token = all) => {
    const headers = token === '' ? {} : { 'Coder-Session-Token': token };
    const response = await fetch(`${root}/api/v2/${path}`, { headers });
    const body: unknown = await response.json();
    return { status: response.status, body, headers: response.headers };
  };
  const items = async (path: string, token = all) => (await get(path, token)).body as readonly Item[];
  const list = (what: 'jobs' | 'daemons', query = '', token = all) =>
    items(`organizations/default/provisioner${what}${query}`, token);
  const workspaces = async (query = '', token = all) => (await get(`workspaces${query}`, token)).body as Page;
  return { ...made, get, items, list, workspaces };
}

const idOf = (token: string): string => token.split('-')[0] ?? '';
const ids = (found: readonly Item[]): readonly string[] => found.map(({ id }) => id);

it('sends the date by the clock of the replica that answers, and the version, with its commit', async () => {
  const { get, at, model } = await served({ version: 'v2.30.0' });
  model.dateAheadMs = () => 45 * SECOND;
  at(45 * SECOND);
  const { headers } = await get('buildinfo', '');
  expect(headers.get('date')).toBe('Mon, 02 Mar 2026 08:01:30 GMT');
  expect(headers.get('x-coder-build-version')).toMatch(/^v2\.30\.0\+[0-9a-f]{7}$/);
});

it('has the date of a replica whose clock is ahead', async () => {
  const { get, model } = await served();
  model.dateAheadMs = () => 45 * SECOND;
  expect((await get('buildinfo', '')).headers.get('date')).toBe('Mon, 02 Mar 2026 08:00:45 GMT');
});

it('answers with 500 where it fails, and elsewhere as before', async () => {
  const { get, model } = await served();
  model.failing.add('provisionerdaemons');
  expect((await get('organizations/default/provisionerdaemons')).status).toBe(500);
  expect((await get('organizations/default/provisionerjobs')).status).toBe(200);
});

describe('a long list', () => {
  it('of jobs or daemons has the newest 50 by default, and all with limit 0', async () => {
    const { list, submit, connect, at } = await served();
    const submitted = Array.from({ length: 60 }, () => submit()).toReversed();
    for (let n = 0; n < 51; n++) {
      at(n * SECOND);
      connect(`daemon-${n}`);
    }
    expect(ids(await list('jobs'))).toEqual(submitted.slice(0, 50));
    expect(ids(await list('jobs', '?limit=0&status=pending'))).toEqual(submitted);
    expect((await list('daemons')).map(({ name }) => name)).not.toContain('daemon-0');
    expect(await list('daemons', '?limit=0')).toHaveLength(51);
  });

  it('of workspaces has pages with the total count, running ones first', async () => {
    const { workspaces, workspace } = await served();
    for (let n = 1; n <= 5; n++) workspace({ running: n === 4 });
    const page = async (query: string) =>
      (await workspaces(query)).workspaces.map(({ name }) => String(name).at(-1)).join('');
    expect(await page('')).toBe('41235');
    expect(await page('?limit=2&offset=2')).toBe('23');
    expect(await page('?limit=2&offset=4')).toBe('5');
    expect(await workspaces('?limit=2&offset=6')).toEqual({ workspaces: [], count: 5 });
  });
});

it('counts queue positions over all organizations and tags, with prebuilds last', async () => {
  const { list, submit, connect } = await served();
  const running = submit();
  connect('one').acquire(() => {});
  const prebuild = submit({ initiator: 'prebuilds' });
  submit({ organization: 'data' });
  const tagged = submit({ tags: { env: 'a' } });
  expect((await list('jobs')).map((job) => [job.id, job.queue_position, job.queue_size])).toEqual([
    [tagged, 2, 3],
    [prebuild, 3, 3],
    [running, 0, 3],
  ]);
});

it('keeps the worker of a job whose daemon row was deleted', async () => {
  const { list, submit, connect, model } = await served();
  submit();
  const { id } = connect('one');
  connect('one').acquire(() => {});
  for (const { name } of model.keys.list(model.organizationId('default'))) model.deleteKey('default', name);
  const [job] = await list('jobs', '?status=running');
  expect(job).toMatchObject({ worker_id: id });
  expect(job).not.toHaveProperty('worker_name');
});

describe('an earlier release', () => {
  it.each([
    { version: 'v2.20.0', has: ['metadata'], lacks: ['worker_name', 'logs_overflowed', 'initiator_id'] },
    { version: 'v2.23.0', has: ['worker_name'], lacks: ['logs_overflowed', 'initiator_id'] },
    { version: 'v2.26.0', has: ['worker_name', 'logs_overflowed'], lacks: ['initiator_id'] },
    { version: 'v2.28.0', has: ['initiator_id'], lacks: [] },
  ])('has the fields of $version in jobs', async ({ version, has, lacks }) => {
    const { list, submit, connect } = await served({ version });
    submit();
    connect('one').acquire(() => {});
    const [job] = await list('jobs');
    for (const name of has) expect(job).toHaveProperty(name);
    for (const name of lacks) expect(job).not.toHaveProperty(name);
  });

  it.each([
    { version: 'v2.21.0', preset: false, flag: undefined },
    { version: 'v2.24.0', preset: true, flag: undefined },
    { version: 'v2.25.0', preset: true, flag: true },
  ])('has the preset ($preset) and is_prebuild ($flag) of $version', async ({ version, preset, flag }) => {
    const { workspaces, model, at, template } = await served({ version });
    model.addPreset({ template: template(), instances: 1 });
    at(MINUTE);
    const [prebuild] = (await workspaces()).workspaces;
    expect(prebuild).toMatchObject({ owner_name: 'prebuilds' });
    expect(JSON.stringify(prebuild).includes('template_version_preset_id')).toBe(preset);
    expect(prebuild?.is_prebuild).toBe(flag);
  });

  it.each([
    { version: 'v2.20.0', query: '?limit=2', expected: ['gone', 'busy'], because: 'the oldest come first' },
    {
      version: 'v2.21.0',
      query: '',
      expected: ['idle', 'busy', 'gone'],
      because: 'offline ones are among the others',
    },
    { version: 'v2.26.0', query: '', expected: ['idle', 'busy'], because: 'offline ones are left out' },
  ])('lists daemons $expected in $version: $because', async ({ version, query, expected }) => {
    const { list, connect, submit, at } = await served({ version });
    connect('gone').close();
    at(2 * MINUTE);
    submit();
    connect('busy').acquire(() => {});
    at(2 * MINUTE + SECOND);
    connect('idle');
    expect((await list('daemons', query)).map(({ name }) => name)).toEqual(expected);
  });

  it.each([
    { version: 'v2.22.0', query: '', expected: ['template-1', 'template-2'] },
    { version: 'v2.23.0', query: '', expected: ['template-1'] },
    { version: 'v2.23.0', query: '?q=deprecated:true', expected: ['template-2'] },
    { version: 'v2.22.0', query: '?q=deprecated:false', expected: ['template-1'] },
  ])('lists templates $expected in $version to "$query", the second deprecated', async (row) => {
    const { items, template, model } = await served({ version: row.version });
    template();
    model.changeTemplate(template(), { deprecated: 'Use the other one.' });
    expect((await items(`templates${row.query}`)).map(({ name }) => name)).toEqual(row.expected);
  });
});

describe('a user with rights in one organization', () => {
  it('sees its rows in lists and counts, but all templates and versions, and only itself as member', async () => {
    const { model, template, workspaces, items, get } = await served({ version: 'v2.33.0' });
    const [mine, other] = [template({ organization: 'data' }), template()];
    for (const made of [mine, other, other]) model.workspaces.add({ template: made });
    const token = model.addToken({ canRead: ['data'] });
    expect(await workspaces('', token)).toMatchObject({
      count: 1,
      workspaces: [{ organization_name: 'data' }],
    });
    expect(ids(await items('templates', token))).toEqual([mine.id, other.id]);
    expect((await get(`templateversions/${other.activeVersion.id}`, token)).status).toBe(200);
    expect((await get('organizations/data/provisionerjobs', token)).status).toBe(200);
    expect((await get('organizations/default/provisionerjobs', token)).status).toBe(404);
    expect(await items('organizations/default/members', token)).toMatchObject([{ username: 'autoscaler-2' }]);
  });
});

describe('a token', () => {
  it.each([
    { version: 'v2.29.17', end: '2026-03-03T09:00:00Z' },
    { version: 'v2.29.18', end: '2026-03-03T08:00:00Z' },
    { version: 'v2.34.2', end: '2026-03-03T09:00:00Z' },
    { version: 'v2.34.3', end: '2026-03-03T08:00:00Z' },
  ])('of a day that is used after an hour ends $end in $version', async ({ version, end }) => {
    const { model, get, at } = await served({ version });
    const token = model.addToken({ canRead: 'all', lifetimeMs: DAY });
    const path = `users/me/keys/${idOf(token)}`;
    at(HOUR - SECOND);
    expect((await get(path, token)).body).toMatchObject({ expires_at: '2026-03-03T08:00:00Z' });
    at(HOUR);
    expect((await get(path, token)).body).toMatchObject({ expires_at: end });
    expect((await get(path)).status).toBe(404);
  });

  it('is refused after its end', async () => {
    const { model, get, at } = await served({ version: 'v2.36.0' });
    const token = model.addToken({ canRead: 'all', lifetimeMs: DAY });
    at(DAY);
    expect((await get('users/me', token)).status).toBe(200);
    at(DAY + SECOND);
    const detail = 'API key expired at "2026-03-03 08:00:00 +0000 UTC".';
    expect(await get('users/me', token)).toMatchObject({ status: 401, body: { detail } });
  });
});

it.each([
  { licence: 'entitled', enabled: true },
  { licence: 'grace_period', enabled: true },
  { licence: 'not_entitled', enabled: false },
] as const)('shows whether external daemons are licensed: $licence', async ({ licence, enabled }) => {
  const { model, get } = await served();
  model.licence = licence;
  const features = { external_provisioner_daemons: { entitlement: licence, enabled } };
  expect(await get('entitlements', '')).toMatchObject({ status: 200, body: { features } });
});

describe('the builds of a workspace', () => {
  it.each([
    { query: '', expected: [4, 3, 2, 1], because: 'the newest comes first' },
    { query: '?since=2026-03-02T09:01:00Z', expected: [4, 3], because: 'earlier builds are left out' },
    { query: '?since=2026-03-02T09:02:00Z', expected: [4], because: 'since is exclusive' },
    { query: '?since=2026-03-02T10:02:00%2B01:00', expected: [4], because: 'the time may have a zone' },
    { query: '?limit=2&offset=1', expected: [3, 2], because: 'pages go back in time' },
  ])('are $expected for "$query", even after its deletion: $because', async ({ query, expected }) => {
    const { items, workspace, worker, model, at } = await served();
    worker();
    const record = workspace({ ttlMs: HOUR });
    model.build(record, 'start');
    at(2 * HOUR);
    model.build(record, 'delete');
    at(3 * HOUR);
    expect(model.workspaces.all()).toEqual([]);
    const builds = await items(`workspaces/${record.id}/builds${query}`);
    expect(builds.map(({ build_number }) => build_number)).toEqual(expected);
  });

  it('have one build for a job that was only submitted, with its initiator', async () => {
    const { items, model, submit } = await served();
    const id = submit({ organization: 'data', initiator: 'prebuilds' });
    const { workspace, initiatorId } = model.job(id) ?? {};
    expect(await items(`workspaces/${workspace?.id}/builds`)).toMatchObject([
      { build_number: 1, initiator_id: initiatorId, reason: 'initiator', job: { id } },
    ]);
  });
});

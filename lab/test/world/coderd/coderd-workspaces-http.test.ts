import { describe, expect, it } from 'vitest';
import { IS_FULL } from '../../../../test/support/runs.ts';
import { serve } from '../../../../test/support/servers.ts';
import type { CoderdOptions } from '../../../world/coderd/model.ts';
import { coderdHandler } from '../../../world/coderd/routes/http.ts';
import { coderdWorld, DAY, HOUR, MINUTE } from './coderd-workspaces-fixture.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;

type Item = Readonly<Record<string, unknown>> & { readonly id: string; readonly name: string };
type Page = { readonly workspaces: readonly Item[]; readonly count: number };

async function served(options: Partial<CoderdOptions> = {}) {
  const made = coderdWorld(options);
  const root = await serve(coderdHandler(made.model));
  const all = made.model.addToken({ canRead: 'all' });
  const fetchPath = async (path: string, token = all, init: RequestInit = {}) => {
    const headers = { 'Coder-Session-Token': token };
    const response = await fetch(`${root}/api/v2/${path}`, { ...init, headers });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };
  const workspaces = async (query = '', token = all) =>
    (await fetchPath(`workspaces${query}`, token)).body as Page;
  const templates = async (token = all, query = '') =>
    (await fetchPath(`templates${query}`, token)).body as readonly Item[];
  const check = async (checks: unknown, token = all) =>
    fetchPath('authcheck', token, { method: 'POST', body: JSON.stringify({ checks }) });
  return { ...made, fetchPath, workspaces, templates, check };
}

describe('the list of members', () => {
  const membersOf = async (given: {
    version?: string;
    canReadMembers?: 'all' | readonly string[];
  }): Promise<readonly unknown[]> => {
    const { canReadMembers = 'all', ...options } = given;
    const { fetchPath, model, workspace, workspaces } = await served(options);
    const owner = model.addUser({ username: 'ada' });
    workspace({ owner });
    expect((await workspaces()).workspaces).toMatchObject([{ owner_id: owner.id, owner_name: 'ada' }]);
    model.setUserStatus(owner, 'dormant');
    const token = model.addToken({ canRead: 'all', canReadMembers });
    const path = `organizations/${model.organizationId('default')}/members`;
    const { body } = await fetchPath(path, token);
    return (body as readonly Item[]).map(({ username, status }) => [username, status]);
  };

  it('leaves out members that the user may not read, except the user itself', async () => {
    expect(await membersOf({ version: 'v2.33.0', canReadMembers: ['data'] })).toEqual([
      ['autoscaler-2', 'active'],
    ]);
  });
});

describe('the list of workspaces', () => {
  it('has the fields of 2.30, with null for absent times', async () => {
    const { workspaces, workspace, model } = await served();
    const record = workspace({ schedule: '10 8 * * *' }, { tags: { env: 'a' } });
    const { template, latestBuild } = record;
    expect(await workspaces()).toEqual({
      count: 1,
      workspaces: [
        expect.objectContaining({
          id: record.id,
          name: 'workspace-1',
          organization_id: model.organizationId('default'),
          organization_name: 'default',
          template_id: template.id,
          template_active_version_id: template.activeVersion.id,
          outdated: false,
          is_prebuild: false,
          autostart_schedule: '10 8 * * *',
          next_start_at: '2026-03-02T08:10:00Z',
          last_used_at: '2026-03-02T08:00:00Z',
          dormant_at: null,
          deleting_at: null,
          latest_build: expect.objectContaining({
            id: latestBuild.id,
            build_number: 1,
            created_at: '2026-03-02T08:00:00Z',
            transition: 'stop',
            reason: 'initiator',
            status: 'stopped',
            deadline: null,
            max_deadline: null,
            resources: [],
            job: expect.objectContaining({
              id: expect.stringMatching(UUID),
              status: 'succeeded',
              completed_at: '2026-03-02T08:00:00Z',
              tags: { env: 'a', scope: 'organization', owner: '' },
              metadata: expect.objectContaining({ template_name: '' }),
            }),
          }),
        }),
      ],
    });
    expect((await workspaces()).workspaces[0]).not.toHaveProperty('ttl_ms');
  });

  it('has deadlines, dormancy and deletion', async () => {
    const { workspaces, workspace, at, onlooker } = await served();
    onlooker();
    workspace({ running: true, ttlMs: HOUR }, { maxLifetimeMs: 2 * HOUR });
    workspace({}, { timeTilDormantMs: MINUTE, timeTilDormantAutodeleteMs: HOUR });
    at(2 * MINUTE);
    expect((await workspaces()).workspaces).toMatchObject([
      {
        ttl_ms: HOUR,
        next_start_at: null,
        latest_build: {
          status: 'running',
          deadline: '2026-03-02T09:00:00Z',
          max_deadline: '2026-03-02T10:00:00Z',
        },
      },
      { dormant_at: '2026-03-02T08:02:00Z', deleting_at: '2026-03-02T09:02:00Z' },
    ]);
  });

  it('has the status of the latest build', async () => {
    const { workspaces, workspace, model, at, worker } = await served();
    const record = workspace({ willFail: true });
    const status = async () => (await workspaces()).workspaces[0]?.latest_build;
    model.build(record, 'start');
    expect(await status()).toMatchObject({ status: 'pending', transition: 'start' });
    worker();
    expect(await status()).toMatchObject({ status: 'starting', job: { status: 'running' } });
    at(HOUR);
    expect(await status()).toMatchObject({ status: 'failed', job: { status: 'failed' } });
  });

  it('has pages with the total count, and is complete without a limit', async () => {
    const { workspaces, workspace } = await served();
    for (let n = 0; n < 5; n++) workspace();
    const names = async (query: string) =>
      (await workspaces(query)).workspaces.map(({ name }) => name.replace('workspace-', ''));
    expect(await names('')).toEqual(['1', '2', '3', '4', '5']);
    expect(await names('?limit=0')).toHaveLength(5);
    expect(await names('?limit=2')).toEqual(['1', '2']);
    expect(await names('?limit=2&offset=2')).toEqual(['3', '4']);
    expect(await names('?limit=2&offset=4')).toEqual(['5']);
    expect(await workspaces('?limit=2&offset=6')).toEqual({ workspaces: [], count: 5 });
  });

  it('has running workspaces first, so a workspace moves when it stops', async () => {
    const { workspaces, workspace, model, at, worker } = await served();
    const [one] = [workspace({ running: true }), workspace(), workspace({ running: true })];
    const names = async () => (await workspaces()).workspaces.map(({ name }) => name);
    expect(await names()).toEqual(['workspace-1', 'workspace-3', 'workspace-2']);
    worker();
    model.build(one, 'stop');
    at(MINUTE);
    expect(await names()).toEqual(['workspace-3', 'workspace-1', 'workspace-2']);
  });

  it.each([
    { query: '?limit=-1', message: 'Query parameters have invalid values.', field: 'limit' },
    { query: '?offset=x', message: 'Query parameters have invalid values.', field: 'offset' },
    { query: '?q=next:today', message: 'Invalid workspace search query.', field: 'next' },
  ])('answers 400 to $query', async ({ query, message, field }) => {
    const { fetchPath } = await served();
    const { status, body } = await fetchPath(`workspaces${query}`);
    expect([status, body]).toMatchObject([400, { message, validations: [{ field }] }]);
  });
});

describe('deprecated templates', () => {
  const listed = async (version: string, query = '') => {
    const { templates, template, model } = await served({ version });
    template();
    model.deprecate(template(), 'Use the other one.');
    return (await templates(undefined, query)).map(({ name, deprecated, deprecation_message }) => [
      name,
      deprecated,
      deprecation_message,
    ]);
  };
  const LIVE = ['template-1', false, ''];
  const DEPRECATED = ['template-2', true, 'Use the other one.'];

  it.each([
    { version: 'v2.22.0', query: '', expected: [LIVE, DEPRECATED], because: 'this release lists all' },
    { version: 'v2.23.0', query: '', expected: [LIVE], because: 'they are left out by default' },
    {
      version: 'v2.23.0',
      query: '?q=deprecated:true',
      expected: [DEPRECATED],
      because: 'the filter selects them',
    },
    {
      version: 'v2.22.0',
      query: '?q=deprecated:false',
      expected: [LIVE],
      because: 'the filter excludes them',
    },
  ])(
    'are listed as $expected by $version for the query "$query": $because',
    async ({ version, query, expected }) => {
      expect(await listed(version, query)).toEqual(expected);
    },
  );

  it('are the only search key that the simulator supports', async () => {
    const { fetchPath } = await served();
    expect(await fetchPath('templates?q=author:me')).toMatchObject({
      status: 400,
      body: {
        message: 'Invalid template search query.',
        validations: [{ field: 'author', detail: '"author" is not a valid query param' }],
      },
    });
  });
});

describe('templates', () => {
  it('have their settings and their active version', async () => {
    const { templates, template, model } = await served();
    const made = template({
      autostartDays: ['sunday', 'monday'],
      allowUserAutostart: false,
      defaultTtlMs: 1,
      failureTtlMs: 2,
      timeTilDormantMs: 3,
      timeTilDormantAutodeleteMs: 4,
    });
    model.pushVersion(made, {});
    expect(await templates()).toMatchObject([
      {
        id: made.id,
        organization_id: made.organizationId,
        active_version_id: made.activeVersion.id,
        allow_user_autostart: false,
        autostart_requirement: { days_of_week: ['monday', 'sunday'] },
        default_ttl_ms: 1,
        activity_bump_ms: HOUR,
        failure_ttl_ms: 2,
        time_til_dormant_ms: 3,
        time_til_dormant_autodelete_ms: 4,
      },
    ]);
  });

  it('have build times under upper-case names', async () => {
    const { templates, template } = await served();
    template({ buildMs: { start: 90_000 } });
    expect((await templates())[0]?.build_time_stats).toEqual({
      start: { P50: 90_000, P95: 90_000 },
      stop: { P50: 20_000, P95: 20_000 },
      delete: { P50: 20_000, P95: 20_000 },
    });
  });
});

describe('a template version', () => {
  it('has the tags of its import job, even when another version is active', async () => {
    const { fetchPath, template, model } = await served();
    const made = template({ tags: { env: 'a' } });
    model.pushVersion(made, { env: 'b' });
    for (const { id, tags } of made.versions) {
      const { status, body } = await fetchPath(`templateversions/${id}`);
      expect([status, body]).toMatchObject([
        200,
        { id, template_id: made.id, job: { type: 'template_version_import', status: 'succeeded', tags } },
      ]);
    }
  });
});

describe('a token that may not read all workspaces', () => {
  it('gets lists and counts without the rows of others, but all templates and versions', async () => {
    const { model, template, workspaces, templates, fetchPath } = await served();
    const [mine, other] = [template({ organization: 'data' }), template()];
    for (const made of [mine, other, other]) model.workspaces.add({ template: made });
    const token = model.addToken({ canRead: ['data'] });
    expect(await workspaces('', token)).toMatchObject({
      count: 1,
      workspaces: [{ organization_name: 'data' }],
    });
    expect(await templates(token)).toMatchObject([{ id: mine.id }, { id: other.id }]);
    expect((await fetchPath(`templateversions/${mine.activeVersion.id}`, token)).status).toBe(200);
    expect((await fetchPath(`templateversions/${other.activeVersion.id}`, token)).status).toBe(200);
  });

  it('gets 200 and no workspaces when it may read jobs alone', async () => {
    const { model, workspace, workspaces, templates, fetchPath } = await served();
    workspace();
    const token = model.addToken({ canRead: 'all', canReadWorkspaces: [] });
    expect(await workspaces('', token)).toEqual({ workspaces: [], count: 0 });
    expect(await templates(token)).toHaveLength(1);
    expect((await fetchPath('organizations/default/provisionerjobs', token)).status).toBe(200);
  });
});

describe('the builds of a workspace', () => {
  async function built() {
    const made = await served();
    const { workspace, worker, model, at } = made;
    worker();
    const record = workspace({ ttlMs: HOUR });
    model.build(record, 'start');
    at(2 * HOUR);
    model.build(record, 'delete');
    at(3 * HOUR);
    const builds = (query = '', token?: string) =>
      made.fetchPath(`workspaces/${record.id}/builds${query}`, token);
    const numbers = async (query: string) =>
      ((await builds(query)).body as readonly { readonly build_number: number }[]).map(
        ({ build_number }) => build_number,
      );
    return { ...made, record, builds, numbers };
  }

  it('are listed newest first with their reasons, even after its deletion', async () => {
    const { builds, workspaces, model, record } = await built();
    expect((await workspaces()).count).toBe(0);
    const by = { initiator_id: model.userId, workspace_id: record.id, workspace_name: record.name };
    const [start, stop, deletion] = model.jobs();
    expect((await builds()).body).toMatchObject([
      { ...by, build_number: 4, transition: 'delete', reason: 'initiator', job: { id: deletion?.id } },
      { ...by, build_number: 3, transition: 'stop', reason: 'autostop', job: { id: stop?.id } },
      {
        ...by,
        build_number: 2,
        transition: 'start',
        reason: 'initiator',
        status: 'running',
        deadline: '2026-03-02T09:01:00Z',
        job: { id: start?.id, status: 'succeeded' },
      },
      { ...by, build_number: 1, transition: 'stop', reason: 'initiator' },
    ]);
  });

  it.each([
    { query: '?since=2026-03-02T09:01:00Z', expected: [4, 3], because: 'earlier builds are left out' },
    { query: '?since=2026-03-02T09:02:00Z', expected: [4], because: 'since is exclusive' },
    { query: '?since=2026-03-02T10:02:00%2B01:00', expected: [4], because: 'the time may have a zone' },
    { query: '?limit=2&offset=1', expected: [3, 2], because: 'pages go back in time' },
    { query: '?limit=0', expected: [4, 3, 2, 1], because: '0 means no limit' },
  ])('are filtered by $query: $because', async ({ query, expected }) => {
    expect(await (await built()).numbers(query)).toEqual(expected);
  });

  it('continue after a build with newer ones', async () => {
    const { builds, numbers, record } = await built();
    expect(await numbers(`?after_id=${record.latestBuild.id}`)).toEqual([]);
    const [, stop] = (await builds()).body as readonly { readonly id: string }[];
    expect(await numbers(`?after_id=${stop?.id}`)).toEqual([4]);
  });

  it('have one build for a job that was only submitted, with its initiator', async () => {
    const { fetchPath, model } = await served();
    model.submitJob({ organization: 'data', tags: {}, durationMs: 1, initiator: 'prebuilds' });
    const [job] = model.jobs();
    const { body } = await fetchPath(`workspaces/${job?.workspace?.id}/builds`);
    expect(body).toMatchObject([
      { build_number: 1, initiator_id: job?.initiatorId, reason: 'initiator', job: { id: job?.id } },
    ]);
  });
});

describe('a list of many workspaces', () => {
  it('is answered in pages', async () => {
    const { model, template, workspaces } = await served();
    const made = template({ timeTilDormantMs: 30 * DAY });
    const count = IS_FULL ? 10_000 : 1_000;
    for (let n = 0; n < count; n++)
      model.workspaces.add({ template: made, schedule: '0 9 * * 1-5', running: n % 2 === 0 });
    const seen = new Set<string>();
    for (let offset = 0; offset < count; offset += 250)
      for (const { id } of (await workspaces(`?limit=250&offset=${offset}`)).workspaces) seen.add(id);
    expect(seen.size).toBe(count);
  });
});

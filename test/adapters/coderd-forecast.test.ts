/** One reading of the forecast: pages, permissions, versions, and what servers answer instead. */
import { describe, expect, it } from 'vitest';
import { Forecast } from '../../lambda/adapters/coderd/forecast/forecast.ts';
import { jobSchema } from '../../lambda/adapters/coderd/http/schemas.ts';
import { RememberedJobs } from '../../lambda/adapters/coderd/job-record.ts';
import { parseSnapshot, snapshotToJson } from '../../lambda/adapters/snapshot-schema.ts';
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { ForecastReadings } from '../../lambda/decision/model/snapshot.ts';
import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { START, startLab } from '../support/lab.ts';
import { aJob, anOrganization, aSnapshot, poolName, reading } from '../support/parts.ts';
import { coderdClient } from '../support/servers.ts';
import { aChoice } from '../support/stocked.ts';
import {
  type Fault,
  ForecastServer,
  memberJson,
  NOW,
  templateJson,
  versionJson,
  workspaceJson,
} from './coderd-forecast-server.ts';

const A: Organization = { id: 'org-a' as OrganizationId, name: 'data' };
const B: Organization = { id: 'org-b' as OrganizationId, name: 'web' };
const ROLE =
  'the organization template admin role there, or a custom role with workspace:read and template:read';

/** More time than a test has: a slow machine cuts no reading short. */
const NO_LIMIT_MS = 600_000;

/** A server with this many workspaces of one template of organization A. */
async function serverOf(workspaces: number, budgetMs = NO_LIMIT_MS, mostBytes?: number) {
  const server = new ForecastServer();
  const http = coderdClient(await server.start(), { token: 'secret-token', mostBytes });
  server.workspaces = Array.from({ length: workspaces }, (_, index) => workspaceJson(`workspace-${index}`));
  server.templates = [templateJson('template-1')];
  server.versions.set('version-of-template-1', versionJson({ size: 'big' }));
  server.members = [memberJson('owner')];
  const forecast = new Forecast(http, budgetMs);
  const read = async (organizations = [A]): Promise<ForecastReadings> => {
    const when = { now: server.now as EpochMs, refreshMs: 60_000 };
    const readings = (await forecast.readings(organizations, when)).get(organizations[0]?.id ?? A.id);
    if (readings === undefined) throw new Error('no readings of the organization');
    return readings;
  };
  return { server, forecast, read };
}

const TAGS = { scope: 'organization', owner: '', size: 'big' };
const REFUSED: Fault = { status: 400, body: '{"message":"broken"}' };

describe('a forecast', () => {
  it('has exactly the fields that the lifecycle executor uses', async () => {
    const { read } = await serverOf(1);
    expect(await read()).toEqual({
      workspaces: {
        status: 'ok',
        takenAt: NOW,
        items: [
          {
            id: 'workspace-0',
            organization_id: 'org-a',
            template_id: 'template-1',
            name: 'name of workspace-0',
            owner_id: 'owner',
            owner_name: 'ada',
            automatic_updates: 'never',
            template_require_active_version: false,
            outdated: true,
            autostart_schedule: 'CRON_TZ=Europe/Berlin 0 9 * * 1-5',
            next_start_at: Date.parse('2026-03-03T08:00:00Z'),
            last_used_at: Date.parse('2026-03-01T17:00:00.123Z'),
            dormant_at: null,
            latest_build: {
              created_at: Date.parse('2026-03-01T17:00:00Z'),
              transition: 'stop',
              reason: 'a reason that came later',
              deadline: null,
              max_deadline: null,
              job: {
                status: 'succeeded',
                completed_at: Date.parse('2026-03-01T17:01:00Z'),
                tags: { scope: 'organization', owner: '' },
              },
            },
          },
        ],
      },
      templates: {
        status: 'ok',
        takenAt: NOW,
        items: [
          {
            id: 'template-1',
            organization_id: 'org-a',
            active_version_id: 'version-of-template-1',
            name: 'name of template-1',
            allow_user_autostart: true,
            autostart_requirement: { days_of_week: ['monday', 'friday'] },
            failure_ttl_ms: 0,
            time_til_dormant_ms: 86_400_000,
            time_til_dormant_autodelete_ms: 0,
          },
        ],
      },
      activeVersionTags: { 'template-1': TAGS },
      members: {
        status: 'ok',
        takenAt: NOW,
        items: [
          { user_id: 'owner', status: 'suspended', user_updated_at: Date.parse('2026-03-01T12:00:00Z') },
        ],
      },
    });
  });

  it('survives the round trip through the JSON document and contains no secret', async () => {
    const { read } = await serverOf(2);
    const snapshot = aSnapshot({ organizations: [anOrganization(await read())] });
    const text = JSON.stringify(snapshotToJson(snapshot));
    expect(parseSnapshot(JSON.parse(text))).toEqual(snapshot);
    expect(text).not.toMatch(/hunter2|secret-token|alice/);
    expect(text).toContain('"next_start_at":"2026-03-03T08:00:00.000Z"');
  });

  it('is ok if coderd sends only the required fields', async () => {
    const { server, read } = await serverOf(0);
    const build = { transition: 'start', job: { status: 'running' } };
    server.workspaces = [
      { id: 'w', organization_id: 'org-a', template_id: 'template-1', latest_build: build },
    ];
    server.templates = [
      { id: 'template-1', name: 't', organization_id: 'org-a', active_version_id: 'version-of-template-1' },
    ];
    expect(await read()).toMatchObject({ workspaces: { status: 'ok' }, templates: { status: 'ok' } });
  });

  it('separates the organizations and omits those that were not requested', async () => {
    const { server, forecast } = await serverOf(2);
    server.workspaces.push(
      workspaceJson('of b', { organization_id: 'org-b', template_id: 'template-b' }),
      workspaceJson('of c', { organization_id: 'org-c' }),
    );
    server.templates.push(templateJson('template-b', { organization_id: 'org-b' }));
    server.versions.set('version-of-template-b', versionJson({}));
    const byOrganization = await forecast.readings([A, B], { now: NOW as EpochMs, refreshMs: 60_000 });
    expect([...byOrganization.keys()]).toEqual(['org-a', 'org-b']);
    expect(byOrganization.get(B.id)?.workspaces.items.map(({ id }) => id)).toEqual(['of b']);
    expect(byOrganization.get(B.id)?.activeVersionTags).toEqual({
      'template-b': { scope: 'organization', owner: '' },
    });
    expect(byOrganization.get(A.id)?.workspaces.items).toHaveLength(2);
  });
});

it('reads a snapshot without a forecast', () => {
  const snapshot = aSnapshot({ organizations: [anOrganization()] });
  expect(parseSnapshot(JSON.parse(JSON.stringify(snapshotToJson(snapshot))))).toEqual(snapshot);
});

it('keeps workspace and template of a job in a snapshot, and no other metadata', () => {
  const metadata = { workspace_id: 'w', workspace_name: 'dev', template_id: 't', template_name: 'linux' };
  const jobs = reading([aJob({ metadata: { ...metadata, template_icon: '/secret-project.svg' } as object })]);
  const text = JSON.stringify(snapshotToJson(aSnapshot({ organizations: [anOrganization({ jobs })] })));
  const [organization] = parseSnapshot(JSON.parse(text)).coder.organizations;
  expect(organization?.jobs.items.map((job) => job.metadata)).toEqual([metadata]);
});

it('keeps of the error of a job only whether coderd gave up on it', () => {
  const text = 'terraform apply: token "s3cr3t-0f-th3-cl0ud" is not valid';
  const hung = 'Coder: Build has been detected as hung for 5 minutes and has been terminated by the reaper.';
  const { tags, ...job } = aJob({ status: 'failed' });
  const seen = [text, hung].map((error) =>
    jobSchema.parse({ ...job, tags, created_at: '2026-11-20T08:59:00Z', error }),
  );
  expect(seen.map(({ error }) => error)).toEqual(['other', 'hung']);
  const snapshot = aSnapshot({ organizations: [anOrganization({ jobs: reading(seen) })] });
  const written = JSON.stringify(snapshotToJson(snapshot));
  expect(written).not.toContain('s3cr3t');
  const [organization] = parseSnapshot(JSON.parse(written)).coder.organizations;
  expect(organization?.jobs.items.map(({ error }) => error)).toEqual(['other', 'hung']);
});

it('keeps the record of recent jobs in a snapshot', () => {
  const build = { reason: 'dashboard', metadata: { workspace_build_transition: 'start' } };
  const job = aJob({ status: 'succeeded', completed_at: NOW as EpochMs, ...build });
  const recentJobs = { ...reading([job]), takenAt: NOW as EpochMs };
  const snapshot = aSnapshot({ organizations: [anOrganization({ recentJobs })] });
  const text = JSON.stringify(snapshotToJson(snapshot));
  expect(parseSnapshot(JSON.parse(text))).toEqual(snapshot);
});

it('keeps what was learned of the stock in a snapshot', () => {
  const { id: organizationId } = anOrganization();
  const stock = {
    tagSets: [{ organizationId, tags: normalizeTags(TAGS) }],
    choices: [aChoice({ organizationId, pools: [poolName('cpu')] }, { free: 3, afterBuildMs: 900_000 })],
  };
  const snapshot = { ...aSnapshot(), stock };
  expect(parseSnapshot(JSON.parse(JSON.stringify(snapshotToJson(snapshot))))).toEqual(snapshot);
});

it('keeps the jobs that the record derived from a workspace in a snapshot, without secrets', async () => {
  const { server, read } = await serverOf(1);
  const times = { created_at: '2026-03-01T17:00:00Z', started_at: '2026-03-01T17:00:02Z' };
  const latest_build = {
    transition: 'start',
    reason: 'dashboard',
    initiator_id: 'c42fdf75-3097-471c-8c33-fb52454d81c0',
    initiator_name: 'alice',
    resources: [{ metadata: [{ key: 'password', value: 'hunter2', sensitive: true }] }],
    job: { id: 'job', status: 'running', tags: TAGS, input: { token: 'secret-token' }, ...times },
  };
  server.workspaces = [workspaceJson('workspace', { latest_build })];
  const readings = anOrganization(await read());
  const { jobs, previousJobs, workspaces } = readings;
  const seen = { jobs, previousJobs, workspaces, now: NOW as EpochMs };
  const recentJobs = new RememberedJobs().recentJobs(A.id, seen);
  const text = JSON.stringify(snapshotToJson(aSnapshot({ organizations: [{ ...readings, recentJobs }] })));
  const [organization] = parseSnapshot(JSON.parse(text)).coder.organizations;
  expect(organization?.recentJobs).toEqual(recentJobs);
  expect(recentJobs.items).toMatchObject([{ id: 'job', reason: 'dashboard', tags: TAGS }]);
  expect(text).not.toMatch(/hunter2|secret-token|alice/);
});

const POOLS = ['default', 'data'].map((organization) => ({
  name: organization,
  organization,
  tags: {},
  desiredCount: 0,
}));

describe('a forecast of a simulated world', () => {
  async function worldOf(canReadWorkspaces: 'all' | readonly string[]) {
    const { world, coderdUrl } = await startLab({ pools: POOLS });
    for (const organization of ['default', 'data']) {
      const template = world.coderd.addTemplate({ organization, tags: { size: 'big' } });
      const schedule = 'CRON_TZ=Europe/Berlin 0 12 * * *';
      for (let index = 0; index < 300; index++)
        world.coderd.workspaces.add({ template, schedule, running: index % 2 === 0 });
    }
    const token = world.coderd.addToken({ canRead: 'all', canReadWorkspaces });
    const http = coderdClient(coderdUrl, { token });
    const organizations = world.coderd.organizations.all.map(({ id, name }) => ({ id, name }));
    const byOrganization = await new Forecast(http).readings(organizations, {
      now: START,
      refreshMs: 60_000,
    });
    return organizations.map(({ id }) => byOrganization.get(id));
  }

  it('has every workspace with its next start, its template and the needed tags', async () => {
    for (const readings of await worldOf('all')) {
      expect(readings).toMatchObject({ workspaces: { status: 'ok' }, templates: { status: 'ok' } });
      expect(readings?.workspaces.items).toHaveLength(300);
      const starts = new Set(readings?.workspaces.items.map(({ next_start_at }) => next_start_at));
      expect(starts).toContain(Date.parse('2026-03-02T11:00:00Z'));
      expect(readings?.templates.items).toHaveLength(1);
      expect(Object.values(readings?.activeVersionTags ?? {})).toEqual([TAGS]);
    }
  });

  it('is forbidden if the role may not read workspaces, although coderd answers 200', async () => {
    const [own, data] = await worldOf(['default']);
    expect(own?.workspaces.items).toHaveLength(300);
    expect(data).toMatchObject({ workspaces: { status: 'forbidden' }, templates: { status: 'forbidden' } });
  });
});

describe('requests', () => {
  it('reads 10,000 workspaces with ten pages, and templates, permissions and versions with few requests', async () => {
    const { server, read } = await serverOf(10_000);
    server.templates = Array.from({ length: 30 }, (_, index) => templateJson(`template-${index}`));
    server.workspaces = server.workspaces.map((_, index) =>
      workspaceJson(`workspace-${index}`, { template_id: `template-${index % 20}` }),
    );
    for (let index = 0; index < 30; index++)
      server.versions.set(`version-of-template-${index}`, versionJson({}));
    const { workspaces, activeVersionTags } = await read();
    expect(workspaces.status).toBe('ok');
    expect(workspaces.items).toHaveLength(10_000);
    expect(Object.keys(activeVersionTags)).toHaveLength(20);
    expect(count(server.requests)).toEqual({
      workspaces: 10,
      templates: 2,
      authcheck: 1,
      organizations: 1,
      templateversions: 20,
    });
    expect(server.most.get('workspaces')).toBeLessThanOrEqual(4);
    expect(server.most.get('templateversions')).toBeLessThanOrEqual(8);
    expect(server.requests).toContain('GET workspaces?limit=1000&offset=9000');
  });

  it.each([
    { workspaces: 0, pages: 1 },
    { workspaces: 1_000, pages: 1 },
    { workspaces: 1_001, pages: 2 },
    { workspaces: 2_000, pages: 2 },
  ])('of $workspaces workspaces are $pages for pages', async ({ workspaces, pages }) => {
    const { server, read } = await serverOf(workspaces);
    expect((await read()).workspaces.items).toHaveLength(workspaces);
    expect(count(server.requests).workspaces).toBe(pages);
  });

  it('of workspaces are for smaller pages if one does not fit into memory', async () => {
    const { server, read } = await serverOf(1_300, NO_LIMIT_MS, 300_000);
    const { workspaces } = await read();
    expect(workspaces).toMatchObject({ status: 'ok' });
    expect(workspaces.items).toHaveLength(1_300);
    const lists = server.requests.filter((request) => request.includes('workspaces'));
    const asked = [0, 250, 500, 750, 1000, 1250].map((offset) => `limit=250&offset=${offset}`);
    expect(lists.map((request) => request.replace('GET workspaces?', '')).toSorted()).toEqual(
      ['limit=1000&offset=0', ...asked].toSorted(),
    );
  });

  it('of workspaces fail if the smaller pages do not fit either', async () => {
    const { read } = await serverOf(300, NO_LIMIT_MS, 10_000);
    expect((await read()).workspaces).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('does not fit into memory'),
    });
  });
});

describe('a list of workspaces', () => {
  it('reads at most 50,000 workspaces', async () => {
    const { server, read } = await serverOf(10);
    server.hidden = 1e12;
    expect((await read()).workspaces).toMatchObject({ status: 'truncated' });
    expect(count(server.requests).workspaces).toBe(100);
  });

  it('is truncated if coderd lists fewer workspaces than it counts, also in a second reading', async () => {
    const { server, read } = await serverOf(1_300);
    server.hidden = 2;
    const { workspaces } = await read();
    expect(workspaces).toMatchObject({ status: 'truncated', takenAt: NOW });
    expect(workspaces.items).toHaveLength(1_300);
    expect(workspaces.error).toBe(
      "listing workspaces: coderd counts 1302 workspaces but lists 1300; it omits those whose templates the token's user may not read, and the autoscaler reads at most 50000",
    );
    expect(count(server.requests).workspaces).toBe(4);
  });

  it('reads all pages again if a row has moved to a page that was read, and has each row once', async () => {
    const { server, read } = await serverOf(2_400);
    server.fault = ({ offset }) => {
      // workspace-0 stops while the second page is read, so all later ones move up
      if (offset === 1000 && server.workspaces[0] === moved)
        server.workspaces.push(...server.workspaces.splice(0, 1));
      return undefined;
    };
    const moved = server.workspaces[0];
    const { workspaces } = await read();
    expect(workspaces.status).toBe('ok');
    expect(new Set(workspaces.items.map(({ id }) => id)).size).toBe(2_400);
    expect(workspaces.items).toHaveLength(2_400);
  });

  it('is truncated and has the rows of the other pages if one page fails', async () => {
    const { server, read } = await serverOf(2_400);
    server.fault = ({ offset }) => (offset === 1000 ? REFUSED : undefined);
    const { workspaces, activeVersionTags } = await read();
    expect(workspaces).toMatchObject({
      status: 'truncated',
      takenAt: NOW,
      error: 'listing workspaces: coderd answered 400: broken',
    });
    expect(workspaces.items).toHaveLength(1_400);
    expect(activeVersionTags).toEqual({ 'template-1': TAGS });
  });

  it('is failed if no page arrives in time, while the templates are ok', async () => {
    const { server, read } = await serverOf(600, 1_000);
    server.fault = ({ path }) => (path === 'workspaces' ? 'no answer' : undefined);
    const readings = await read();
    expect(readings.workspaces).toMatchObject({ status: 'failed', items: [] });
    expect(readings.workspaces.error).toMatch(/listing workspaces: no answer from coderd \(.*timeout/);
    expect(readings.workspaces).not.toHaveProperty('takenAt');
    expect(readings.templates.status).toBe('ok');
  });

  it('has the rows of the other pages and their tags if one page does not arrive in time', async () => {
    const { server, read } = await serverOf(2_400, 2_000);
    server.fault = ({ offset }) => (offset === 2000 ? 'no answer' : undefined);
    const { workspaces, activeVersionTags } = await read();
    expect(workspaces.status).toBe('truncated');
    expect(workspaces.items).toHaveLength(2_000);
    expect(activeVersionTags).toEqual({ 'template-1': TAGS });
  });
});

describe('an answer with an unexpected format', () => {
  it.each([
    {
      path: 'workspaces',
      body: { workspaces: [workspaceJson('w', { next_start_at: 'soon' })], count: 1 },
      error: /workspaces\[0\]\.next_start_at: expected an RFC 3339 time, saw "soon"/,
    },
    { path: 'workspaces', body: { workspaces: [] }, error: /count: expected number, saw nothing/ },
    { path: 'workspaces', body: [], error: /the whole answer: expected object, saw a list of 0/ },
    {
      path: 'templates',
      body: [templateJson('t', { failure_ttl_ms: '1h' })],
      error: /\[0\]\.failure_ttl_ms: expected number, saw "1h"/,
    },
  ])('fails the list of $path and names the field: $error', async ({ path, body, error }) => {
    const { server, read } = await serverOf(1);
    server.fault = (request) =>
      request.path === path ? { status: 200, body: JSON.stringify(body) } : undefined;
    const readings = await read();
    const [broken, other] =
      path === 'workspaces'
        ? [readings.workspaces, readings.templates]
        : [readings.templates, readings.workspaces];
    expect(broken).toMatchObject({ status: 'failed', items: [] });
    expect(broken.error).toMatch(error);
    expect(other.status).toBe('ok');
  });
});

describe('permissions', () => {
  it('checks the permissions of all organizations in one request', async () => {
    const { server, read } = await serverOf(1);
    await read([A, B]);
    const check = (resource_type: string, organization_id: string) => ({
      object: { resource_type, organization_id },
      action: 'read',
    });
    expect(server.bodies).toEqual([
      {
        checks: {
          'workspace org-a': check('workspace', 'org-a'),
          'template org-a': check('template', 'org-a'),
          'workspace org-b': check('workspace', 'org-b'),
          'template org-b': check('template', 'org-b'),
        },
      },
    ]);
  });

  it('makes an empty list forbidden only for the organization without permission', async () => {
    const { server, forecast } = await serverOf(0);
    server.permits = (resource, organization) => resource !== 'workspace' || organization !== 'org-a';
    const byOrganization = await forecast.readings([A, B], { now: NOW as EpochMs, refreshMs: 60_000 });
    expect(byOrganization.get(A.id)?.workspaces).toEqual({
      status: 'forbidden',
      error: `listing workspaces of organization "data": coderd does not let the token's user read them; the user needs ${ROLE}`,
      items: [],
    });
    expect(byOrganization.get(A.id)?.templates.status).toBe('ok');
    expect(byOrganization.get(B.id)?.workspaces).toEqual({ status: 'ok', takenAt: NOW, items: [] });
  });

  it('makes only the templates forbidden if only their permission is missing', async () => {
    const { server, read } = await serverOf(1);
    server.permits = (resource) => resource === 'workspace';
    const readings = await read();
    expect(readings.templates).toMatchObject({ status: 'forbidden', items: [] });
    expect(readings.workspaces.status).toBe('ok');
    expect(readings.activeVersionTags).toEqual({});
  });

  it.each([
    { answer: { status: 404 }, because: 'the server does not know the route' },
    { answer: { status: 405 }, because: 'a proxy blocks POST' },
    { answer: { status: 400 }, because: 'the server expects another format' },
    { answer: { status: 200, body: '{"workspace org-a":"no"}' }, because: 'the answer has another format' },
    { answer: { status: 200, body: '{}' }, because: 'the answer does not contain the check' },
  ])('assumes the permission if coderd does not answer the check: $because', async ({ answer }) => {
    const { server, read } = await serverOf(1);
    server.fault = ({ path }) => (path === 'authcheck' ? answer : undefined);
    expect(await read()).toMatchObject({ workspaces: { status: 'ok' }, templates: { status: 'ok' } });
  });

  it.each([403, 404])('names the missing role if a list answers %s', async (status) => {
    const { server, read } = await serverOf(1);
    server.fault = ({ path }) => (path === 'authcheck' ? undefined : { status });
    const { workspaces, templates } = await read();
    const said = `the token's user needs ${ROLE}. coderd answered ${status}: no`;
    expect(workspaces).toEqual({ status: 'forbidden', error: `listing workspaces: ${said}`, items: [] });
    expect(templates).toEqual({ status: 'forbidden', error: `listing templates: ${said}`, items: [] });
  });
});

describe('templates', () => {
  it('reads deprecated templates too, with the tags of their versions', async () => {
    const { server, read } = await serverOf(1);
    server.workspaces.push(workspaceJson('old', { template_id: 'template-2' }));
    server.deprecated = [templateJson('template-2')];
    server.versions.set('version-of-template-2', versionJson({ size: 'small' }));
    const { templates, activeVersionTags } = await read();
    expect(templates).toMatchObject({ status: 'ok', takenAt: NOW });
    expect(templates.items.map(({ id }) => id)).toEqual(['template-1', 'template-2']);
    expect(activeVersionTags['template-2']).toMatchObject({ size: 'small' });
  });

  it('has a deprecated template once if the server lists it with the others', async () => {
    const { server, read } = await serverOf(1);
    server.deprecated = [...server.templates];
    expect((await read()).templates.items).toHaveLength(1);
  });

  it('is failed if one of the two lists fails', async () => {
    const { server, read } = await serverOf(1);
    server.fault = ({ path, query }) =>
      path === 'templates' && query.includes('deprecated') ? REFUSED : undefined;
    expect((await read()).templates).toEqual({
      status: 'failed',
      error: 'listing templates: coderd answered 400: broken',
      items: [],
    });
  });

  it('is truncated if a workspace has a template that is in neither list', async () => {
    const { server, read } = await serverOf(2);
    server.workspaces.push(workspaceJson('lost', { template_id: 'template-9' }));
    const readings = await read();
    expect(readings.templates).toMatchObject({
      status: 'truncated',
      takenAt: NOW,
      error:
        "listing templates: 1 workspace has a template that coderd does not list, such as template-9. The token's user needs the organization template admin role there, or a custom role with workspace:read and template:read",
    });
    expect(readings.templates.items).toHaveLength(1);
    expect(readings.activeVersionTags).toEqual({ 'template-1': TAGS });
    expect(readings.workspaces.status).toBe('ok');
  });

  it('is ok if only a template of another organization is missing', async () => {
    const { server, read } = await serverOf(1);
    server.workspaces.push(workspaceJson('b', { organization_id: 'org-b', template_id: 'template-b' }));
    expect((await read([A, B])).templates.status).toBe('ok');
  });
});

describe('the active version of a template', () => {
  it('makes the templates truncated and is named if it cannot be read', async () => {
    const { server, read } = await serverOf(1);
    server.workspaces.push(workspaceJson('other', { template_id: 'template-2' }));
    server.templates.push(templateJson('template-2'));
    server.fault = ({ path }) => (path.endsWith('template-2') ? REFUSED : undefined);
    const readings = await read();
    expect(readings.templates).toMatchObject({
      status: 'truncated',
      takenAt: NOW,
      error: 'reading the active version of template "name of template-2": coderd answered 400: broken',
    });
    expect(readings.templates.items).toHaveLength(2);
    expect(readings.activeVersionTags).toEqual({ 'template-1': TAGS });
  });

  it('does not matter to another organization if it cannot be read', async () => {
    const { server, read } = await serverOf(1);
    server.workspaces.push(workspaceJson('b', { organization_id: 'org-b', template_id: 'template-b' }));
    server.templates.push(templateJson('template-b', { organization_id: 'org-b' }));
    expect((await read([A, B])).templates.status).toBe('ok');
    expect((await read([B])).templates.status).toBe('truncated');
  });

  it('is counted with the others if several cannot be read', async () => {
    const { server, read } = await serverOf(1);
    server.workspaces.push(workspaceJson('other', { template_id: 'template-2' }));
    server.templates.push(templateJson('template-2'));
    server.versions.clear();
    expect((await read()).templates.error).toBe(
      `reading the active version of template "name of template-1": the token's user needs ${ROLE}. coderd answered 404: no; and of 1 more`,
    );
  });
});

describe('a request with a body', () => {
  it('is sent again with its body after a refused token or a temporary error', async () => {
    const { server, forecast } = await serverOf(1);
    const answers = [401, 502];
    server.fault = ({ path }) => {
      const status = path === 'authcheck' ? answers.shift() : undefined;
      return status === undefined ? undefined : { status };
    };
    server.permits = () => false;
    const byOrganization = await forecast.readings([A], { now: NOW as EpochMs, refreshMs: 60_000 });
    expect(byOrganization.get(A.id)?.workspaces.status).toBe('forbidden');
    expect(server.bodies).toHaveLength(3);
    expect(new Set(server.bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });
});

function count(requests: readonly string[]): Readonly<Record<string, number>> {
  const kinds = requests.map((request) => request.split(/[ /?]/)[1] ?? '');
  return Object.fromEntries(
    [...new Set(kinds)].map((kind) => [kind, kinds.filter((it) => it === kind).length]),
  );
}

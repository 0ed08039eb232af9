/** The forecast is kept: when it is read anew, and what stands in for what can't be. */
import { describe, expect, it } from 'vitest';
import { Forecast } from '../../lambda/adapters/coderd/forecast/forecast.ts';
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { ForecastReadings } from '../../lambda/decision/model/snapshot.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { coderdClient } from '../support/servers.ts';
import {
  type Fault,
  ForecastServer,
  NOW,
  templateJson,
  versionJson,
  workspaceJson,
} from './coderd-forecast-server.ts';

const A: Organization = { id: 'org-a' as OrganizationId, name: 'data' };
const B: Organization = { id: 'org-b' as OrganizationId, name: 'web' };
const REFRESH = 180;
const REFUSED: Fault = { status: 400, body: '{"message":"broken"}' };

/**
 * A server with three workspaces, and a function that looks this many seconds after the first look.
 */
async function kept() {
  const server = new ForecastServer();
  const http = coderdClient(await server.start());
  server.workspaces = ['one', 'two', 'three'].map((id) => workspaceJson(id));
  server.templates = [templateJson('template-1')];
  server.versions.set('version-of-template-1', versionJson({ size: 'big' }));
  const forecast = new Forecast(http);
  const lookAt = async (second: number, organizations = [A]): Promise<ForecastReadings> => {
    server.now = NOW + second * 1000;
    const when = { now: server.now as EpochMs, refreshMs: REFRESH * 1000 };
    const readings = (await forecast.readings(organizations, when)).get(A.id);
    if (readings === undefined) throw new Error('no readings of the organization');
    return readings;
  };
  const pages = () => server.requests.filter((request) => request.includes('workspaces')).length;
  return { server, lookAt, pages };
}

const ids = ({ workspaces }: ForecastReadings) => workspaces.items.map(({ id }) => id);

it.each([
  { second: 0, pages: 1, because: 'the readings are new' },
  { second: REFRESH - 1, pages: 1, because: 'they are younger than the refresh interval' },
  { second: REFRESH, pages: 2, because: 'they are as old as the refresh interval' },
  { second: 86_400, pages: 2, because: 'the function was idle for a day' },
  { second: -10, pages: 1, because: 'the clock of another replica of coderd is a little behind' },
  { second: -REFRESH, pages: 2, because: 'after the clock was set back, the readings must not stay longer' },
])(
  'lists workspaces $pages times if the second look comes after $second s: $because',
  async ({ second, pages, ...own }) => {
    const { lookAt, pages: made } = await kept();
    await lookAt(0);
    const { workspaces } = await lookAt(second);
    expect(made(), own.because).toBe(pages);
    expect(workspaces).toMatchObject({ status: 'ok', takenAt: NOW + (pages - 1) * second * 1000 });
  },
);

it('shares one reading between concurrent looks', async () => {
  const { lookAt, pages } = await kept();
  const [one, two] = await Promise.all([lookAt(0), lookAt(0)]);
  expect(one).toBe(two);
  expect(pages()).toBe(1);
});

it('reads a new organization at once', async () => {
  const { lookAt, pages } = await kept();
  await lookAt(0);
  await lookAt(10, [A, B]);
  await lookAt(20);
  expect(pages()).toBe(2);
});

describe('a list whose refresh fails', () => {
  it('serves the earlier list as stale, with its time and the new error', async () => {
    const { server, lookAt } = await kept();
    const first = await lookAt(0);
    server.workspaces = [];
    server.fault = () => REFUSED;
    expect(await lookAt(REFRESH)).toEqual({
      workspaces: {
        ...first.workspaces,
        status: 'stale',
        error: 'listing workspaces: coderd answered 400: broken',
      },
      templates: {
        ...first.templates,
        status: 'stale',
        error: 'listing templates: coderd answered 400: broken',
      },
      activeVersionTags: first.activeVersionTags,
      members: { ...first.members, status: 'stale' },
    });
  });

  it('keeps the time of the earlier list through further failures and is ok when coderd answers', async () => {
    const { server, lookAt } = await kept();
    await lookAt(0);
    server.fault = () => REFUSED;
    for (const second of [REFRESH, 2 * REFRESH, 3 * REFRESH])
      expect((await lookAt(second)).workspaces).toMatchObject({ status: 'stale', takenAt: NOW });
    server.fault = () => undefined;
    expect((await lookAt(4 * REFRESH)).workspaces).toMatchObject({
      status: 'ok',
      takenAt: NOW + 4 * REFRESH * 1000,
    });
  });

  it.each([
    { second: REFRESH + 29, pages: 2, because: 'it failed 29 s ago' },
    { second: REFRESH + 30, pages: 3, because: 'it failed 30 s ago' },
  ])(
    'retries every 30 s: $pages listings after $second s, because $because',
    async ({ second, pages, because }) => {
      const { server, lookAt, pages: made } = await kept();
      await lookAt(0);
      server.fault = () => REFUSED;
      await lookAt(REFRESH);
      await lookAt(second);
      expect(made(), because).toBe(pages);
    },
  );

  it('retries after 30 s also after a cold start', async () => {
    const { server, lookAt } = await kept();
    server.fault = () => REFUSED;
    expect((await lookAt(0)).workspaces).toMatchObject({ status: 'failed', items: [] });
    server.fault = () => undefined;
    expect((await lookAt(29)).workspaces.status).toBe('failed');
    expect((await lookAt(30)).workspaces.status).toBe('ok');
  });

  it('leaves the other list ok and keeps the tags that its rows need', async () => {
    const { server, lookAt } = await kept();
    await lookAt(0);
    server.fault = ({ path }) => (path === 'workspaces' ? REFUSED : undefined);
    server.templates = [templateJson('template-1', { active_version_id: 'v2' })];
    server.versions.set('v2', versionJson({ size: 'small' }));
    const readings = await lookAt(REFRESH);
    expect(readings.workspaces.status).toBe('stale');
    expect(readings.templates.status).toBe('ok');
    expect(readings.activeVersionTags).toMatchObject({ 'template-1': { size: 'small' } });
  });

  it('has the new rows of the other pages if one page fails', async () => {
    const { server, lookAt } = await kept();
    server.workspaces = Array.from({ length: 1_200 }, (_, index) => workspaceJson(`w${index}`));
    await lookAt(0);
    server.workspaces = server.workspaces.map((_, index) =>
      workspaceJson(`w${index}`, { next_start_at: '2026-03-04T08:00:00Z' }),
    );
    server.fault = ({ offset }) => (offset === 1000 ? REFUSED : undefined);
    const { workspaces } = await lookAt(REFRESH);
    expect(workspaces).toMatchObject({ status: 'stale', takenAt: NOW });
    const starts = workspaces.items.map(({ next_start_at }) => new Date(next_start_at ?? 0).getUTCDate());
    expect(starts.filter((day) => day === 4)).toHaveLength(1_000);
    expect(starts.filter((day) => day === 3)).toHaveLength(200);
  });

  it('begins with the missing pages after a refresh that ran out of time', async () => {
    const { server, lookAt } = await kept();
    server.workspaces = Array.from({ length: 6000 }, (_, index) => workspaceJson(`w${index}`));
    server.fault = ({ offset }) => (offset >= 3000 ? REFUSED : undefined);
    expect(ids(await lookAt(0))).toHaveLength(3000);
    server.fault = () => undefined;
    server.requests.splice(0);
    expect(ids(await lookAt(60))).toHaveLength(6000);
    const place = (offset: number) =>
      server.requests.findIndex((request) => request.endsWith(`&offset=${offset}`));
    expect(place(3000)).toBeLessThan(place(2000));
  });

  it('serves an earlier truncated list as stale', async () => {
    const { server, lookAt } = await kept();
    server.hidden = 1;
    expect((await lookAt(0)).workspaces.status).toBe('truncated');
    server.fault = () => REFUSED;
    const readings = await lookAt(REFRESH);
    expect(readings.workspaces.status).toBe('stale');
    expect(ids(readings)).toEqual(['one', 'two', 'three']);
  });

  it('is forbidden if a permission is missing, whatever was read before', async () => {
    const { server, lookAt } = await kept();
    await lookAt(0);
    server.permits = () => false;
    expect(await lookAt(REFRESH)).toMatchObject({
      workspaces: { status: 'forbidden', items: [] },
      templates: { status: 'forbidden', items: [] },
    });
    server.permits = () => true;
    expect(ids(await lookAt(2 * REFRESH))).toEqual(['one', 'two', 'three']);
  });
});

describe('the tags of a template version', () => {
  const versions = (server: ForecastServer) =>
    server.requests.filter((request) => request.includes('templateversions'));

  it('reads the tags of an active version once', async () => {
    const { server, lookAt } = await kept();
    for (const second of [0, REFRESH, 2 * REFRESH]) await lookAt(second);
    expect(versions(server)).toHaveLength(1);
  });

  it('has the tags of a new active version after the next refresh', async () => {
    const { server, lookAt } = await kept();
    await lookAt(0);
    server.templates = [templateJson('template-1', { active_version_id: 'v2' })];
    server.versions.set('v2', versionJson({ size: 'small' }));
    expect((await lookAt(REFRESH)).activeVersionTags).toMatchObject({ 'template-1': { size: 'small' } });
    expect(versions(server)).toHaveLength(2);
  });

  it('forgets the tags of a version that is no longer active', async () => {
    const { server, lookAt } = await kept();
    const { templates } = server;
    await lookAt(0);
    server.templates = [];
    await lookAt(REFRESH);
    server.templates = templates;
    await lookAt(2 * REFRESH);
    expect(versions(server)).toHaveLength(2);
  });

  it('reads only the missing version again after a failure', async () => {
    const { server, lookAt } = await kept();
    server.workspaces.push(workspaceJson('four', { template_id: 'template-2' }));
    server.templates.push(templateJson('template-2'));
    expect((await lookAt(0)).templates.status).toBe('truncated');
    server.versions.set('version-of-template-2', versionJson({}));
    expect((await lookAt(REFRESH)).templates.status).toBe('ok');
    expect(versions(server)).toHaveLength(3);
  });

  it('keeps the tags while the list of templates fails', async () => {
    const { server, lookAt } = await kept();
    await lookAt(0);
    server.fault = ({ path }) => (path === 'templates' ? REFUSED : undefined);
    const readings = await lookAt(REFRESH);
    expect(readings.activeVersionTags).toMatchObject({ 'template-1': { size: 'big' } });
    server.fault = () => undefined;
    await lookAt(2 * REFRESH);
    expect(versions(server)).toHaveLength(1);
  });
});

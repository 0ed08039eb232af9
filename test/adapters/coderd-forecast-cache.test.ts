/** The forecast is kept: when it is read anew, and what stands in for what can't be. */
import { afterEach, describe, expect, it } from 'vitest';
import { Forecast } from '../../lambda/adapters/coderd/forecast/forecast.ts';
import { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { ForecastReadings } from '../../lambda/decision/model/snapshot.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import {
  type Fault,
  ForecastServer,
  NOW,
  templateJson,
  versionJson,
  workspaceJson,
} from './coderd-forecast-server.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const A: Organization = { id: 'org-a' as OrganizationId, name: 'data' };
const B: Organization = { id: 'org-b' as OrganizationId, name: 'web' };
const REFRESH = 180;
const REFUSED: Fault = { status: 400, body: '{"message":"broken"}' };

/** A server with three workspaces, and a look at so many seconds after the first. */
async function kept() {
  const server = new ForecastServer();
  const http = new CoderdHttp({ url: await server.start(), token: { read: async () => 'token' } });
  closers.push(
    () => http.close(),
    () => server.stop(),
  );
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
  { second: 0, pages: 1, because: 'it is as new as can be' },
  { second: REFRESH - 1, pages: 1, because: 'it is younger' },
  { second: REFRESH, pages: 2, because: 'it is as old' },
  { second: 86_400, pages: 2, because: 'the function slept for a day' },
  { second: -10, pages: 1, because: 'another replica of coderd is a little behind' },
  { second: -REFRESH, pages: 2, because: 'the clock was set back, and would keep it for longer' },
])('a second look after $second s makes $pages listings: $because', async ({ second, pages, ...own }) => {
  const { lookAt, pages: made } = await kept();
  await lookAt(0);
  const { workspaces } = await lookAt(second);
  expect(made(), own.because).toBe(pages);
  expect(workspaces).toMatchObject({ status: 'ok', takenAt: NOW + (pages - 1) * second * 1000 });
});

it('looks at the same time share one reading', async () => {
  const { lookAt, pages } = await kept();
  const [one, two] = await Promise.all([lookAt(0), lookAt(0)]);
  expect(one).toBe(two);
  expect(pages()).toBe(1);
});

it('an organization that was not asked for before is read at once', async () => {
  const { lookAt, pages } = await kept();
  await lookAt(0);
  await lookAt(10, [A, B]);
  await lookAt(20);
  expect(pages()).toBe(2);
});

describe('a list that can not be read anew', () => {
  it('is served as it was, stale, with its time and the new error', async () => {
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

  it('keeps its own time through all further failures, and is ok again when coderd answers', async () => {
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
  ])('is tried again every 30 s: $second s, $pages listings', async ({ second, pages, because }) => {
    const { server, lookAt, pages: made } = await kept();
    await lookAt(0);
    server.fault = () => REFUSED;
    await lookAt(REFRESH);
    await lookAt(second);
    expect(made(), because).toBe(pages);
  });

  it('is tried again after 30 s at a cold start too', async () => {
    const { server, lookAt } = await kept();
    server.fault = () => REFUSED;
    expect((await lookAt(0)).workspaces).toMatchObject({ status: 'failed', items: [] });
    server.fault = () => undefined;
    expect((await lookAt(29)).workspaces.status).toBe('failed');
    expect((await lookAt(30)).workspaces.status).toBe('ok');
  });

  it('does not make the other one stale, and has the tags that its rows need', async () => {
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

  it('but for a page has the new rows of the others', async () => {
    const { server, lookAt } = await kept();
    server.workspaces = Array.from({ length: 300 }, (_, index) => workspaceJson(`w${index}`));
    await lookAt(0);
    server.workspaces = server.workspaces.map((_, index) =>
      workspaceJson(`w${index}`, { next_start_at: '2026-03-04T08:00:00Z' }),
    );
    server.fault = ({ offset }) => (offset === 250 ? REFUSED : undefined);
    const { workspaces } = await lookAt(REFRESH);
    expect(workspaces).toMatchObject({ status: 'stale', takenAt: NOW });
    const starts = workspaces.items.map(({ next_start_at }) => new Date(next_start_at ?? 0).getUTCDate());
    expect(starts.filter((day) => day === 4)).toHaveLength(250);
    expect(starts.filter((day) => day === 3)).toHaveLength(50);
  });

  it('and had no time for all pages begins with those that are missing the next time', async () => {
    const { server, lookAt } = await kept();
    server.workspaces = Array.from({ length: 6000 }, (_, index) => workspaceJson(`w${index}`));
    server.fault = ({ offset }) => (offset >= 3000 ? REFUSED : undefined);
    expect(ids(await lookAt(0))).toHaveLength(3000);
    server.fault = () => undefined;
    server.requests.splice(0);
    expect(ids(await lookAt(60))).toHaveLength(6000);
    const place = (offset: number) =>
      server.requests.findIndex((request) => request.endsWith(`&offset=${offset}`));
    expect(place(3000)).toBeLessThan(place(2750));
  });

  it('and was cut off before is stale with what it had', async () => {
    const { server, lookAt } = await kept();
    server.hidden = 1;
    expect((await lookAt(0)).workspaces.status).toBe('truncated');
    server.fault = () => REFUSED;
    const readings = await lookAt(REFRESH);
    expect(readings.workspaces.status).toBe('stale');
    expect(ids(readings)).toEqual(['one', 'two', 'three']);
  });

  it('for want of a permission is forbidden, whatever there was', async () => {
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

describe('the tags of a version', () => {
  const versions = (server: ForecastServer) =>
    server.requests.filter((request) => request.includes('templateversions'));

  it('are read once, as long as it is active', async () => {
    const { server, lookAt } = await kept();
    for (const second of [0, REFRESH, 2 * REFRESH]) await lookAt(second);
    expect(versions(server)).toHaveLength(1);
  });

  it('are those of the active version, from the next refresh on', async () => {
    const { server, lookAt } = await kept();
    await lookAt(0);
    server.templates = [templateJson('template-1', { active_version_id: 'v2' })];
    server.versions.set('v2', versionJson({ size: 'small' }));
    expect((await lookAt(REFRESH)).activeVersionTags).toMatchObject({ 'template-1': { size: 'small' } });
    expect(versions(server)).toHaveLength(2);
  });

  it('are forgotten with the version', async () => {
    const { server, lookAt } = await kept();
    const { templates } = server;
    await lookAt(0);
    server.templates = [];
    await lookAt(REFRESH);
    server.templates = templates;
    await lookAt(2 * REFRESH);
    expect(versions(server)).toHaveLength(2);
  });

  it('that could not be read are asked for again, alone', async () => {
    const { server, lookAt } = await kept();
    server.workspaces.push(workspaceJson('four', { template_id: 'template-2' }));
    server.templates.push(templateJson('template-2'));
    expect((await lookAt(0)).templates.status).toBe('truncated');
    server.versions.set('version-of-template-2', versionJson({}));
    expect((await lookAt(REFRESH)).templates.status).toBe('ok');
    expect(versions(server)).toHaveLength(3);
  });

  it('outlast a list of templates that fails', async () => {
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

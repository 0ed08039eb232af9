/** What tells whether coderd refuses a transition: members and daemons that have gone. Neither is needed for a forecast. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { Forecast } from '../../lambda/adapters/coderd/forecast/forecast.ts';
import type { EpochMs, JobId, OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { ForecastReadings } from '../../lambda/decision/model/snapshot.ts';
import { coderdClient, serve } from '../support/servers.ts';
import { ForecastServer, memberJson, NOW } from './coderd-forecast-server.ts';

const A = { id: 'org-a' as OrganizationId, name: 'data' };
const REFRESH_MS = 60_000;
const OFFLINE = {
  id: 'daemon',
  organization_id: 'org-a',
  created_at: '2026-03-01T12:00:00Z',
  last_seen_at: '2026-03-01T12:10:00Z',
  name: 'cpu-1',
  status: 'offline',
  tags: { scope: 'organization', owner: '' },
};

/** A server of a release, and a function that reads this many minutes after the first reading. */
async function serverOf(version: string | undefined) {
  const server = new ForecastServer();
  const http = coderdClient(await server.start());
  server.members = [memberJson('owner')];
  server.offlineDaemons = [OFFLINE];
  const forecast = new Forecast(http);
  const readAt = async (minute: number): Promise<ForecastReadings> => {
    server.now = NOW + minute * REFRESH_MS;
    const build = version === undefined ? undefined : { version };
    const when = { now: server.now as EpochMs, refreshMs: REFRESH_MS, build };
    const readings = (await forecast.readings([A], when)).get(A.id);
    if (readings === undefined) throw new Error('no readings of the organization');
    return readings;
  };
  return { server, readAt };
}

const daemonRequests = ({ requests }: ForecastServer): readonly string[] =>
  requests.filter((request) => request.includes('provisionerdaemons'));

describe('offline daemons', () => {
  it('are the newest 1000 of the last four days', async () => {
    const { server, readAt } = await serverOf('v2.26.0');
    expect((await readAt(0)).offlineDaemons).toMatchObject({ status: 'ok', items: [{ id: 'daemon' }] });
    expect(daemonRequests(server)).toEqual([
      'GET organizations/org-a/provisionerdaemons?status=offline&max_age=96h&limit=1000',
    ]);
  });

  it.each([
    { version: 'v2.25.3', because: 'it lists them with the others and refuses the parameters' },
    { version: undefined, because: 'an unknown version may be older' },
  ])('are not requested from coderd $version: $because', async ({ version }) => {
    const { server, readAt } = await serverOf(version);
    expect((await readAt(0)).offlineDaemons).toBeUndefined();
    expect(daemonRequests(server)).toEqual([]);
  });
});

describe('members', () => {
  it('have no status if coderd does not send one', async () => {
    const { server, readAt } = await serverOf('v2.31.0');
    server.members = [{ user_id: 'owner', username: 'ada' }];
    expect((await readAt(0)).members).toMatchObject({ status: 'ok', items: [{ user_id: 'owner' }] });
  });

  it('may be forbidden without an effect on other readings', async () => {
    const { server, readAt } = await serverOf('v2.34.0');
    server.fault = ({ path }) => (path.endsWith('/members') ? { status: 404 } : undefined);
    const readings = await readAt(0);
    expect(readings.members).toMatchObject({ status: 'forbidden', items: [] });
    expect(readings).toMatchObject({ workspaces: { status: 'ok' }, templates: { status: 'ok' } });
  });
});

it('serves earlier evidence with its time if the refresh fails, and does not refresh sooner', async () => {
  const { server, readAt } = await serverOf('v2.34.0');
  const first = await readAt(0);
  server.fault = ({ path }) => (path.startsWith('organizations/') ? { status: 400 } : undefined);
  const { members, offlineDaemons } = await readAt(1);
  expect(members).toEqual({ ...first.members, status: 'stale' });
  expect(offlineDaemons).toEqual({ ...first.offlineDaemons, status: 'stale' });
  await readAt(1.5);
  expect(daemonRequests(server)).toHaveLength(2);
});

it('reads organizations with any id, and one that is no text does not end the look', async () => {
  const ids = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', 'a\udc00', '..', ''));
  const url = await serve((request, response) => {
    const isList = request.url === '/api/v2/organizations';
    response.writeHead(isList ? 200 : 404).end(JSON.stringify([{ id, name: 'data' }]));
  });
  let id = '';
  const http = coderdClient(url);
  await fc.assert(
    fc.asyncProperty(ids, async (given) => {
      id = given;
      const coderd = new CoderdAdapter(http);
      const { items } = await coderd.organizations();
      const [own = A] = items;
      const build = { version: 'v2.30.0' };
      const when = { now: NOW as EpochMs, refreshMs: REFRESH_MS, build };
      const [jobs, previous, forecast] = await Promise.all([
        coderd.jobs(own, build),
        coderd.jobsByIds(own, [own.id as string as JobId]),
        coderd.forecast(items, when),
      ]);
      expect([jobs.status, previous.status]).toEqual(['forbidden', 'forbidden']);
      expect(forecast.get(own.id)?.members?.status).toBe('forbidden');
    }),
    { numRuns: 30 },
  );
});

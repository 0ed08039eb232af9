import { describe, expect, it } from 'vitest';
import type { EpochMs, JobId } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { MINUTE_MS as MINUTE, SECOND_MS as SECOND } from '../../../../lambda/decision/model/units.ts';
import { serve } from '../../../../test/support/servers.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { CoderdModel, type CoderdOptions } from '../../../world/coderd/model.ts';
import { coderdHandler } from '../../../world/coderd/routes/http.ts';

const START = Date.parse('2026-11-20T09:00:00Z') as EpochMs;
const PREBUILDS = 'c42fdf75-3097-471c-8c33-fb52454d81c0';
const NOT_FOUND = { message: 'Resource not found or you do not have access to this resource' };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;

type Item = Readonly<Record<string, unknown>> & { readonly id: string };

async function world(options: Partial<CoderdOptions> & { readonly rateLimit?: number } = {}) {
  const { rateLimit, ...rest } = options;
  const timeline = new Timeline(START);
  const model = new CoderdModel({
    timeline,
    random: new Random(1),
    organizations: ['default', 'data'],
    ...rest,
  });
  const root = await serve(coderdHandler(model, rateLimit === undefined ? {} : { rateLimit }));
  const token = model.addToken({ canRead: 'all' });
  const organization = model.organizations.default.id;

  const fetchPath = (path: string, given: string | undefined = token): Promise<Response> =>
    fetch(root + path, { headers: given === '' ? {} : { 'Coder-Session-Token': given } });
  const get = async (path: string, given?: string) => {
    const response = await fetchPath(path, given);
    const body: unknown = await response.json();
    return { status: response.status, body, headers: response.headers };
  };
  const list = async (what: 'jobs' | 'daemons', query = '', of: string = organization) =>
    get(`/api/v2/organizations/${of}/provisioner${what}${query}`);
  const items = async (what: 'jobs' | 'daemons', query = ''): Promise<Item[]> => {
    const { status, body } = await list(what, query);
    if (status !== 200 || !Array.isArray(body))
      throw new Error(`listing ${what}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const submit = (job: Partial<Parameters<CoderdModel['submitJob']>[0]> = {}): JobId =>
    model.submitJob({ organization: 'default', tags: {}, durationMs: MINUTE, ...job });
  const connect = (name: string, tags: Tags = {}) =>
    model.connect({
      key: model.addKey({ organization: 'default', name: `key-of-${name}`, tags }),
      name,
      version: 'v2.15.0',
    });
  const later = (ms: number): void => timeline.advanceTo((timeline.now() + ms) as EpochMs);
  return { model, organization, token, root, fetchPath, get, list, items, submit, connect, later };
}

const ids = (found: readonly Item[]): string[] => found.map(({ id }) => id);
const query = (parameters: Readonly<Record<string, string>>): string => `?${new URLSearchParams(parameters)}`;

describe('a request without a token', () => {
  it('gets buildinfo, with the commit in the version, and healthz', async () => {
    const { get, fetchPath } = await world({ version: 'v2.30.0' });
    const { status, body } = await get('/api/v2/buildinfo', '');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      version: expect.stringMatching(/^v2\.30\.0\+[0-9a-f]{7}$/),
      provisioner_api_version: '1.14',
      deployment_id: expect.stringMatching(UUID),
    });
    const health = await fetchPath('/healthz', '');
    expect([health.status, await health.text()]).toEqual([200, 'OK']);
  });
});

describe('organizations', () => {
  it('show only their own jobs to a token that may read one of them', async () => {
    const { get, model, submit } = await world();
    submit();
    const mine = submit({ organization: 'data' });
    const token = model.addToken({ canRead: ['data'] });
    const { body } = await get(
      `/api/v2/organizations/${model.organizationId('data')}/provisionerjobs`,
      token,
    );
    expect(body).toMatchObject([{ id: mine }]);
  });
});

describe('the list of jobs', () => {
  it('has the newest 50 jobs first by default, without older ones', async () => {
    const { items, submit, later } = await world();
    const submitted = Array.from({ length: 60 }, () => {
      later(SECOND);
      return submit();
    });
    const newestFirst = submitted.toReversed();
    expect(ids(await items('jobs'))).toEqual(newestFirst.slice(0, 50));
    expect(ids(await items('jobs', '?limit=3'))).toEqual(newestFirst.slice(0, 3));
    expect(ids(await items('jobs', '?limit=0'))).toEqual(newestFirst);
    expect(ids(await items('jobs', '?limit=0&status=pending'))).toEqual(newestFirst);
  });

  it('filters by status, ids, initiator and organization', async () => {
    const { items, submit, connect, model } = await world();
    const [running, pending, prebuild] = [submit(), submit(), submit({ initiator: 'prebuilds' })];
    const foreign = submit({ organization: 'data' });
    connect('one').acquire(() => {});
    model.cancelJob(pending);
    expect(ids(await items('jobs', '?status=running'))).toEqual([running]);
    expect(ids(await items('jobs', '?status=running,canceled'))).toEqual([pending, running]);
    expect(ids(await items('jobs', '?status=pending'))).toEqual([prebuild]);
    expect(ids(await items('jobs', `?initiator=${PREBUILDS}`))).toEqual([prebuild]);
    expect(ids(await items('jobs', `?ids=${prebuild.toUpperCase()},${running},${foreign}`))).toEqual([
      prebuild,
      running,
    ]);
    expect(ids(await items('jobs', `?ids=${running}&ids=${prebuild}&limit=1`))).toEqual([prebuild]);
  });

  it('filters by tags that contain the given ones, and by equality for the untagged set', async () => {
    const { items, submit } = await world();
    const [untagged, env, both] = [{}, { env: 'a' }, { env: 'a', dc: 'x' }].map((tags) => submit({ tags }));
    const found = async (tags: unknown) => ids(await items('jobs', query({ tags: JSON.stringify(tags) })));
    expect(await found({})).toEqual([both, env, untagged]);
    expect(await found({ env: 'a' })).toEqual([both, env]);
    expect(await found({ env: 'a', dc: 'x' })).toEqual([both]);
    expect(await found({ env: 'b' })).toEqual([]);
    expect(await found({ scope: 'organization' })).toEqual([both, env, untagged]);
    expect(await found({ scope: 'organization', owner: '' })).toEqual([untagged]);
  });

  it('has queue positions over all organizations and tags, with prebuilds last', async () => {
    const { items, submit, connect, model } = await world();
    const running = submit();
    connect('one').acquire(() => {});
    const prebuild = submit({ initiator: 'prebuilds' });
    submit({ organization: 'data' });
    const tagged = submit({ tags: { env: 'a' } });
    const cancelled = submit();
    model.cancelJob(cancelled);
    const queue = (await items('jobs')).map((job) => [job.id, job.queue_position, job.queue_size]);
    expect(queue).toEqual([
      [cancelled, 0, 3],
      [tagged, 2, 3],
      [prebuild, 3, 3],
      [running, 0, 3],
    ]);
  });

  it('has every fitting daemon as available for unstarted jobs, including offline ones', async () => {
    const { items, submit, connect, later } = await world();
    const offline = connect('offline');
    offline.close();
    connect('tagged', { env: 'a' });
    later(10 * MINUTE);
    const online = connect('online');
    submit();
    expect(await items('jobs')).toMatchObject([{ available_workers: [offline.id, online.id] }]);
    online.acquire(() => {});
    expect((await items('jobs'))[0]).not.toHaveProperty('available_workers');
    submit({ tags: { env: 'b' } });
    expect((await items('jobs'))[0]).not.toHaveProperty('available_workers');
  });

  it('omits absent fields, and has times without trailing zeros', async () => {
    const { items, submit, later } = await world();
    later(1_500.125);
    submit({ tags: { env: 'a' } });
    const job = (await items('jobs'))[0];
    expect(job).toEqual({
      id: expect.stringMatching(UUID),
      created_at: '2026-11-20T09:00:01.500125Z',
      status: 'pending',
      file_id: expect.stringMatching(UUID),
      tags: { env: 'a', scope: 'organization', owner: '' },
      queue_position: 1,
      queue_size: 1,
      organization_id: expect.stringMatching(UUID),
      initiator_id: expect.stringMatching(UUID),
      input: { workspace_build_id: expect.stringMatching(UUID) },
      type: 'workspace_build',
      metadata: {
        template_version_name: expect.any(String),
        template_id: expect.stringMatching(UUID),
        template_name: 'template-1',
        template_display_name: '',
        template_icon: '',
        workspace_id: expect.stringMatching(UUID),
        workspace_name: 'workspace-1',
      },
      logs_overflowed: false,
    });
  });

  it('keeps the worker of a job whose daemon row was deleted', async () => {
    const { items, list, submit, connect, model } = await world();
    submit();
    const connection = connect('one');
    connection.acquire(() => {});
    model.deleteKey('default', 'key-of-one');
    expect((await list('daemons', '?offline=true')).body).toEqual([]);
    const [job] = await items('jobs', '?status=running');
    expect(job).toMatchObject({ worker_id: connection.id });
    expect(job).not.toHaveProperty('worker_name');
  });

  it.each([
    { version: 'v2.19.0', has: [], lacks: ['metadata', 'worker_name', 'logs_overflowed', 'initiator_id'] },
    { version: 'v2.20.0', has: ['metadata'], lacks: ['worker_name', 'logs_overflowed', 'initiator_id'] },
    { version: 'v2.23.0', has: ['worker_name'], lacks: ['logs_overflowed', 'initiator_id'] },
    { version: 'v2.26.0', has: ['worker_name', 'logs_overflowed'], lacks: ['initiator_id'] },
    { version: 'v2.28.0', has: ['initiator_id', 'worker_name', 'logs_overflowed'], lacks: [] },
  ])('has the fields of $version', async ({ version, has, lacks }) => {
    const { items, submit, connect } = await world({ version });
    submit();
    connect('one').acquire(() => {});
    const [job] = await items('jobs');
    for (const name of has) expect(job).toHaveProperty(name);
    for (const name of lacks) expect(job).not.toHaveProperty(name);
  });
});

describe('one job', () => {
  it('is answered by id, and gives 404 if it is unknown, filtered out, or of another organization', async () => {
    const { list, get, submit, organization } = await world();
    const id = submit();
    const foreign = submit({ organization: 'data' });
    const one = (path: string) => get(`/api/v2/organizations/${organization}/provisionerjobs/${path}`);
    expect(await one(id)).toMatchObject({ status: 200, body: { id, queue_position: 1 } });
    expect(await one(`${id}?status=running`)).toMatchObject({ status: 404, body: NOT_FOUND });
    expect(await one(foreign)).toMatchObject({ status: 404, body: NOT_FOUND });
    expect((await one('x')).status).toBe(400);
    expect((await one(`${id}?ids=${id}`)).status).toBe(400);
    expect((await list('jobs')).status).toBe(200);
  });
});

describe('the list of daemons', () => {
  async function threeDaemons(version: string) {
    const made = await world({ version });
    const offline = made.connect('offline', { env: 'a' });
    offline.close();
    made.later(2 * MINUTE);
    made.submit();
    const busy = made.connect('busy');
    busy.acquire(() => {});
    made.later(SECOND);
    const idle = made.connect('idle');
    return { ...made, offline: offline.id, busy: busy.id, idle: idle.id };
  }

  it('has offline daemons among the others from 2.21 to 2.25', async () => {
    const { items, offline, busy, idle } = await threeDaemons('v2.25.0');
    expect(ids(await items('daemons'))).toEqual([idle, busy, offline]);
  });

  it('has the oldest first in 2.20', async () => {
    const { items, offline, busy, idle } = await threeDaemons('v2.20.0');
    expect(ids(await items('daemons'))).toEqual([offline, busy, idle]);
    expect(ids(await items('daemons', '?limit=1'))).toEqual([offline]);
  });

  it('has at most 50 daemons by default', async () => {
    const { items, connect } = await world();
    for (let n = 0; n < 51; n++) connect(`daemon-${n}`);
    expect(await items('daemons')).toHaveLength(50);
    expect(await items('daemons', '?limit=0')).toHaveLength(51);
  });
});

describe('a release before 2.20', () => {
  it('lists all jobs by default, and refuses ids and tags', async () => {
    const { items, list, submit } = await world({ version: 'v2.19.0' });
    const all = Array.from({ length: 51 }, () => submit());
    expect(await items('jobs')).toHaveLength(51);
    expect(await items('jobs', '?limit=1')).toHaveLength(1);
    expect((await list('jobs', `?ids=${all[0]}`)).status).toBe(400);
    expect((await list('jobs', '?tags={}')).status).toBe(400);
  });

  it('has no route for jobs before 2.19', async () => {
    const { list } = await world({ version: 'v2.18.0' });
    expect(await list('jobs')).toMatchObject({ status: 404, body: { message: 'Route not found.' } });
  });

  it('lists all daemons without status, ignores unknown parameters, and hides rows instead of answering 404', async () => {
    const { list, get, connect, model, organization } = await world({ version: 'v2.18.0' });
    for (let n = 0; n < 60; n++) connect(`daemon-${n}`);
    const { status, body } = await list('daemons', '?limit=1&offline=false');
    expect(status).toBe(200);
    expect(body).toHaveLength(60);
    expect((body as Item[])[0]).not.toHaveProperty('status');
    const path = `/api/v2/organizations/${organization}/provisionerdaemons`;
    expect(await get(path, model.addToken({ canRead: [] }))).toMatchObject({ status: 200, body: [] });
  });
});

describe('headers and limits', () => {
  it('have the date of the virtual clock and the version', async () => {
    const { list, later } = await world();
    later(90 * SECOND);
    const { headers } = await list('jobs');
    expect(headers.get('date')).toBe('Fri, 20 Nov 2026 09:01:30 GMT');
    expect(headers.get('x-coder-build-version')).toMatch(/^v2\.30\.0/);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('refuse the 513th request of a minute', async () => {
    const { list } = await world();
    for (let n = 1; n <= 512; n++) {
      const { status, headers } = await list('jobs');
      if (status !== 200) throw new Error(`request ${n}: ${status}`);
      if (n === 1) expect(headers.get('x-ratelimit-remaining')).toBe('511');
    }
    const { status, body, headers } = await list('jobs');
    expect(status).toBe(429);
    expect(body).toEqual({ message: "You've been rate limited for sending more than 512 requests in 1m0s." });
    expect(Object.fromEntries(headers)).toMatchObject({
      'retry-after': '60',
      'x-ratelimit-limit': '512',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String((START + MINUTE) / 1_000),
    });
  });

  it('count by user and path, in a sliding window', async () => {
    const { list, get, later, model, organization } = await world({ rateLimit: 4 });
    const statuses = async (requests: number) => {
      const seen: number[] = [];
      for (let n = 0; n < requests; n++) seen.push((await list('jobs', `?limit=${n}`)).status);
      return seen;
    };
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 429]);
    expect((await list('daemons')).status).toBe(200);
    const path = `/api/v2/organizations/${organization}/provisionerjobs`;
    expect((await get(path, model.addToken({ canRead: 'all' }))).status).toBe(200);
    later(90 * SECOND);
    expect(await statuses(3)).toEqual([200, 200, 429]);
    later(2 * MINUTE);
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 429]);
  });

  it('do not limit healthz', async () => {
    const { fetchPath } = await world({ rateLimit: 1 });
    await fetchPath('/healthz');
    expect((await fetchPath('/healthz')).status).toBe(200);
  });
});

/** The list of jobs as coderd may change it (coder#27919), and parameters that coderd refuses. */
import { describe, expect, it } from 'vitest';
import { readJobDetails, readJobsSince } from '../../cli/adapters/history.ts';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { jobSchema } from '../../lambda/adapters/coderd/http/schemas.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import type { EpochMs, JobId, OrganizationId } from '../../lambda/decision/model/brands.ts';
import { serve } from '../support/servers.ts';

const organization = { id: 'o' as OrganizationId, name: 'default' };
const BUILD = { version: 'v2.40.0' };

const row = (id: string, status: string) => ({
  ...{
    id,
    status,
    created_at: '2026-01-01T00:00:00Z',
    organization_id: 'o',
    tags: {},
    type: 'workspace_build',
  },
});
const JOBS = [
  ...Array.from({ length: 150 }, (_, index) => row(`old-${index}`, 'succeeded')),
  row('waits', 'pending'),
  row('runs', 'running'),
];

type Refusing = (query: URLSearchParams) => readonly string[];

/** As the draft does: filters are in `q`, `limit=0` is 100, and other parameters are ignored. */
function draft(query: URLSearchParams, jobs = JOBS) {
  const [key, values = ''] = (query.get('q') ?? '').split(':');
  const wanted = new Set(values.split(','));
  const found = jobs.filter((job) => !key || wanted.has(key === 'id' ? job.id : job.status));
  return { jobs: found.slice(0, Number(query.get('limit')) || 100), count: found.length, count_cap: 2000 };
}

/** As coderd does today. */
function list(query: URLSearchParams) {
  const statuses = query.get('status')?.split(',');
  return JOBS.filter(({ status }) => statuses === undefined || statuses.includes(status));
}

async function coderdThat(answer: (query: URLSearchParams) => unknown, refusing: Refusing = () => []) {
  const queries: string[] = [];
  const url = await serve((request, response) => {
    const query = new URL(`http://x${request.url}`).searchParams;
    queries.push([...query.keys()].join(' '));
    const refused = refusing(query);
    const validations = refused.map((field) => ({ field, detail: `"${field}" is not a valid query param` }));
    if (refused.length > 0) response.statusCode = 400;
    response.end(
      JSON.stringify(
        refused.length > 0 ? { message: 'Invalid query parameters.', validations } : answer(query),
      ),
    );
  });
  const http = new CoderdHttp({ url, token: { read: async () => new Secret('token') } });
  return { queries, http, coderd: new CoderdAdapter(http) };
}

const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);

describe('the list of jobs of coder#27919', () => {
  it('has the open jobs, although it ignores the parameters of today', async () => {
    const { coderd, queries } = await coderdThat(draft);
    const jobs = await coderd.jobs(organization, BUILD);
    expect(jobs).toMatchObject({ status: 'ok', limit: 0 });
    expect(idsOf(jobs.items)).toEqual(['waits', 'runs']);
    expect(queries).toEqual(['status limit', 'q limit']);
  });

  it('has the open jobs if it refuses the parameters of today, and is never read without a filter', async () => {
    const { coderd, queries } = await coderdThat(draft, (query) => (query.has('status') ? ['status'] : []));
    const jobs = await coderd.jobs(organization, BUILD);
    expect(jobs.status).toBe('ok');
    expect(idsOf(jobs.items)).toEqual(['waits', 'runs']);
    expect(queries).toEqual(['status limit', 'q limit']);
  });

  it('has all open jobs, although a limit of 0 is 100 there', async () => {
    const many = Array.from({ length: 130 }, (_, index) => row(`waits-${index}`, 'pending'));
    const { coderd } = await coderdThat((query) => draft(query, many));
    const jobs = await coderd.jobs(organization, BUILD);
    expect({ status: jobs.status, jobs: jobs.items.length }).toEqual({ status: 'ok', jobs: 130 });
  });

  it('is truncated if it refuses the limit, whatever coderd counts', async () => {
    const { coderd } = await coderdThat(
      (query) => ({ ...draft(query), count: 2 }),
      (query) => (query.has('q') && query.has('limit') ? ['limit'] : []),
    );
    const jobs = await coderd.jobs(organization, BUILD);
    expect(jobs.status).toBe('truncated');
    expect(jobs.error).toContain('coderd refuses limit');
  });

  it('counts a row that cannot be read as listed', async () => {
    const { coderd } = await coderdThat((query) => {
      const { jobs, ...rest } = draft(query);
      return { ...rest, jobs: jobs.map((job) => (job.id === 'runs' ? { id: 'runs' } : job)) };
    });
    const jobs = await coderd.jobs(organization, BUILD);
    expect(jobs).toMatchObject({ status: 'truncated', leftOut: [{ row: 'runs' }] });
    expect(jobs.error).not.toContain('coderd counts');
  });

  it('has jobs by id', async () => {
    const { coderd, http } = await coderdThat(draft);
    const jobs = await coderd.jobsByIds(organization, ['old-120', 'runs'] as JobId[]);
    expect(jobs.status).toBe('ok');
    expect(idsOf(jobs.items)).toEqual(['old-120', 'runs']);
    expect(await readJobDetails(http, organization, 'old-140')).toMatchObject({ id: 'old-140' });
  });

  it('has past jobs', async () => {
    const { http, queries } = await coderdThat(draft);
    const since = { since: 0 as EpochMs, build: BUILD, schema: jobSchema };
    expect((await readJobsSince(http, organization, since)).jobs).toHaveLength(JOBS.length);
    expect(new Set(queries)).toEqual(new Set(['limit']));
  });

  it('is truncated if it has fewer jobs than coderd counts', async () => {
    const { coderd } = await coderdThat((query) => ({ ...draft(query), count: 7 }));
    const jobs = await coderd.jobs(organization, BUILD);
    expect(jobs).toMatchObject({ status: 'truncated', items: [{}, {}] });
    expect(jobs.error).toMatch(/organization "default": coderd counts 7 jobs and lists 2$/);
  });
});

describe('a parameter that coderd refuses is named and left out of', () => {
  const refused =
    (name: string): Refusing =>
    (query) =>
      query.has(name) ? [name] : [];

  it('the list of jobs', async () => {
    const { coderd, queries } = await coderdThat(list, refused('limit'));
    const jobs = await coderd.jobs(organization, BUILD);
    expect(jobs.status).toBe('truncated');
    expect(idsOf(jobs.items)).toEqual(['waits', 'runs']);
    expect(jobs.error).toMatch(
      /: coderd refuses limit \("limit" is not a valid query param\), so it was left out$/,
    );
    expect(queries).toEqual(['status limit', 'status']);
  });

  it('the list of daemons', async () => {
    const { coderd } = await coderdThat(() => [], refused('max_age'));
    const daemons = await coderd.daemons(organization, BUILD);
    expect(daemons).toMatchObject({ status: 'truncated', items: [] });
    expect(daemons.error).toMatch(/coderd refuses max_age/);
  });
});

it('another refusal fails the list, and names the parameter', async () => {
  const { coderd, queries } = await coderdThat(list, () => ['organization']);
  const jobs = await coderd.jobs(organization, BUILD);
  expect(jobs.status).toBe('failed');
  expect(queries).toHaveLength(1);
  expect(jobs.error).toMatch(
    /coderd answered 400: Invalid query parameters\. organization: "organization" is not/,
  );
});

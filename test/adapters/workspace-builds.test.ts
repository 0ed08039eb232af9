/** Past builds of workspaces, as coderd answers, and as it does not. */
import { describe, expect, it } from 'vitest';
import { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { RememberedJobs } from '../../lambda/adapters/coderd/job-record.ts';
import { WorkspaceBuilds } from '../../lambda/adapters/coderd/workspace-builds.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { Job } from '../../lambda/decision/model/snapshot.ts';
import { DAY_MS as DAY } from '../../lambda/decision/model/units.ts';
import { ago, aJob, aWorkspace, HOUR, jobId, MINUTE, NOW, reading } from '../support/parts.ts';
import { serve } from '../support/servers.ts';

const SINCE = ago(7 * DAY);
const ORGANIZATION = 'org-default' as OrganizationId;
const iso = (at: number): string => new Date(at).toISOString();

/** As coderd writes a build. */
const build = (id: string, ageMs: number, reason = 'initiator') => ({
  id: `build-${id}`,
  created_at: iso(ago(ageMs)),
  build_number: 7,
  transition: 'start',
  reason,
  initiator_id: 'somebody',
  resources: [{ agents: [{ name: 'main' }] }],
  job: {
    ...{ id, status: 'succeeded', tags: { scope: 'organization', owner: '' }, created_at: iso(ago(ageMs)) },
    ...{ started_at: iso(ago(ageMs)), completed_at: iso(ago(ageMs - MINUTE)), type: 'workspace_build' },
  },
});

type Answer = { readonly status?: number; readonly body?: unknown };

/** What the record has after a reading of these workspaces, and the requests. */
async function readFrom(
  answer: (workspace: string) => Answer,
  {
    workspaces = ['a'],
    known = [],
  }: { readonly workspaces?: readonly string[]; readonly known?: readonly Job[] } = {},
) {
  const requests: string[] = [];
  const url = await serve((request, response) => {
    requests.push(request.url ?? '');
    const { status = 200, body = [] } = answer(request.url?.split('/')[4] ?? '');
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const record = new RememberedJobs();
  const seen = { jobs: reading<Job>([]), previousJobs: reading(known), now: NOW as EpochMs };
  record.recentJobs(ORGANIZATION, seen);
  const http = new CoderdHttp({ url, token: { read: async () => new Secret('token') } });
  const listed = workspaces.map((id) => aWorkspace({ id }));
  await new WorkspaceBuilds(http, record).read(listed, SINCE, new AbortController().signal);
  await http.close();
  return { requests, jobs: record.recentJobs(ORGANIZATION, seen).items };
}

describe('past builds of workspaces', () => {
  it('are read with one request for each workspace, and become recent jobs with their reasons', async () => {
    const { requests, jobs } = await readFrom(
      (workspace) => ({
        body: [build(`${workspace}2`, HOUR), build(`${workspace}1`, 2 * HOUR, 'autostart')],
      }),
      { workspaces: ['a', 'b'] },
    );
    const query = `since=${encodeURIComponent(iso(SINCE))}&limit=100`;
    expect(requests.toSorted()).toEqual(['a', 'b'].map((id) => `/api/v2/workspaces/${id}/builds?${query}`));
    expect(jobs.map(({ id, reason }) => `${id} ${reason}`).toSorted()).toEqual([
      ...['a1 autostart', 'a2 initiator', 'b1 autostart', 'b2 initiator'],
    ]);
    expect(jobs[0]).toMatchObject({
      completed_at: ago(HOUR - MINUTE),
      metadata: { workspace_id: 'a', workspace_build_transition: 'start' },
    });
  });

  it('do not count twice beside the jobs of looks', async () => {
    const known = aJob({ id: jobId('x'), created_at: ago(HOUR), started_at: ago(HOUR), status: 'running' });
    const { jobs } = await readFrom(() => ({ body: [build('x', HOUR)] }), { known: [known] });
    expect(jobs).toHaveLength(1);
    expect(jobs[0]).toMatchObject({
      status: 'succeeded',
      completed_at: ago(HOUR - MINUTE),
      reason: 'initiator',
    });
  });

  it('are forgotten if they are older than seven days, or from the future of another clock', async () => {
    const { jobs } = await readFrom(() => ({
      body: [build('old', 8 * DAY), build('new', HOUR), build('later', -3 * HOUR)],
    }));
    expect(jobs.map(({ id }) => id)).toEqual(['new']);
  });

  it.each<[string, Answer]>([
    ['forbids them', { status: 404, body: { message: 'Resource not found' } }],
    ['refuses the token', { status: 403, body: { message: 'Forbidden' } }],
    ['has an error', { status: 500, body: { message: 'Internal error' } }],
    ['answers with another form', { body: { builds: [] } }],
    ['answers with builds of another form', { body: [{ id: 'x' }] }],
  ])('end with the first request if coderd %s', async (_, bad) => {
    const workspaces = Array.from({ length: 20 }, (_, index) => `w${index}`);
    const { requests, jobs } = await readFrom(() => bad, { workspaces });
    expect(jobs).toEqual([]);
    // the client tries again after an error
    expect(new Set(requests).size).toBeLessThanOrEqual(4);
  });

  it('keep those that came before a failure', async () => {
    const { jobs } = await readFrom(
      (workspace) => (workspace === 'bad' ? { status: 500 } : { body: [build(workspace, HOUR)] }),
      { workspaces: ['a', 'b', 'c', 'bad', 'd', 'e', 'f', 'g', 'h'] },
    );
    expect(jobs.map(({ id }) => id)).toEqual(expect.arrayContaining(['a', 'b', 'c']));
  });
});

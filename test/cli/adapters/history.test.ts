/** Reading back in time: lists that have no pages, and a client with more patience than a look. */
import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { readJobsSince } from '../../../cli/adapters/history.ts';
import { readBuildsSince } from '../../../lab/what-if/cli/trace/history.ts';
import type { CoderdHttp, CoderdHttpOptions } from '../../../lambda/adapters/coderd/http/http.ts';
import { jobSchema } from '../../../lambda/adapters/coderd/http/schemas.ts';
import { type EpochMs, type OrganizationId, plusMs } from '../../../lambda/decision/model/brands.ts';
import { SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { START } from '../../support/lab.ts';
import { coderdClient, serve } from '../../support/servers.ts';

async function clientOf(
  listener: RequestListener,
  waiting: Pick<CoderdHttpOptions, 'patience' | 'wholeMs'> = {},
): Promise<CoderdHttp> {
  return coderdClient(await serve(listener), waiting);
}

const organization = { id: 'some-id' as OrganizationId, name: 'data' };
const build = { version: 'v2.30.0' };

/** A coderd with this many jobs, one a second until START. It records the requested limits. */
async function history(count: number) {
  const limits: number[] = [];
  const http = await clientOf((request, response) => {
    const limit = Number(new URL(`http://coderd${request.url}`).searchParams.get('limit'));
    limits.push(limit);
    const jobs = Array.from({ length: Math.min(limit, count) }, (_, n) => ({
      id: `${n}`,
      created_at: new Date(START - n * SECOND_MS).toISOString(),
      status: 'succeeded',
      organization_id: 'some-id',
      tags: {},
      type: 'workspace_build',
    }));
    response.end(JSON.stringify(jobs));
  });
  const read = (seconds: number) =>
    readJobsSince(http, organization, {
      since: plusMs(START, -seconds * SECOND_MS),
      build,
      schema: jobSchema,
    });
  return { read, limits };
}

describe('readJobsSince', () => {
  it.each([
    { jobs: 0, seconds: 60, expected: 0, limits: [4_000], because: 'there are no jobs' },
    { jobs: 3_999, seconds: 1e6, expected: 3_999, limits: [4_000], because: 'coderd has no more jobs' },
    { jobs: 9_000, seconds: 3_998, expected: 3_999, limits: [4_000], because: 'the last job is older' },
    {
      jobs: 9_000,
      seconds: 3_999,
      expected: 4_000,
      limits: [4_000, 16_000],
      because: 'the last one is not older, so there may be more',
    },
    {
      jobs: 20_000,
      seconds: 1e6,
      expected: 20_000,
      limits: [4_000, 16_000, 64_000],
      because: 'the limit has to exceed all jobs',
    },
  ])('reads $seconds s of $jobs jobs with the limits $limits: $because', async (given) => {
    const { read, limits } = await history(given.jobs);
    const { jobs, hasOlder } = await read(given.seconds);
    expect(jobs).toHaveLength(given.expected);
    expect(hasOlder).toBe(given.expected < given.jobs);
    expect(limits).toEqual(given.limits);
  });

  it('fails without a request if coderd is too old to list jobs', async () => {
    const http = await clientOf((_, response) => response.end('[]'));
    await expect(
      readJobsSince(http, organization, { since: START, build: { version: 'v2.18.1' }, schema: jobSchema }),
    ).rejects.toThrow(
      'coderd v2.18.1 is too old: the autoscaler needs the provisioner jobs API of 2.20 or newer',
    );
  });
});

it('requests builds from one minute before the start time', async () => {
  const urls: string[] = [];
  const http = await clientOf((request, response) => {
    urls.push(request.url ?? '');
    response.end(
      JSON.stringify([{ reason: 'autostart', initiator_id: 'a', job: { id: 'j', tags: {} }, more: 1 }]),
    );
  });
  expect(await readBuildsSince(http, 'ws', START as EpochMs)).toEqual([
    { reason: 'autostart', initiator_id: 'a', job: { id: 'j' } },
  ]);
  expect(urls.map(decodeURIComponent)).toEqual([
    '/api/v2/workspaces/ws/builds?since=2026-03-02T08:59:00.000Z',
  ]);
});

it('gives no builds if it cannot read each of them', async () => {
  const builds = [{ reason: 'autostart', job: { id: 'j' } }, { job: { id: 'k' } }];
  const http = await clientOf((_, response) => response.end(JSON.stringify(builds)));
  await expect(readBuildsSince(http, 'ws', START)).rejects.toMatchObject({
    code: 'misfit',
    message: expect.stringMatching(/1 of 2 rows cannot be read.*reason: expected string/),
  });
});

describe('patience', () => {
  it('limits the time that coderd may be silent', async () => {
    const http = await clientOf(() => {}, { patience: { silentMs: 50, retryMs: 0 } });
    await expect(readBuildsSince(http, 'ws', START)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/Headers Timeout/),
    });
  });

  it('limits the time that coderd may ask to wait', async () => {
    let requests = 0;
    const listener: RequestListener = (_, response) => {
      requests += 1;
      response.writeHead(429, { 'retry-after': '1' }).end('{"message":"too many"}');
    };
    const http = await clientOf(listener, { patience: { silentMs: 5_000, retryMs: 999 } });
    await expect(readBuildsSince(http, 'ws', START)).rejects.toMatchObject({ code: 'rate-limited' });
    expect(requests).toBe(1);
  });
});

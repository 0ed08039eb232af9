/** The coderd adapter against the world's coderd, and against servers that answer nonsense. */
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { coderdHandler } from '../../lab/world/coderd/routes/http.ts';
import { World } from '../../lab/world/world.ts';
import { readDefaultOrganization } from '../../lambda/adapters/coderd/account.ts';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import type { CoderdHttpOptions } from '../../lambda/adapters/coderd/http/http.ts';
import {
  PATIENCE_OF_A_LOOK,
  parseRetryAfterMs,
  withRetries,
} from '../../lambda/adapters/coderd/http/retries.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import type { EpochMs, JobId, OrganizationId } from '../../lambda/decision/model/brands.ts';
import { compareVersion } from '../../lambda/decision/model/version.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { START } from '../support/lab.ts';
import { aJob, jobId, NOW, SECOND } from '../support/parts.ts';
import { coderdClient, makeCertificate, serve as servePlain, serveTls } from '../support/servers.ts';

const certificate = makeCertificate();
type Read = (options: { readonly fresh: boolean }) => Promise<string>;

const organization: Organization = { id: 'some-id' as OrganizationId, name: 'data' };
const MODERN = { version: 'v2.30.0' };

describe.each(['http', 'https'] as const)('over %s', (scheme) => {
  const serve = (listener: RequestListener): Promise<string> =>
    scheme === 'http' ? servePlain(listener) : serveTls(certificate, listener);

  type Given = Pick<CoderdHttpOptions, 'wholeMs' | 'now' | 'mostBytes'> & { readonly read?: Read };
  function adapter(url: string, { read = async () => 'token', ...given }: Given = {}): CoderdAdapter {
    const token = { read: async (options: { readonly fresh: boolean }) => new Secret(await read(options)) };
    const patience = { ...PATIENCE_OF_A_LOOK, firstRetryMs: 5 };
    return new CoderdAdapter(coderdClient(url, { token, caBundle: certificate.cert, patience, ...given }));
  }

  async function worldOf(coderVersion: string, canRead: 'all' | readonly string[] = 'all') {
    const world = new World({
      start: START,
      seed: 1,
      pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 }],
      organizations: ['default', 'data'],
      coderVersion,
    });
    const urls: string[] = [];
    const handle = coderdHandler(world.coderd);
    const url = await serve((request, response) => {
      urls.push(request.url ?? '');
      handle(request, response);
    });
    const token = world.coderd.addToken({ canRead });
    return { world, urls, coderd: adapter(url, { read: async () => token }) };
  }

  describe('readings of a simulated world', () => {
    it.each(['v2.20.0', 'v2.25.0', 'v2.26.0', 'v2.30.0', 'v2.36.0'])(
      'are ok with coderd %s',
      async (version) => {
        const { world, coderd } = await worldOf(version);
        for (let index = 0; index < 120; index++)
          world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 1000 });
        const build = (await coderd.buildInfo()).items[0];
        expect(build?.version).toContain(version);
        const organizations = await coderd.organizations();
        expect(organizations.items.map(({ name }) => name)).toEqual(['default', 'data']);
        const [own] = organizations.items;
        if (own === undefined) throw new Error('no organization');
        const jobs = await coderd.jobs(own, build);
        expect(jobs).toMatchObject({ status: 'ok', limit: 0 });
        // more than the default limit of 50, which would lose the oldest jobs
        expect(jobs.items).toHaveLength(120);
        expect(await coderd.daemons(own, build)).toMatchObject({ status: 'ok', items: [] });
        expect(jobs.takenAt).toBe(START);
      },
    );

    it.each([
      { version: 'v2.25.0', asks: [undefined, undefined], because: 'it refuses the parameters' },
      { version: 'v2.30.0', asks: ['true', '1h'], because: 'it leaves offline daemons out by default' },
    ])('ask coderd $version for offline daemons as $asks: $because', async ({ version, asks }) => {
      const { urls, coderd } = await worldOf(version);
      const [own] = (await coderd.organizations()).items;
      if (own === undefined) throw new Error('no organization');
      await coderd.daemons(own, { version });
      const query = new URL(urls.at(-1) ?? '', 'http://coderd').searchParams;
      expect(['offline', 'max_age'].map((name) => query.get(name) ?? undefined)).toEqual(asks);
    });

    it('ask for no more than 100 jobs that have left the queue', async () => {
      const own = adapter('http://127.0.0.1:1');
      const at = (ms: number) => (START + ms) as EpochMs;
      const jobs = Array.from({ length: 150 }, (_, index) =>
        aJob({ id: jobId(`job-${index}`), created_at: START }),
      );
      const nothing = { status: 'ok', items: [] } as const;
      const seen = { jobs: { status: 'ok', items: jobs } as const, previousJobs: nothing, now: START };
      own.recentJobs(organization, { ...seen, workspaces: undefined });
      expect(own.gone(organization, { ...nothing, takenAt: at(40 * 60_000) })).toHaveLength(100);
    });

    it('name the needed version if coderd is too old to list jobs', async () => {
      const { coderd } = await worldOf('v2.19.3');
      const jobs = await coderd.jobs(organization, (await coderd.buildInfo()).items[0]);
      expect(jobs.status).toBe('failed');
      expect(jobs.error).toMatch(
        /coderd v2\.19\.3\S* is too old: the autoscaler needs the provisioner jobs API of 2\.20 or newer/,
      );
    });

    it('request previous jobs with 100 ids each', async () => {
      const { world, coderd, urls } = await worldOf('v2.30.0');
      const ids: JobId[] = [];
      for (let index = 0; index < 205; index++)
        ids.push(world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 1 }));
      const [own] = (await coderd.organizations()).items;
      if (own === undefined) throw new Error('no organization');
      const jobs = await coderd.jobsByIds(own, ids);
      expect(jobs.items).toHaveLength(205);
      expect(urls.filter((url) => url.includes('ids='))).toHaveLength(3);
    });

    it('are forbidden without the permission and name the missing role', async () => {
      const { coderd } = await worldOf('v2.30.0', ['default']);
      const data = (await coderd.organizations()).items.find(({ name }) => name === 'data');
      if (data === undefined) throw new Error('no organization');
      expect(await coderd.jobs(data, MODERN)).toEqual({
        status: 'forbidden',
        limit: 0,
        tookMs: expect.any(Number),
        items: [],
        error:
          'listing provisioner jobs of organization "data": the token\'s user needs the organization template admin role there, or a custom role with provisioner_jobs:read. coderd answered 404: Resource not found or you do not have access to this resource',
      });
    });
  });

  describe('a token that coderd refuses', () => {
    const listener: RequestListener = (request, response) => {
      const isGood = request.headers['coder-session-token'] === 'good';
      response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' });
      response.end(
        isGood
          ? '[]'
          : JSON.stringify({
              message: 'You are signed out or your session has expired. Please sign in again to continue.',
            }),
      );
    };

    it('is read from the secret again, once', async () => {
      const reads: boolean[] = [];
      const read: Read = async ({ fresh }) => {
        reads.push(fresh);
        return fresh ? 'good' : 'stale';
      };
      const coderd = adapter(await serve(listener), { read });
      expect((await coderd.organizations()).status).toBe('ok');
      expect(reads).toEqual([false, true]);
    });

    it('fails the reading if coderd refuses it again, without the token in the message', async () => {
      const coderd = adapter(await serve(listener), { read: async () => 'very-secret' });
      const reading = await coderd.organizations();
      expect(reading.status).toBe('failed');
      expect(reading.error).toMatch(
        /refuses the token, also after it was read again.*Store a valid token in it. .*401: You are signed out/,
      );
      expect(reading.error).not.toContain('very-secret');
    });
  });

  it.each([400, 401, 403, 500])('hides the token in the body of an error %i', async (status) => {
    const url = await serve((request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: `who is ${request.headers['coder-session-token']}?` }));
    });
    const reading = await adapter(url, { read: async () => 'very-secret' }).organizations();
    expect(reading.error).toContain(`coderd answered ${status}: who is (hidden)?`);
  });

  describe('an answer with an unexpected format', () => {
    const job = {
      id: 'x',
      created_at: '2026-01-01T00:00:00Z',
      status: 'pending',
      organization_id: 'o',
      tags: {},
      type: 't',
    };
    it.each([
      { answer: '{}', error: /the whole answer: expected array, saw an object with nothing in it/ },
      { answer: 'null', error: /the whole answer: expected array, saw null/ },
      { answer: '', error: /200 with 0 characters that are not JSON/ },
      { answer: '<html>Sign in</html>', error: /are not JSON.*check that coder\.url is the URL of coderd/ },
      {
        answer: JSON.stringify([
          { ...job, created_at: 'late' },
          { ...job, created_at: 'soon' },
        ]),
        error: /\[1\]\.created_at: expected an RFC 3339 time, saw "soon"/,
      },
      {
        answer: JSON.stringify([{ ...job, tags: { a: 1 } }]),
        error: /\[0\]\.tags\.a: expected string, saw 1/,
      },
      {
        answer: JSON.stringify([{ ...job, status: undefined }]),
        error: /\[0\]\.status: expected string, saw nothing/,
      },
    ])('fails the reading and describes the answer $answer', async ({ answer, error }) => {
      const coderd = adapter(await serve((_, response) => response.end(answer)));
      const reading = await coderd.jobs(organization, MODERN);
      expect(reading.status).toBe('failed');
      expect(reading.items).toEqual([]);
      expect(reading.error).toMatch(error);
    });

    it('accepts unknown fields and null in optional fields', async () => {
      const strange = { ...job, started_at: null, worker_id: null, news: [1], initiator_id: null };
      const coderd = adapter(await serve((_, response) => response.end(JSON.stringify([strange]))));
      expect((await coderd.jobs(organization, MODERN)).status).toBe('ok');
    });
  });

  describe('a list that is too long for the memory', () => {
    const MOST = 64 * 1024;
    const rows = Array.from({ length: 5_000 }, (_, index) => ({
      id: `row-${index}`,
      created_at: '2026-01-01T00:00:00Z',
      status: 'pending',
      organization_id: 'o',
      ...{ name: 'n', tags: {}, type: 't' },
    }));
    const listing: RequestListener = (request, response) => {
      const limit = Number(new URL(request.url ?? '', 'http://coderd').searchParams.get('limit'));
      response.end(JSON.stringify(limit === 0 ? rows : rows.slice(0, limit)));
    };

    it.each(['jobs', 'daemons'] as const)('is truncated to its newest rows: %s', async (list) => {
      const coderd = adapter(await serve(listing), { mostBytes: 8 * MOST });
      const reading = await coderd[list](organization, MODERN);
      expect(reading).toMatchObject({ status: 'truncated', limit: 1000 });
      expect(reading.items).toHaveLength(1000);
      expect(reading.error).toBe(
        `listing provisioner ${list} of organization "data": coderd's answer is longer than 0.5 MiB, which does not fit into memory; raise aws.function.memory, or for a command NODE_OPTIONS=--max-old-space-size. Only the newest 1000 rows are read`,
      );
    });

    it('fails the reading if its newest rows are too long too', async () => {
      const reading = await adapter(await serve(listing), { mostBytes: MOST }).jobs(organization, MODERN);
      expect(reading).toMatchObject({ status: 'failed', items: [] });
      expect(reading.error).toContain("coderd's answer is longer than 0.1 MiB");
    });

    it('is not requested to its end, and not again', async () => {
      let requests = 0;
      const url = await serve((_, response) => {
        requests += 1;
        const send = (): void => {
          while (response.write(`[${' '.repeat(MOST)}`)) {}
        };
        response.on('drain', send);
        send();
      });
      const reading = await adapter(url, { mostBytes: MOST }).organizations();
      expect(reading).toMatchObject({ status: 'failed', items: [] });
      expect(requests).toBe(1);
    });
  });

  describe('errors of the server', () => {
    it('are retried if they are temporary', async () => {
      let requests = 0;
      const url = await serve((_, response) => {
        requests += 1;
        response.writeHead(requests < 3 ? 502 : 200).end(requests < 3 ? '<html>' : '[]');
      });
      expect((await adapter(url).organizations()).status).toBe('ok');
      expect(requests).toBe(3);
    });

    it('fail the reading after three tries', async () => {
      let requests = 0;
      const url = await serve((_, response) => {
        requests += 1;
        response
          .writeHead(500)
          .end(JSON.stringify({ message: 'Internal error.', detail: 'pq: no connection' }));
      });
      const reading = await adapter(url).organizations();
      expect(reading.error).toBe(
        'listing organizations: coderd answered 500: Internal error. pq: no connection',
      );
      expect(requests).toBe(3);
    });

    it('include 404, which is not retried', async () => {
      let requests = 0;
      const url = await serve((_, response) => {
        requests += 1;
        response.writeHead(404).end();
      });
      await adapter(url).organizations();
      expect(requests).toBe(1);
    });

    it('include a redirect, whose target is named', async () => {
      const url = await serve((_, response) =>
        response.writeHead(307, { location: 'https://other.example.com/' }).end(),
      );
      expect((await adapter(url).organizations()).error).toContain(
        '307, a redirect to https://other.example.com/',
      );
    });

    it.each([502, 503, 504])('say that coderd is down where a proxy answers %i', async (status) => {
      const url = await serve((_, response) => response.writeHead(status).end('<html>'));
      const { error } = await adapter(url).organizations();
      expect(error).toMatch(
        new RegExp(
          `coderd answered ${status}\\. A proxy or load balancer answered for it: .*; check that coderd runs$`,
        ),
      );
    });

    it('say that the user of the token is suspended, not that the token is wrong', async () => {
      const message =
        'User is not active (status = "suspended"). Contact an admin to reactivate your account.';
      const url = await serve((_, response) =>
        response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ message })),
      );
      const { error = '' } = await adapter(url).organizations();
      expect(error).toContain("coderd refuses the token's user, who is suspended. Run: coder users activate");
      expect(error).toContain(`coderd answered 401: ${message}`);
      expect(error).not.toContain('Store a valid token');
    });

    it('fails the reading if an answer never ends', async () => {
      const url = await serve((_, response) => {
        response.write('[');
        const drip = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(drip));
      });
      const reading = await adapter(url, { wholeMs: 200 }).organizations();
      expect(reading.status).toBe('failed');
      expect(reading.error).toMatch(
        /coderd began to answer, but its answer did not end in time \(.*(timeout|aborted).*\); check the load of coderd/i,
      );
      expect(reading.error).not.toMatch(/no answer|routes/);
    });

    it('fails the reading if the token cannot be read in time', async () => {
      const url = await serve((_, response) => response.end('[]'));
      const reading = await adapter(url, { read: () => new Promise(() => {}), wholeMs: 50 }).organizations();
      expect(reading.error).toBe(
        'listing organizations: Secrets Manager did not return the session token in time',
      );
    });

    it.each([
      { token: 'two\nlines', names: 'a line break at position 4' },
      { token: 'two\u2028lines', names: 'white space at position 4' },
      { token: '\u201ctwo-lines\u201d', names: 'the character U+201C at position 1' },
      { token: 'two\u2013lines', names: 'the character U+2013 at position 4' },
      { token: 'two lines', names: 'white space at position 4' },
      { token: 'two\u0000lines', names: 'the character U+0000 at position 4' },
      { token: 'tw\u00f6lines', names: 'the character U+00F6 at position 3' },
    ])('fails the reading before a request if the token contains $names', async ({ token, names }) => {
      let requests = 0;
      const url = await serve((_, response) => {
        requests += 1;
        response.end('[]');
      });
      const reading = await adapter(url, { read: async () => token }).organizations();
      expect(reading.status).toBe('failed');
      expect(reading.error).toBe(
        `listing organizations: the session token in the secret contains ${names}, which is not allowed; store the session token again`,
      );
      expect(requests).toBe(0);
    });

    it.each([
      { length: { 'content-length': '100' }, kind: 'with a length' },
      { length: {}, kind: 'without a length' },
    ])('reads an answer $kind again as a whole if it was cut, and then fails', async ({ length }) => {
      const ranges: (string | undefined)[] = [];
      const url = await serve((request, response) => {
        ranges.push(request.headers.range);
        response.writeHead(200, length);
        response.write('[{"id"', () => response.destroy());
      });
      expect((await adapter(url).organizations()).error).toMatch(
        /closed the connection before the answer was complete; check their logs$/,
      );
      expect(ranges).toEqual([undefined, undefined, undefined]);
    });

    it('reads an answer that was cut once', async () => {
      let requests = 0;
      const url = await serve((_, response) => {
        requests += 1;
        if (requests > 1) response.end('[]');
        else response.write('[{"id"', () => response.destroy());
      });
      expect((await adapter(url).organizations()).status).toBe('ok');
    });

    it('asks for uncompressed answers, because a proxy may compress', async () => {
      const url = await serve((request, response) => {
        const isPlain = request.headers['accept-encoding'] === 'identity';
        response.end(isPlain ? '[]' : gzipSync('[]'));
      });
      expect((await adapter(url).organizations()).status).toBe('ok');
    });

    it('fails the reading if nothing listens at the URL', async () => {
      const reading = await adapter(`${scheme}://127.0.0.1:1`).organizations();
      expect(reading.status).toBe('failed');
      expect(reading.error).toMatch(
        /no answer from coderd \(.*ECONNREFUSED.*\); nothing listens there; check the host and port in coder\.url/,
      );
    });

    it('waits for a 429 with a short Retry-After', async () => {
      let requests = 0;
      const url = await serve((_, response) => {
        requests += 1;
        response.writeHead(requests === 1 ? 429 : 200, { 'retry-after': '0' }).end('[]');
      });
      expect((await adapter(url).organizations()).status).toBe('ok');
      expect(requests).toBe(2);
    });

    it.each([{}, { 'retry-after': 'soon' }])(
      'asks again at the next look after a 429 with $retry-after',
      async (headers) => {
        let requests = 0;
        const url = await serve((_, response) => {
          requests += 1;
          response.writeHead(429, headers).end('{"message":"too many"}');
        });
        const coderd = adapter(url);
        expect((await coderd.organizations()).error).not.toContain('pause');
        const ofOneLook = requests;
        await coderd.organizations();
        expect(requests).toBe(2 * ofOneLook);
      },
    );

    it.each([
      { asked: '60', pauseS: 60 },
      { asked: '86400', pauseS: 300 },
      { asked: 'Fri, 01 Jan 2100 00:00:00 GMT', pauseS: 300 },
    ])(
      'pauses requests to a path for $pauseS s after a 429 with Retry-After $asked, and reports it',
      async ({ asked, pauseS }) => {
        const paths: string[] = [];
        const url = await serve((request, response) => {
          paths.push(request.url ?? '');
          const isJobs = request.url?.includes('provisionerjobs') ?? false;
          response
            .writeHead(isJobs ? 429 : 200, { 'retry-after': asked })
            .end(isJobs ? '{"message":"You\'ve been rate limited"}' : '[]');
        });
        let now = START;
        const coderd = adapter(url, { now: () => now });
        const until = new Date(START + pauseS * 1000).toISOString();
        expect((await coderd.jobs(organization, MODERN)).error).toMatch(
          `429: You've been rate limited; it asks for a pause of ${Number(asked) || ''}`,
        );
        now = (START + pauseS * 1000 - 1) as EpochMs;
        const { error } = await coderd.jobs(organization, MODERN);
        expect(error).toMatch(/coderd limits the rate of this request; it asked for a pause of \d+ s/);
        expect(error).toContain(`the next try is after ${until}`);
        expect((await coderd.daemons(organization, MODERN)).status).toBe('ok');
        expect(paths).toHaveLength(2);
        now = (START + pauseS * 1000) as EpochMs;
        await coderd.jobs(organization, MODERN);
        expect(paths).toHaveLength(3);
      },
    );

    it('sends the next request at once after a 503 with a long Retry-After: coderd may be back', async () => {
      let requests = 0;
      const url = await serve((_, response) => {
        requests += 1;
        response.writeHead(503, { 'retry-after': '60' }).end();
      });
      const coderd = adapter(url, { now: () => START });
      await coderd.jobs(organization, MODERN);
      await coderd.jobs(organization, MODERN);
      expect(requests).toBe(2);
    });

    it.each([
      { stepS: 120, because: 'at most 300 s are left of the pause', requests: 1 },
      { stepS: 3_600, because: 'no pause is that long', requests: 2 },
    ])(
      'sends $requests requests when the clock steps back by $stepS s: $because',
      async ({ stepS, requests }) => {
        const paths: string[] = [];
        const url = await serve(({ url = '' }, response) => {
          paths.push(url);
          response.writeHead(429, { 'retry-after': '60' }).end();
        });
        let now = START;
        const coderd = adapter(url, { now: () => now });
        await coderd.jobs(organization, MODERN);
        now = (START - stepS * 1000) as EpochMs;
        await coderd.jobs(organization, MODERN);
        expect(paths).toHaveLength(requests);
      },
    );
  });
});

it.each([
  { header: '3', expected: 3000 },
  { header: '0', expected: 0 },
  { header: '-5', expected: 0 },
  { header: 'Thu, 01 Jan 1970 00:00:00 GMT', expected: 0 },
  { header: new Date(NOW + 4 * SECOND).toUTCString(), expected: 4000 },
  { header: 'soon', expected: undefined },
  { header: undefined, expected: undefined },
])('parses Retry-After $header as $expected ms', ({ header, expected }) => {
  expect(parseRetryAfterMs(header, NOW)).toBe(expected);
});

it.each([
  { retryMs: 2, tries: 3 },
  { retryMs: 1, tries: 2 },
])(
  'tries $tries times within waits of at most $retryMs ms, of which the second is twice the first',
  async (row) => {
    let tries = 0;
    const act = async () => {
      tries += 1;
      return { statusCode: 503, headers: {} };
    };
    const { signal } = new AbortController();
    await withRetries(act, { retryMs: row.retryMs, firstRetryMs: 1, signal, now: () => NOW });
    expect(tries).toBe(row.tries);
  },
);

it.each([
  { rows: [{}, { is_default: true }], expected: 'o1', because: 'coderd says so' },
  { rows: [{}, { is_default: false }], expected: undefined, because: 'none is' },
])('takes $expected as the default organization, because $because', async ({ rows, expected }) => {
  const listed = rows.map((row, index) => ({ id: `o${index}`, name: `org-${index}`, ...row }));
  const url = await servePlain((_, response) => response.end(JSON.stringify(listed)));
  expect((await readDefaultOrganization(coderdClient(url)))?.id).toBe(expected);
});

it('waits until the date of Retry-After by the injected clock', async () => {
  const busy = { statusCode: 503, headers: { 'retry-after': new Date(NOW).toUTCString() } };
  const answersAt = async (now: number): Promise<number> => {
    let answers = 0;
    const act = async () => {
      answers += 1;
      return answers < 2 ? busy : { statusCode: 200, headers: {} };
    };
    const { signal } = new AbortController();
    await withRetries(act, { retryMs: 5_000, signal, now: () => now });
    return answers;
  };
  expect(await answersAt(NOW)).toBe(2);
  // a look does not wait for six seconds
  expect(await answersAt(NOW - 6 * SECOND)).toBe(1);
});

it.each([
  { once: true, requests: 1, because: 'it changes coderd, and may have done so' },
  { once: false, requests: 3, because: 'it only reads' },
])('sends a request $requests times that coderd answers with 503: $because', async ({ once, requests }) => {
  let sent = 0;
  const url = await servePlain((_, response) => {
    sent += 1;
    response.writeHead(503).end();
  });
  const patience = { ...PATIENCE_OF_A_LOOK, firstRetryMs: 1 };
  const client = coderdClient(url, { token: { read: async () => new Secret('token') }, patience });
  const { statusCode } = await client.answer({ method: 'POST', path: '/api/v2/x', body: '{}', once });
  expect({ statusCode, sent }).toEqual({ statusCode: 503, sent: requests });
});

it('makes no second try after the signal has aborted', async () => {
  const over = new AbortController();
  let tries = 0;
  const act = async () => {
    tries += 1;
    over.abort();
    return { statusCode: 503, headers: {} };
  };
  const limits = { retryMs: 5_000, firstRetryMs: 1, signal: over.signal, now: () => NOW };
  expect(await withRetries(act, limits)).toMatchObject({ statusCode: 503 });
  expect(tries).toBe(1);
});

it.each([
  { version: 'v2.30.0+3006da5', than: '2.26', expected: 4 },
  { version: '2.26.1', than: '2.26', expected: 0 },
  { version: 'v2.9.0', than: '2.19', expected: -10 },
  { version: 'v3.0.0', than: '2.26', expected: 1 },
  { version: 'devel', than: '2.19', expected: undefined },
  { version: undefined, than: '2.19', expected: undefined },
])('compares version $version with $than as $expected', ({ version, than, expected }) => {
  expect(compareVersion(version, than)).toBe(expected);
});

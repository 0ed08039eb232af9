/** `autoscaler doctor --deep` over HTTP: one line for each difference from the recorded answers. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { recordedReleases } from '../../../cli/doctor/answers/recordings.ts';
import { checkAnswers } from '../../../cli/doctor/answers.ts';
import { SimulatedStage } from '../../../lab/proof/conformance/stage/simulated-stage.ts';
import { playStory } from '../../../lab/proof/conformance/story/story.ts';
import type { World } from '../../../lab/world/world.ts';
import type { OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { runIn } from '../../support/cli-run.ts';
import { type Lab, type LabPool, labConfig, startLab } from '../../support/lab.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { asPerson } from '../../support/own-labs.ts';
import { IS_FULL, rows } from '../../support/runs.ts';
import { serve } from '../../support/servers.ts';

type Reply = { readonly status: number; readonly text: string; readonly type: string };
/** Changes an answer on its way from coderd. `asked`: `GET /api/v2/…`. */
type Change = (asked: string, reply: Reply) => Reply;
type Case = {
  readonly coderVersion?: string;
  readonly organizations?: readonly string[];
  readonly broken?: (world: World) => void;
  readonly change?: Change;
};

const folder = ownFolder();
const file = join(folder, 'autoscaler.yaml');

asPerson();

async function deep(given: Case = {}) {
  const { coderVersion = 'v2.36.0', organizations = ['default'], broken, change } = given;
  const pools = organizations.map(
    (organization): LabPool => ({ name: organization, organization, tags: {} }),
  );
  const lab = await startLab({ pools, organizations, coderVersion });
  lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 1000 });
  broken?.(lab.world);
  const asked: string[] = [];
  const url = await before(lab, asked, change);
  writeFileSync(file, stringify(labConfig(url, pools)));
  const now = () => lab.world.timeline.now();
  const { out, code } = await runIn({ now }, 'doctor', '--deep', '--config', file);
  const lines = out.split('\n').filter((line) => /^\S+ +answers: /.test(line));
  return { out, code, lines, asked };
}

/** The URL of a server that passes everything on. */
function before({ coderdUrl }: Lab, asked: string[], change: Change = (_, reply) => reply): Promise<string> {
  return serve(async (request, response) => {
    let sent = '';
    for await (const chunk of request) sent += String(chunk);
    const what = `${request.method} ${request.url}`;
    const body = request.method === 'POST' ? sent : null;
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' && name.startsWith('coder-') ? [[name, value]] : [],
    );
    const own = await fetch(`${coderdUrl}${request.url}`, { method: request.method ?? 'GET', headers, body });
    const type = own.headers.get('content-type') ?? '';
    const reply = change(what, { status: own.status, text: await own.text(), type });
    asked.push(`${what} ${reply.status}`);
    const date = own.headers.get('date') ?? '';
    response.writeHead(reply.status, { 'content-type': reply.type, date }).end(reply.text);
  });
}

/** Changes the answers to requests that contain this text. */
const changing =
  (part: string, change: (reply: Reply) => Partial<Reply>): Change =>
  (asked, reply) =>
    asked.includes(part) ? { ...reply, ...change(reply) } : reply;

/** Each item without the field. */
const without =
  (field: string) =>
  ({ text }: Reply): Partial<Reply> => ({
    text: JSON.stringify(JSON.parse(text), (key, value) => (key === field ? undefined : value)),
  });

const html = { text: '<html>Not here</html>', type: 'text/html' };

type Difference = {
  readonly scenario: string;
  readonly change: Change;
  readonly says: readonly string[];
  /** It changes the same answer as another one. */
  readonly isAlone?: boolean;
};

/** In a quick run one coderd has all differences, except those that would hide another. */
function together(all: readonly Difference[]): readonly Difference[] {
  const those = all.filter(({ isAlone = IS_FULL }) => !isAlone);
  const joint: Difference = {
    scenario: those.map(({ scenario }) => scenario).join(', '),
    says: those.flatMap(({ says }) => says),
    change: (asked, reply) => those.reduce((changed, { change }) => change(asked, changed), reply),
  };
  return [...(IS_FULL ? [] : [joint]), ...all.filter((one) => !those.includes(one))];
}

describe('a coderd that answers like the recorded releases', () => {
  it.each(rows(recordedReleases(), 2))('passes for %s after the recorded story', async (release) => {
    const stage = await SimulatedStage.at(release);
    onTestFinished(() => stage.close());
    await playStory(stage);
    const http = stage.http('reader');
    onTestFinished(() => http.close());
    const checks = await checkAnswers({
      http,
      organizations: [{ id: stage.names.wordFor('organization') as OrganizationId, name: 'coder' }],
      version: stage.version,
      tokenId: stage.names.wordFor('key of reader'),
    });
    expect(checks).toEqual([
      {
        ...{ name: 'answers', status: 'ok' },
        says: `13 answers as from coder ${release}. These lists are empty, so their fields were not compared: provisionerjobs`,
      },
    ]);
  });

  it.each(
    rows([
      ['v2.22.0', 'coder v2.25.3 (the nearest tested release)'],
      ['v2.26.0', 'coder v2.25.3 or v2.29.5 (the nearest tested release)'],
      ['v2.29.19', 'coder v2.29.5'],
      ['v2.31.0', 'coder v2.29.5 or v2.34.8 (the nearest tested release)'],
      ['v2.38.0', 'coder v2.36.0 (the nearest tested release)'],
    ]),
  )('names the releases that %s is compared with', async (coderVersion, as) => {
    const { lines } = await deep({ coderVersion });
    expect(lines).toEqual([
      `ok    answers: 13 answers as from ${as}. These lists are empty, so their fields were not compared: workspaces, provisionerdaemons`,
    ]);
  });
});

it.each(rows(['v2.20.3', 'v2.21.3', 'v2.22.1', 'v2.23.5', 'v2.24.4'], 2))(
  'does not miss fields in the answers of %s that later releases brought',
  async (coderVersion) => {
    const { lines } = await deep({
      coderVersion,
      broken: ({ coderd }) => {
        coderd.workspaces.add({ template: coderd.addTemplate({ organization: 'default' }), running: true });
        coderd.addBuiltInDaemons(1);
      },
    });
    expect(lines).toEqual(['ok    answers: 13 answers as from coder v2.25.3 (the nearest tested release)']);
  },
);

describe('a difference', () => {
  const summary = (count: number): string =>
    `warn  answers: ${count} of 13 answers differ from those of coder v2.36.0. Look for a newer release of the autoscaler, or report these lines`;
  const api = '/api/v2/organizations/default';

  const differences: readonly Difference[] = [
    {
      scenario: 'a query that is refused now',
      change: changing('deprecated%3Atrue', () => ({ status: 400, text: '{"message":"No such filter."}' })),
      says: [
        'warn  answers: GET /api/v2/templates?q=deprecated:true: this coderd answered 400 "No such filter."; coder v2.36.0 answers 200',
      ],
    },
    {
      scenario: 'a page of a proxy in place of a list',
      change: changing('/provisionerdaemons?limit=1', () => html),
      says: [
        `FAIL  answers: GET ${api}/provisionerdaemons?limit=1: this coderd answered 200 without JSON; coder v2.36.0 answers 200 with what the product reads`,
      ],
    },
    {
      scenario: 'a field that may be absent, and always was there',
      change: changing('/members', without('status')),
      says: [
        `warn  answers: GET ${api}/members: this coderd answered 200 without status; coder v2.36.0 answers 200 with status`,
      ],
    },
    {
      scenario: 'a field that the product needs',
      isAlone: true,
      change: changing('/members', without('user_id')),
      says: [
        `FAIL  answers: GET ${api}/members: this coderd answered 200 with another shape, [0].user_id: expected string, saw nothing; [1].user_id: expected string, saw nothing; coder v2.36.0 answers 200 with what the product reads`,
      ],
    },
  ];
  it.each(together(differences))('prints one line for $scenario', async ({ change, says }) => {
    const { lines, out, code } = await deep({ change });
    // failures come first
    expect(lines.toSorted()).toEqual([summary(says.length), ...says].toSorted());
    expect(code).toBe(out.startsWith('FAIL ') ? 1 : 0);
  });
});

it('prints the difference from the older of two releases', async () => {
  const { lines } = await deep({
    coderVersion: 'v2.27.0',
    change: changing('deprecated%3Atrue', () => ({ status: 400, text: '{"message":"No such filter."}' })),
  });
  expect(lines).toEqual([
    'warn  answers: 1 of 13 answers differ from those of coder v2.25.3 or v2.29.5 (the nearest tested release). Look for a newer release of the autoscaler, or report these lines',
    'warn  answers: GET /api/v2/templates?q=deprecated:true: this coderd answered 400 "No such filter."; coder v2.25.3 answers 200',
  ]);
});

describe('an allowed difference', () => {
  const differences: readonly Difference[] = [
    {
      scenario: 'fields that are new',
      says: [],
      change: changing('/members', ({ text }) => ({
        text: text.replaceAll('"user_id"', '"badge":{"of":["honour"]},"user_id"'),
      })),
    },
    {
      scenario: 'null where the product reads null',
      says: [],
      change: changing('/provisionerjobs', ({ text }) => ({
        text: text.replaceAll(/"initiator_id":"[^"]*"/g, '"initiator_id":null'),
      })),
    },
  ];
  it.each(together(differences))('prints nothing about $scenario', async ({ change }) => {
    const { lines } = await deep({ change });
    expect(lines).toEqual([expect.stringMatching(/^ok {4}answers: 13 answers as from coder v2\.36\.0/)]);
  });
});

describe('questions that cannot be asked', () => {
  it('skips everything without a token', async () => {
    const { out } = await deep({ broken: (world) => world.secrets.deny(world.tokenSecretName) });
    expect(out).toMatch(/^skip {2}6 checks need "token secret" to pass: /m);
  });

  it('skips everything for a coderd that is too old', async () => {
    const { lines } = await deep({ coderVersion: 'v2.18.0' });
    expect(lines).toEqual(['skip  answers: needs "coderd version" to pass']);
  });

  it('skips the questions of an organization with forbidden jobs', async () => {
    const { lines } = await deep({
      organizations: ['data', 'default'],
      broken: (world) =>
        world.secrets.put(world.tokenSecretName, world.coderd.addToken({ canRead: ['default'] })),
    });
    expect(lines).toEqual([
      'skip  answers: needs "organization "data": jobs" to pass',
      expect.stringMatching(/^ok {4}answers: 13 answers as from/),
    ]);
  });

  it('skips a forbidden list in one line', async () => {
    const text = '{"message":"Resource not found or you do not have access to this resource"}';
    const { lines } = await deep({ change: changing('/provisionerdaemons', () => ({ status: 404, text })) });
    expect(lines).toEqual([
      "skip  answers: GET /api/v2/organizations/default/provisionerdaemons: the token's user has no permission to read it",
      expect.stringMatching(/^ok {4}answers: 11 answers as from/),
    ]);
  });

  it('skips the remaining questions after a rate limit', async () => {
    const { lines, asked } = await deep({
      change: changing('/members', () => ({ status: 429, text: '{"message":"Slow down."}' })),
    });
    expect(lines).toEqual([
      expect.stringMatching(
        /^warn {2}answers: stopped after \d+ questions: coderd answered 429, too many requests\. Try again in a minute$/,
      ),
      expect.stringMatching(/^ok {4}answers: \d+ answers as from/),
    ]);
    expect(asked.at(-1)).toMatch(/\/members 429$/);
  });
});

describe('the questions', () => {
  it('sends fewer than 70 requests for any number of organizations', async () => {
    const organizations = ['default', ...Array.from({ length: 11 }, (_, index) => `team-${index}`)];
    const { lines } = await deep({ organizations });
    expect(lines).toEqual([
      'skip  answers: organization "team-8": not checked, because 10 other organizations were',
      'skip  answers: organization "team-9": not checked, because 10 other organizations were',
      expect.stringMatching(/^ok {4}answers: 58 answers as from/),
    ]);
  });

  it('never lists all jobs, and never writes', async () => {
    const { asked } = await deep();
    const jobs = asked.filter((what) => /provisionerjobs(?:\?| |$)/.test(what));
    expect(jobs.length).toBeGreaterThan(0);
    expect(jobs.filter((what) => !/[?&]status=(?:pending|failed|running)/.test(what))).toEqual([]);
    const deeds = asked.filter((what) => !what.startsWith('GET '));
    expect(new Set(deeds.map((what) => what.split(' ')[1]))).toEqual(new Set(['/api/v2/authcheck']));
  });
});

/** Files, long lists and timings of coderd. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readInitSeconds } from '../../lambda/adapters/coderd/history.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { coderdClient, serve } from '../support/servers.ts';

/** Answers 401 to the first token, and `file` to the second one. */
async function serveFile(file: Uint8Array): Promise<CoderdHttp> {
  const url = await serve((request, response) => {
    response.statusCode = request.headers['coder-session-token'] === 'fresh' ? 200 : 401;
    response.end(response.statusCode === 200 ? file : '{"message":"expired"}');
  });
  const token = { read: async ({ fresh }: { fresh: boolean }) => new Secret(fresh ? 'fresh' : 'old') };
  return coderdClient(url, { token });
}

it('returns all bytes of a file as they are, after it has read the token again', async () => {
  const file = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
  const client = await serveFile(file);
  expect(Buffer.from(await client.download('/x', file.length)).equals(Buffer.from(file))).toBe(true);
});

it('refuses a file that is larger than the limit', async () => {
  const client = await serveFile(new Uint8Array(1_000_000));
  await expect(client.download('/x', 999_999)).rejects.toMatchObject({
    code: 'misfit',
    message: "coderd's file has more than 999999 bytes",
  });
});

type Row = readonly [stage: string, startedAt: string, endedAt: string];
const at = (second: string): string => `2026-11-20T09:00:${second}Z`;
const ZERO = '0001-01-01T00:00:00Z';

async function initSecondsOf(rows: readonly Row[]): Promise<number | undefined> {
  const timings = rows.map(([stage, started_at, ended_at]) => ({ stage, started_at, ended_at }));
  const url = await serve((_, response) => response.end(JSON.stringify({ provisioner_timings: timings })));
  return readInitSeconds(coderdClient(url), 'b1');
}

const rows: readonly { rows: readonly Row[]; expected: number | undefined; because: string }[] = [
  {
    rows: [
      ['init', at('01'), at('21')],
      ['init', at('02'), at('22.5')],
      ['plan', at('22.5'), at('59')],
    ],
    ...{ expected: 21.5, because: 'releases differ in the rows of a stage' },
  },
  { rows: [['plan', at('01'), at('02')]], expected: undefined, because: 'there is no init' },
  { rows: [['init', ZERO, at('02')]], expected: undefined, because: 'old servers send a zero time' },
  { rows: [['init', at('01'), ZERO]], expected: undefined, because: 'an init cannot end before it begins' },
  {
    rows: [
      ['init', at('20'), at('10')],
      ['init', at('21'), at('22')],
    ],
    ...{ expected: undefined, because: "the clock of the daemon's host was set back, so nothing is known" },
  },
];

it.each(rows)('is $expected for $rows: $because', async ({ rows: given, expected }) => {
  expect(await initSecondsOf(given)).toBe(expected);
});

const ROW = JSON.stringify({
  id: 'b6f5f2f4-54a1-4c0e-9d1f-6c6c5b0b7a11',
  created_at: '2026-01-01T00:00:00Z',
  status: 'pending',
  organization_id: 'o',
  tags: { scope: 'organization', owner: '', region: 'eu-west-1' },
  type: 'workspace_build',
  metadata: { workspace_name: 'w'.repeat(600) },
});
/** About 64 MB, of which a list of 1000 rows is a small part. */
const ALL = Array.from({ length: 70 }, () => `${ROW},`.repeat(1000));

it('reads eight lists at once that are longer than the memory, and is left with their newest rows', async () => {
  const url = await serve((request, response) => {
    const isWhole = new URL(request.url ?? '', 'http://coderd').searchParams.get('limit') === '0';
    response.write('[');
    for (const part of isWhole ? ALL : ALL.slice(0, 1))
      response.write(part.slice(0, isWhole ? undefined : -1));
    response.end(isWhole ? `${ROW}]` : ']');
  });
  const script = fileURLToPath(new URL('read-long-lists.ts', import.meta.url));
  const read = promisify(execFile)(process.execPath, ['--max-old-space-size=128', script, url]);
  expect((await read).stdout.trim()).toBe(Array.from({ length: 8 }, () => 'truncated 1000').join());
});

/** How long the init of a build took, from the rows of coderd. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { readInitSeconds } from '../../lambda/adapters/coderd/history.ts';
import { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';

let server: Server | undefined;
afterEach(() => server?.close());

type Row = readonly [stage: string, startedAt: string, endedAt: string];
const at = (second: string): string => `2026-11-20T09:00:${second}Z`;
const ZERO = '0001-01-01T00:00:00Z';

async function initSecondsOf(rows: readonly Row[]): Promise<number | undefined> {
  const timings = rows.map(([stage, started_at, ended_at]) => ({ stage, started_at, ended_at }));
  server = createServer((_, response) => response.end(JSON.stringify({ provisioner_timings: timings })));
  await new Promise<void>((listening) => server?.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http = new CoderdHttp({ url, token: { read: async () => new Secret('token') } });
  const seconds = await readInitSeconds(http, 'b1');
  await http.close();
  return seconds;
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

/** Short traces and configurations, in a folder of their own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownFolder } from '../../../test/support/own-folder.ts';

type PoolText = Readonly<Record<string, unknown>>;

/** Makes a folder that is removed after the tests of the file. */
export function aFolder() {
  const folder = ownFolder();
  const path = (name: string): string => join(folder, name);
  const file = (name: string, text: string): string => {
    writeFileSync(path(name), text);
    return path(name);
  };
  /** A configuration with these pools and further settings. */
  const config = (name: string, pools: readonly PoolText[], more: PoolText = {}): string =>
    file(name, JSON.stringify(documentOf(pools, more)));
  const trace = (name: string, jobs: readonly object[], header: object = {}): string =>
    file(name, [{ ...HEADER, ...header }, ...jobs].map((line) => JSON.stringify(line)).join('\n'));
  return { path, file, config, trace };
}

function documentOf(pools: readonly PoolText[], more: PoolText = {}): PoolText {
  return {
    coder: { url: 'https://coder.example.com', token: { secret: 'coder/token' } },
    defaults: { image: 'ghcr.io/coder/coder:v2.30.0' },
    pools: pools.map((pool, index) => ({
      ...{ name: 'small', organization: 'default', key: { secret: `coder/keys/${index}` }, max: 8 },
      dollarsPerLaunch: 0,
      ...pool,
    })),
    ...more,
  };
}

const FROM = Date.parse('2026-03-02T08:00:00Z');
const HEADER = {
  ...{ trace: 1, name: 'steady', from: '2026-03-02T08:00:00Z', to: '2026-03-02T08:30:00Z' },
  startSeconds: [30, 70],
};

/** One build of a minute. */
export const aBuild = (afterMinutes: number, fields: object = {}): object => ({
  at: new Date(FROM + afterMinutes * 60_000).toISOString(),
  ...{ organization: 'default', tags: {}, seconds: 60, kind: 'user', ...fields },
});

/** A build every three minutes, for half an hour. */
export const BUILDS = Array.from({ length: 9 }, (_, at) => aBuild(2 + at * 3));

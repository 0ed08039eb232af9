import { expect, it } from 'vitest';
import type { GroupedBuild } from '../../../cli/cold-cache/build-groups.ts';
import { timeFor } from '../../../cli/cold-cache/history.ts';
import { coldCacheReport } from '../../../cli/cold-cache/report.ts';
import { coldCacheScreen } from '../../../cli/cold-cache/screen.ts';
import type { DaemonId, EpochMs } from '../../../lambda/decision/model/brands.ts';

const FROM = Date.parse('2026-11-16T00:00:00Z') as EpochMs;
const TO = Date.parse('2026-11-23T00:00:00Z') as EpochMs;

const buildOf = (index: number): GroupedBuild => ({
  ...{ id: `b${index}`, workspace: `w${index}`, template: 't1', version: 'v1', status: 'succeeded' },
  ...{ worker: `d${index}` as DaemonId, startedAt: FROM, kind: 'person', group: 'first', pool: 'cpu' },
});

it('shows a week of 200,000 builds, which are all cold, and does not guess their cost', () => {
  const builds = Array.from({ length: 200_000 }, (_, index) => buildOf(index));
  const report = coldCacheReport({
    history: {
      names: new Map([['t1', 'docker']]),
      unreadable: 0,
      coverage: { found: 200_000, lastBuilds: 200_000, foundOnce: 0, foundTwice: 0 },
    },
    grouped: { builds, omitted: { unlisted: 0, foreign: 0 } },
    ...{ inits: new Map(), chosen: 0, sample: 100, period: { from: FROM, to: TO }, pools: new Map() },
  });
  expect(coldCacheScreen(report)).toMatch(
    /^too few builds to say .*: 200000 builds from[\s\S]*docker +all, 100 % first of their task +200000 +too few builds to say\n/,
  );
});

it.each([
  { requests: 199, text: '' },
  { requests: 600, text: ', 60 s or longer' },
  { requests: 6_000, text: ', 10 min or longer' },
])('tells that $requests requests take a while, if they do', ({ requests, text }) => {
  expect(timeFor(requests, { perSecond: 10 })).toBe(text);
});

/** The poll interval of coderd's executor, from the times of its builds. */
import { describe, expect, it } from 'vitest';
import { pollInterval } from '../../../lambda/decision/forecast/poll-interval.ts';
import type { Workspace } from '../../../lambda/decision/model/snapshot.ts';
import { ago, anOrganization, aSnapshot, aWorkspace, MINUTE, reading, SECOND } from '../../support/parts.ts';

/** Workspaces whose latest builds coderd made this many minutes ago. */
const built = (minutes: readonly number[], reason = 'autostop'): readonly Workspace[] =>
  minutes.map((ms) => aWorkspace({ latest_build: { created_at: ago(ms * MINUTE), reason } }));

const minutesOf = (...lists: readonly (readonly Workspace[])[]): number => {
  const organizations = lists.map((items) => anOrganization({ workspaces: reading([...items]) }));
  return pollInterval(aSnapshot({ organizations })).ms / MINUTE;
};

describe('the poll interval of coderd', () => {
  it.each([
    { builds: [], expected: 1, because: 'no build shows another interval' },
    { builds: [60, 30, 15], expected: 1, because: 'two gaps may fit by chance' },
    { builds: [95, 60, 30, 15], expected: 5, because: 'all gaps are multiples of five minutes' },
    { builds: [92, 62, 32, 17], expected: 15, because: 'the longest that fits is the safe one' },
    {
      builds: [90, 60, 30, 15],
      expected: 5,
      because: 'schedules are on quarters of an hour: coderd may look every minute',
    },
    {
      builds: [89.4, 59.4, 29.4, 14.4],
      expected: 5,
      because: 'coderd polls some seconds after the due time',
    },
    { builds: [17.5, 12.5, 10, 2.5], expected: 2.5, because: 'it need not be whole minutes' },
    { builds: [44, 31, 14, 7, 6, 1], expected: 1, because: 'they fit only a minute' },
    {
      builds: [722, 602, 362, 242, 122],
      expected: 30,
      because: 'two polls of that interval are the longest possible',
    },
    {
      builds: [61.1, 61, 46, 31.1, 30.8, 16.1],
      expected: 15,
      because: 'a poll makes its builds within seconds',
    },
    {
      builds: [95, 90, 80, 75, 70, 62, 57, 47, 42],
      expected: 5,
      because: 'one gap in eight may be a restart of coderd',
    },
    {
      builds: [95, 90, 80, 72, 67, 62, 59, 49, 44],
      expected: 1,
      because: 'two misfits in eight are no restart',
    },
    {
      builds: [5000, 4990.5, 4983, ...Array.from({ length: 50 }, (_, index) => 250 - 5 * index)],
      expected: 5,
      because: 'older ones may be of another interval',
    },
  ])('is $expected min after builds $builds min ago, because $because', ({ builds, expected }) => {
    expect(minutesOf(built(builds))).toBe(expected);
  });

  it('is inferred from the builds of all organizations together', () => {
    expect(minutesOf(built([95, 30]), built([60, 15]))).toBe(5);
    expect(minutesOf(built([95, 30]), built([60.1, 30.1, 15]))).toBe(5);
  });

  it('is not inferred from the builds of people', () => {
    expect(minutesOf(built([95, 60, 30, 15], 'initiator'))).toBe(1);
  });

  it('is unknown if no workspaces were read, or if they lack the times of their builds', () => {
    const snapshot = aSnapshot({ organizations: [anOrganization({})] });
    expect(pollInterval(snapshot).ms).toBe(60 * SECOND);
    expect(minutesOf([aWorkspace({ latest_build: { created_at: null, reason: 'autostop' } })])).toBe(1);
  });
});

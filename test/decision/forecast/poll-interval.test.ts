/** The poll interval of coderd's executor, from the times of its builds. */
import { describe, expect, it } from 'vitest';
import { pollInterval } from '../../../lambda/decision/forecast/poll-interval.ts';
import type { Workspace } from '../../../lambda/decision/model/snapshot.ts';
import { ago, anOrganization, aSnapshot, aWorkspace, MINUTE, reading, SECOND } from '../../support/parts.ts';
import { table } from '../../support/table.ts';

/** Workspaces whose latest builds coderd made this many minutes ago. */
const built = (minutes: readonly number[], reason = 'autostop'): readonly Workspace[] =>
  minutes.map((ms) => aWorkspace({ latest_build: { created_at: ago(ms * MINUTE), reason } }));

const minutesOf = (...lists: readonly (readonly Workspace[])[]): number => {
  const organizations = lists.map((items) => anOrganization({ workspaces: reading([...items]) }));
  return pollInterval(aSnapshot({ organizations })).ms / MINUTE;
};

/** Fifty builds, one every five minutes. */
const EVERY_5 = Array.from({ length: 50 }, (_, index) => 250 - 5 * index).join(' ');

describe('the poll interval of coderd', () => {
  it.each(table<{ builds: string; expected: number; because: string }>`
    builds                      | expected | because
    none                        | 1        | no build shows another interval
    60 30 15                    | 1        | two gaps may fit by chance
    95 60 30 15                 | 5        | all gaps are multiples of five minutes
    92 62 32 17                 | 15       | the longest that fits is the safe one
    90 60 30 15                 | 5        | schedules are on quarters of an hour: coderd may look every minute
    89.4 59.4 29.4 14.4         | 5        | coderd polls some seconds after the due time
    17.5 12.5 10 2.5            | 2.5      | it need not be whole minutes
    44 31 14 7 6 1              | 1        | they fit only a minute
    722 602 362 242 122         | 30       | two polls of that interval are the longest possible
    61.1 61 46 31.1 30.8 16.1   | 15       | a poll makes its builds within seconds
    95 90 80 75 70 62 57 47 42  | 5        | one gap in eight may be a restart of coderd
    95 90 80 72 67 62 59 49 44  | 1        | two misfits in eight are no restart
    5000 4990.5 4983 ${EVERY_5} | 5        | older ones may be of another interval
  `)('is $expected min after builds $builds min ago, because $because', ({ builds, expected }) => {
    const minutesAgo = builds === 'none' ? [] : builds.split(' ').map(Number);
    expect(minutesOf(built(minutesAgo))).toBe(expected);
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

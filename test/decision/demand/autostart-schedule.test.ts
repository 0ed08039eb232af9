/** The next time of a workspace's autostart schedule, as coderd computes it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextAllowedAutostart } from '../../../lab/world/coderd/tables/transitions.ts';
import { nextAutostart, zoneOf } from '../../../lambda/decision/demand/autostart-schedule.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { WEEKDAYS } from '../../../lambda/decision/model/zones.ts';
import { anAutostart } from '../../support/autostarts.ts';
import { runs } from '../../support/runs.ts';

const time = (text: string): EpochMs => Date.parse(text) as EpochMs;
const next = (after: string, schedule: string, days: readonly string[] = WEEKDAYS): string | undefined => {
  const found = nextAutostart(schedule, time(after), (day) => days.includes(day));
  return found === undefined ? undefined : new Date(found).toISOString().replace(':00.000Z', 'Z');
};

describe('nextAutostart', () => {
  it.each([
    {
      schedule: 'CRON_TZ=Europe/Berlin 0 9 * * Mon-Fri',
      expected: '2026-03-09T08:00Z',
      because: 'days may have names',
    },
    { schedule: '0 9 * * sun,1', expected: '2026-03-08T09:00Z', because: 'names and numbers may be mixed' },
    { schedule: '*/20 18/5 * * ?', expected: '2026-03-06T18:00Z', because: 'steps are from the first on' },
    { schedule: '50-59/5 1-21/10 * * 5', expected: '2026-03-06T21:50Z', because: 'ranges have steps too' },
    { schedule: '0   9 * *  6', expected: '2026-03-07T09:00Z', because: 'more than one space is as one' },
    { schedule: '0 17 * * *', expected: '2026-03-07T17:00Z', because: 'it is later than the time given' },
  ])('finds $expected in $schedule: $because', ({ schedule, expected }) => {
    // a Friday
    expect(next('2026-03-06T17:00:00Z', schedule)).toBe(expected);
  });

  it('comes twice if the clock is set back to the day before', () => {
    const schedule = 'CRON_TZ=Asia/Beirut 30 23 * * *';
    expect(next('2026-10-24T18:00:00Z', schedule)).toBe('2026-10-24T20:30Z');
    expect(next('2026-10-24T20:30:00Z', schedule)).toBe('2026-10-24T21:30Z');
    expect(next('2026-10-24T21:30:00Z', schedule)).toBe('2026-10-25T21:30Z');
  });

  it('finds nothing if the template allows none of its days', () => {
    expect(next('2026-03-06T17:00:00Z', '0 9 * * 1-5', ['sunday'])).toBeUndefined();
    expect(next('2026-03-06T17:00:00Z', '0 9 * * *', [])).toBeUndefined();
  });

  it.each([
    '0 9 1 * *',
    '0 9 * 3 *',
    '0 9 * *',
    '0 9 * * * *',
    '60 9 * * *',
    '0 24 * * *',
    '0 9 * * 7',
    '0 9 * * freitag',
    '5-1 9 * * *',
    '*/0 9 * * *',
    '0 9/00 * * *',
    '1-2-3 9 * * *',
    ', 9 * * *',
    '@daily',
    '',
    'CRON_TZ=Atlantis/Lost 0 9 * * *',
    'CRON_TZ= 0 9 * * *',
  ])('finds nothing in %s, which coderd rejects', (schedule) => {
    expect(next('2026-03-06T17:00:00Z', schedule)).toBeUndefined();
  });

  it('finds the same time as the simulated coderd', () => {
    fc.assert(
      fc.property(anAutostart, ({ schedule, allowed, after }) => {
        const found = nextAutostart(schedule, after, (day) => allowed.some((one) => one === day));
        expect(found).toBe(nextAllowedAutostart(after, schedule, allowed));
      }),
      runs(100),
    );
  });
});

it('uses UTC for a schedule without a time zone', () => {
  expect(zoneOf('0 9 * * *')).toBe('UTC');
  expect(zoneOf('CRON_TZ=Europe/Berlin 0 9 * * *')).toBe('Europe/Berlin');
});

import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../lambda/config/check.ts';
import { fileWith, POOL, problemsOf } from './written.ts';

const read = (pool: object) => checkConfig(fileWith(pool)).config.pools[0];

/** A valid schedule, except for the given settings. */
const schedule = (written: object) => ({
  schedules: [{ from: '08:30', to: '18:30', timezone: 'Europe/Berlin', warm: 5, ...written }],
});

it('reads startTime', () => {
  expect(read({ startTime: '45s' })?.startTimeMs).toBe(45_000);
});

it('fills in the defaults of a schedule: every day and min 0', () => {
  expect(read(schedule({ warm: 1 }))?.schedules).toEqual([
    {
      days: [0, 1, 2, 3, 4, 5, 6],
      fromMinute: 510,
      toMinute: 1110,
      timezone: 'Europe/Berlin',
      min: 0,
      warm: 1,
    },
  ]);
});

it('accepts the same schedule twice', () => {
  const { schedules } = schedule({});
  expect(read({ schedules: [...schedules, ...schedules] })?.schedules).toHaveLength(2);
});

it.each([
  { days: 'mon-fri', means: [1, 2, 3, 4, 5] },
  { days: 'sat,sun', means: [0, 6] },
  { days: 'sat, sun', means: [0, 6] },
  { days: 'fri-mon', means: [0, 1, 5, 6] },
  { days: 'sun-sat', means: [0, 1, 2, 3, 4, 5, 6] },
  { days: 'wed-wed', means: [3] },
  { days: 'mon,wed-thu,mon', means: [1, 3, 4] },
])('reads the days $days as $means', ({ days, means }) => {
  expect(read(schedule({ days }))?.schedules[0]?.days).toEqual(means);
});

it.each([
  { from: '00:00', to: '24:00', minutes: [0, 1440] },
  { from: '23:59', to: '00:00', minutes: [1439, 0] },
  { from: '22:00', to: '06:00', minutes: [1320, 360] },
  { from: '09:05', to: '09:05', minutes: [545, 545] },
])('reads from $from to $to as $minutes in minutes', ({ from, to, minutes }) => {
  const [found] = read(schedule({ from, to }))?.schedules ?? [];
  expect([found?.fromMinute, found?.toMinute]).toEqual(minutes);
});

it.each(['Europe/Berlin', 'Asia/Kolkata', 'Asia/Calcutta', 'America/Argentina/Buenos_Aires', 'UTC'])(
  'accepts %s as a time zone',
  (timezone) => {
    expect(read(schedule({ timezone }))?.schedules[0]?.timezone).toBe(timezone);
  },
);

const DAYS =
  'is not a list of days; write mon, tue, wed, thu, fri, sat or sun, or ranges, separated by commas: mon-fri or mon,wed-thu';
const IANA = 'write an IANA name, such as Europe/Berlin';
const EXAMPLE = '{ days: mon-fri, from: 08:30, to: 18:30, timezone: Europe/Berlin, warm: 5 }';

it.each([
  { pool: { wake: 'yes' }, says: 'wake: expected true or false, got "yes"' },
  { pool: { startTime: '9s' }, says: 'startTime: "9s" is out of range; allowed: 10s to 10m' },
  { pool: { startTime: '11m' }, says: 'startTime: "11m" is out of range; allowed: 10s to 10m' },
  { pool: { schedules: {} }, says: `schedules: expected a list, got a mapping; for example: [ ${EXAMPLE} ]` },
  {
    pool: { schedules: [null] },
    says: `schedules[0]: expected a mapping, got nothing; for example: ${EXAMPLE}`,
  },
  { pool: schedule({ days: 'Mon-Fri' }), says: `schedules[0].days: "Mon-Fri" ${DAYS}` },
  { pool: schedule({ days: 'weekdays' }), says: `schedules[0].days: "weekdays" ${DAYS}` },
  { pool: schedule({ days: 'mon-wed-fri' }), says: `schedules[0].days: "mon-wed-fri" ${DAYS}` },
  { pool: schedule({ days: 'mon,' }), says: `schedules[0].days: "mon," ${DAYS}` },
  { pool: schedule({ days: '' }), says: `schedules[0].days: "" ${DAYS}` },
  {
    pool: schedule({ days: ['mon'] }),
    says: 'schedules[0].days: expected days of the week, got a list; for example: mon-fri',
  },
  {
    pool: schedule({ from: undefined }),
    says: 'schedules[0].from: no value; local time at which the schedule begins; for example: 08:30',
  },
  {
    pool: schedule({ from: 8 }),
    says: 'schedules[0].from: expected a time of day, got 8; for example: 08:30',
  },
  {
    pool: schedule({ from: '8:30' }),
    says: 'schedules[0].from: "8:30" is not a time of day; write HH:MM, 00:00 to 23:59',
  },
  {
    pool: schedule({ from: '24:00' }),
    says: 'schedules[0].from: "24:00" is not a time of day; write HH:MM, 00:00 to 23:59',
  },
  {
    pool: schedule({ to: '24:01' }),
    says: 'schedules[0].to: "24:01" is not a time of day; write HH:MM, 00:00 to 24:00',
  },
  {
    pool: schedule({ to: '6pm' }),
    says: 'schedules[0].to: "6pm" is not a time of day; write HH:MM, 00:00 to 24:00',
  },
  {
    pool: schedule({ timezone: undefined }),
    says: 'schedules[0].timezone: no value; IANA name of the time zone of `from` and `to`; for example: Europe/Berlin',
  },
  {
    pool: schedule({ timezone: 'Europe/Berln' }),
    says: `schedules[0].timezone: "Europe/Berln" is not a time zone; did you mean "Europe/Berlin"? ${IANA}`,
  },
  {
    pool: schedule({ timezone: 'New York' }),
    says: `schedules[0].timezone: "New York" is not a time zone; did you mean "America/New_York"? ${IANA}`,
  },
  { pool: schedule({ timezone: 'CEST' }), says: `schedules[0].timezone: "CEST" is not a time zone; ${IANA}` },
  {
    pool: schedule({ timezone: '+01:00' }),
    says: `schedules[0].timezone: "+01:00" is not a time zone; ${IANA}`,
  },
  { pool: schedule({ timezone: '' }), says: `schedules[0].timezone: "" is not a time zone; ${IANA}` },
  {
    pool: schedule({ warm: 0 }),
    says: 'schedules[0]: min and warm are both 0, so the schedule has no effect; write one of them, such as warm: 2',
  },
  {
    pool: schedule({ min: 21, warm: 22 }),
    says: [
      'schedules[0].min: min 21 is above max 20 (the default); lower min or raise max',
      'pools[0].schedules[0].warm: warm 22 is above max 20 (the default); lower warm or raise max',
    ].join('\n'),
  },
  {
    pool: schedule({ tz: 'Europe/Berlin' }),
    says: 'schedules[0].tz: unknown setting; did you mean "to"? allowed: days, from, to, timezone, warm, min',
  },
])('refuses $pool: $says', ({ pool, says }) => {
  expect(problemsOf(fileWith(pool)).join('\n')).toBe(`pools[0].${says}`);
});

describe('warnings', () => {
  const WAKE =
    'wake: with min 0 and this off, coderd does not start, stop or delete workspaces of these tags by itself while no daemon is online; write true here, or min: 1';
  const all = { min: 1, warm: 1 };

  it.each([
    { pool: { min: 0 }, says: [], because: 'wake is on' },
    { pool: { wake: false }, says: [], because: 'an unset min is 1 if wake is off' },
    { pool: { min: 1, wake: false }, says: [], because: 'a daemon is always online' },
    { pool: { min: 0, wake: false }, says: [WAKE], because: 'coderd then does nothing by itself' },
    {
      pool: { max: 4, ...schedule({ ...all, min: 4 }) },
      says: [],
      because: 'maxTasks allows exactly this many',
    },
    {
      pool: schedule({ ...all, min: 5 }),
      says: [
        "schedules[0].min: min 5 and the other pools' min add up to 5, above maxTasks 4; raise maxTasks or lower min",
      ],
      because: 'maxTasks allows fewer',
    },
  ])('warns with $says: $because', ({ pool, says }) => {
    const problems = problemsOf(fileWith(pool, { limits: { maxTasks: 4 } }));
    expect(problems).toEqual(says.map((line) => `warning: pools[0].${line}`));
  });

  it('adds the min of the other pools to the min of a schedule', () => {
    const value = fileWith(schedule({ min: 3 }), { limits: { maxTasks: 5 } });
    const others = [2, 1].map((min) => ({
      ...POOL,
      name: `b${min}`,
      tags: { b: `${min}` },
      key: { secret: `b${min}` },
      min,
    }));
    const warningsWith = (...more: readonly object[]) =>
      checkConfig({ ...value, pools: [...value.pools, ...more] }).warnings.length;
    expect([warningsWith(), warningsWith(others[0] ?? {}), warningsWith(...others)]).toEqual([0, 0, 1]);
  });
});

import { describe, expect, it } from 'vitest';
import { percentile } from '../../../../lambda/decision/model/collections.ts';
import { drawSeconds, poisson } from '../../../what-if/trace/generate/draws.ts';
import { generateTrace } from '../../../what-if/trace/generate/generate.ts';
import { localDay, midnight } from '../../../what-if/trace/generate/local-day.ts';
import type { PeopleGroup, Scenario, Template } from '../../../what-if/trace/generate/scenario.ts';
import type { Trace, TraceJob } from '../../../what-if/trace/trace.ts';
import { Random } from '../../../world/base/random.ts';

const TEMPLATE: Template = {
  name: 'container',
  organization: 'default',
  tags: {},
  start: { p50: 60, p95: 120 },
  stop: { p50: 25, p95: 50 },
  import: { p50: 20, p95: 40 },
  ttlHours: 8,
  pushesPerWeek: 10,
  timezone: 'Europe/Berlin',
};

const GROUP: PeopleGroup = {
  users: 300,
  timezone: 'Europe/Berlin',
  templates: { container: 1 },
  arrivalMinute: 540,
  autostartShare: 0.5,
  freshPerDay: 0,
  holidays: [],
};

const SCENARIO: Scenario = {
  name: 'test',
  description: '',
  config: '',
  timezone: 'Europe/Berlin',
  from: '2026-03-02',
  templates: [TEMPLATE],
  groups: [GROUP],
  outages: [],
  startSeconds: [30, 70],
};

const generate = (scenario: Partial<Scenario> = {}, days = 7, seed = 1): Trace =>
  generateTrace({ ...SCENARIO, ...scenario }, { seed, days });
const of = (trace: Trace, ...kinds: readonly TraceJob['kind'][]): readonly TraceJob[] =>
  trace.jobs.filter(({ kind }) => kinds.includes(kind));

describe('a seed', () => {
  it('gives the same trace every time, and another seed gives another trace', () => {
    expect(generate()).toEqual(generate());
    expect(generate({}, 7, 2).jobs).not.toEqual(generate().jobs);
  });

  it('gives a longer trace that begins with the shorter one', () => {
    const short = generate({}, 3);
    const long = generate({}, 7);
    const inOrder = (jobs: readonly TraceJob[]) => jobs.map((job) => JSON.stringify(job)).sort();
    expect(inOrder(long.jobs.filter(({ at }) => at < short.to))).toEqual(inOrder(short.jobs));
  });
});

it('a trace has sorted jobs within whole days of the time zone of the scenario', () => {
  const { jobs, from, to } = generate({}, 28);
  expect([from, to].map((time) => new Date(time).toISOString())).toEqual([
    '2026-03-01T23:00:00.000Z',
    // after the clocks have changed
    '2026-03-29T22:00:00.000Z',
  ]);
  expect(jobs).toEqual([...jobs].sort((a, b) => a.at - b.at));
  expect(jobs.filter(({ at }) => at < from || to <= at)).toEqual([]);
});

type Wall = { readonly minute: number; readonly weekday: string };

/** Minutes since midnight, and the day of the week, by the clock of a zone. */
function wallOf(timeZone: string, jobs: readonly TraceJob[]): readonly Wall[] {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    ...{ weekday: 'short', hour: 'numeric', minute: 'numeric' },
  });
  return jobs.map(({ at }) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
    return { minute, weekday: parts.get('weekday') ?? '' };
  });
}

// New York's clocks change on 8 March 2026, Berlin's on the 29th, Bengaluru's never
describe.each(['America/New_York', 'Europe/Berlin', 'Asia/Kolkata'])('people of %s', (timezone) => {
  const trace = generate({ groups: [{ ...GROUP, timezone }] }, 35);

  it('work in their local working hours, also after a clock change', () => {
    const byHand = wallOf(timezone, of(trace, 'user')).map(({ minute }) => minute);
    expect(Math.min(...byHand)).toBeGreaterThanOrEqual(300);
    expect(Math.max(...byHand)).toBeLessThan(1320);
    const sorted = byHand.sort((a, b) => a - b);
    expect(percentile(sorted, 0.05)).toBeGreaterThan(420);
    expect(percentile(sorted, 0.95)).toBeLessThan(1140);
  });

  it('have workspaces that start at whole and half hours of workdays, most of them at nine', () => {
    const starts = wallOf(timezone, of(trace, 'autostart'));
    expect(starts.filter(({ minute }) => minute % 30 !== 0)).toEqual([]);
    expect(starts.filter(({ weekday }) => weekday.startsWith('S'))).toEqual([]);
    expect(starts.filter(({ minute }) => minute === 540).length / starts.length).toBeGreaterThan(0.5);
  });

  it('leave in the evening, when coderd stops most workspaces', () => {
    const stops = wallOf(timezone, of(trace, 'autostop')).map(({ minute }) => minute);
    const inTheEvening = stops.filter((minute) => minute >= 1020).length;
    expect(inTheEvening / stops.length).toBeGreaterThan(0.5);
  });
});

/** Of each day of the trace. */
function perDay(jobs: readonly TraceJob[], { from }: Trace): readonly number[] {
  const days = Array<number>(7).fill(0);
  for (const { at } of jobs) {
    const day = Math.floor((at - from) / 86_400_000);
    days[day] = (days[day] ?? 0) + 1;
  }
  return days;
}

describe('a week', () => {
  const trace = generate({ groups: [{ ...GROUP, users: 2000 }] });
  const [monday = 0, tuesday = 0, , thursday = 0, friday = 0, saturday = 0, sunday = 0] = perDay(
    of(trace, 'user', 'autostart'),
    trace,
  );

  it('is busiest on Monday, when all workspaces are stopped, and quieter on Friday', () => {
    expect(monday).toBeGreaterThan(tuesday * 1.05);
    expect(friday).toBeLessThan(thursday * 0.95);
  });

  it('has almost no jobs on its last two days', () => {
    expect(saturday + sunday).toBeLessThan(tuesday * 0.2);
  });

  it('has fewer jobs at noon', () => {
    const hours = Array<number>(24).fill(0);
    for (const { minute } of wallOf('Europe/Berlin', of(trace, 'user'))) {
      const hour = Math.floor(minute / 60);
      hours[hour] = (hours[hour] ?? 0) + 1;
    }
    expect(hours[12]).toBeLessThan((hours[10] ?? 0) * 0.5);
    expect(hours[12]).toBeLessThan((hours[13] ?? 0) * 0.6);
  });
});

it.each(['03-04', '2026-03-04'])(
  'on a holiday (%s) few people come, but schedules still start workspaces',
  (holiday) => {
    const trace = generate({ groups: [{ ...GROUP, holidays: [holiday] }] });
    const [, , people = 0, usual = 0] = perDay(of(trace, 'user'), trace);
    expect(people).toBeLessThan(usual * 0.25);
    const [, , starts = 0, usualStarts = 0] = perDay(of(trace, 'autostart'), trace);
    expect(starts).toBeGreaterThan(usualStarts);
  },
);

describe('an outage', () => {
  const outage = { day: 1, minute: 535, seconds: 900 };
  const without = generate();
  const trace = generate({ outages: [outage] });
  const [{ at: begin, seconds } = { at: 0, seconds: 0 }] = trace.outages;
  const end = begin + seconds * 1000;
  const between = ({ jobs }: Trace, from: number, to: number) =>
    jobs.filter(({ at }) => from <= at && at < to).length;

  it('is in the trace at its local time', () => {
    expect(new Date(begin).toISOString()).toBe('2026-03-03T07:55:00.000Z');
    expect(seconds).toBe(900);
  });

  it('has no jobs, and all its jobs come in the quarter of an hour after it', () => {
    expect(between(without, begin, end)).toBeGreaterThan(40);
    expect(between(trace, begin, end)).toBe(0);
    const after = end + 900_000;
    expect(between(trace, end, after + 1000)).toBe(between(without, begin, after + 1000));
    expect(trace.jobs).toHaveLength(without.jobs.length);
  });

  it('is left out if it is after the last day', () => {
    expect(generate({ outages: [{ ...outage, day: 7 }] }).outages).toEqual([]);
  });
});

describe('prebuilt workspaces', () => {
  const tags = { is_prebuild: 'true' };
  const prebuilds = { tags, instances: 20, instancesAtNight: 5, claim: { p50: 10, p95: 12 } };
  const settings = { templates: [{ ...TEMPLATE, pushesPerWeek: 0, prebuilds }], groups: [] };
  const ticks = (trace: Trace) => {
    const counts = new Map<string, number>();
    for (const { at } of of(trace, 'prebuild')) {
      const time = new Date(at).toISOString();
      counts.set(time, (counts.get(time) ?? 0) + 1);
    }
    return [...counts];
  };

  it('are created in the morning and deleted in the evening, all at once', () => {
    expect(ticks(generate(settings, 1))).toEqual([
      ['2026-03-02T06:30:00.000Z', 15],
      ['2026-03-02T18:00:00.000Z', 15],
    ]);
  });

  it('are all deleted and built again at the first whole minute after a new version', () => {
    const templates = [{ ...TEMPLATE, pushesPerWeek: 5, prebuilds }];
    const trace = generate({ ...settings, templates });
    const bursts = ticks(trace).filter(([, count]) => count !== 15);
    expect(bursts.length).toBeGreaterThan(0);
    for (const [time, count] of bursts) {
      expect(time).toMatch(/:00\.000Z$/);
      expect(count % 40).toBe(0);
    }
    const ends = of(trace, 'import').map(({ at, seconds }) => Math.ceil((at + seconds * 1000) / 60_000));
    for (const [time] of bursts) expect(ends).toContain(Date.parse(time) / 60_000);
    expect(new Set(of(trace, 'prebuild').map((job) => job.tags))).toEqual(new Set([tags]));
  });

  it('are replaced within a minute when a person claims one', () => {
    const trace = generate({ ...settings, groups: [{ ...GROUP, users: 20, freshPerDay: 2 }] }, 1);
    const claims = of(trace, 'user').filter(({ seconds }) => seconds < 14);
    const replaced = ticks(trace).filter(([, count]) => count !== 15);
    expect(replaced.length).toBeGreaterThan(10);
    for (const [time] of replaced) {
      const tick = Date.parse(time);
      expect(claims.some(({ at }) => tick - 60_000 <= at && at <= tick)).toBe(true);
    }
  });
});

it('drawSeconds has the median and the 95th percentile of its spread', () => {
  const random = new Random(1);
  const drawn = Array.from({ length: 20_000 }, () => drawSeconds(random, { p50: 60, p95: 150 }));
  const sorted = drawn.sort((a, b) => a - b);
  expect(percentile(sorted, 0.5)).toBeCloseTo(60, -1);
  expect(Math.abs(percentile(sorted, 0.95) - 150)).toBeLessThan(8);
  expect(sorted[0]).toBeGreaterThanOrEqual(1);
  expect(sorted.at(-1)).toBeLessThanOrEqual(3600);
});

it('poisson has the given mean', () => {
  const random = new Random(1);
  const counts = Array.from({ length: 20_000 }, () => poisson(random, 1.4));
  expect(counts.reduce((sum, count) => sum + count, 0) / counts.length).toBeCloseTo(1.4, 1);
});

it.each([
  { date: '2026-03-08', zone: 'America/New_York', minute: 540, at: '2026-03-08T13:00:00.000Z' },
  { date: '2026-03-07', zone: 'America/New_York', minute: 540, at: '2026-03-07T14:00:00.000Z' },
  { date: '2026-10-25', zone: 'Europe/Berlin', minute: 1110, at: '2026-10-25T17:30:00.000Z' },
])('localDay finds minute $minute of $date in $zone at $at', ({ date, zone, minute, at }) => {
  expect(new Date(localDay(zone, date).at(minute)).toISOString()).toBe(at);
});

it('midnight is later if the local clock skips it', () => {
  expect(new Date(midnight('Africa/Cairo', '2026-04-24')).toISOString()).toBe('2026-04-23T22:00:00.000Z');
});

it("jobs of people's workspaces have a workspace name; imports and prebuilds have none", () => {
  const { jobs } = generate({ groups: [{ ...GROUP, freshPerDay: 0.5 }] });
  for (const { kind, workspace } of jobs) expect(workspace === undefined).toBe(kind === 'import');
  expect(
    jobs.every(({ workspace, transition }) => (workspace === undefined) === (transition === undefined)),
  ).toBe(true);
  expect(new Set(of(generate(), 'autostop').map(({ transition }) => transition))).toEqual(new Set(['stop']));
  const stops = of(generate(), 'autostop');
  const starts = new Set(of(generate(), 'user', 'autostart').map(({ workspace }) => workspace));
  // those that were started on the day before the trace begins have no start in it
  const known = stops.filter(({ workspace }) => starts.has(workspace));
  expect(known.length / stops.length).toBeGreaterThan(0.9);
});

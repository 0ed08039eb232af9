import { describe, expect, it } from 'vitest';
import type { Backtest, Figures } from '../../../what-if/replay/result.ts';
import { headlineOf, peopleWaitText, summaryOf } from '../../../what-if/report/parts/headline.ts';
import { plausibleBacktest } from './fixture.ts';

const BASE = plausibleBacktest(1);
const NO_RANGES = { dollarsPerMonth: { value: 41 }, meanWaitS: { value: 4 }, p95WaitS: { value: 40 } };
const WHY_NONE = 'Fewer than three days show no range for another week.';

type Changes = {
  readonly dollars?: readonly [ours: number, fleet: number];
  readonly waits?: readonly [ours: number, fleet: number];
  readonly lost?: Partial<Figures['jobs']>;
  readonly days?: number;
  readonly jobs?: number;
  readonly people?: number;
  readonly without?: 'fleet' | 'runs';
};

function backtestWith(changes: Changes): Backtest {
  const {
    dollars = [412, 3240],
    waits = [48, 1.5],
    lost = {},
    days = 7,
    jobs: all = 12_345,
    without,
  } = changes;
  const [ours, fleet] = BASE.runs.map((run, at) => {
    const { figures } = run;
    const waitOfPeople = {
      ...figures.waitOfPeople,
      jobs: changes.people ?? 17_368,
      p95S: waits[at] ?? 0,
      maxS: 2 * (waits[at] ?? 0),
    };
    const jobs = { ...figures.jobs, ...(at === 0 ? lost : {}) };
    return {
      ...run,
      estimates: NO_RANGES,
      figures: {
        ...figures,
        waitOfPeople,
        jobs,
        dollars: {
          ...figures.dollars,
          tasks: dollars[at] ?? 0,
          total: (dollars[at] ?? 0) + (at === 0 ? 600 : 2),
        },
      },
    };
  });
  const to = (BASE.trace.from + days * 86_400_000) as Backtest['trace']['to'];
  const runs = [ours, without === 'fleet' ? undefined : fleet].flatMap((run) => run ?? []);
  return {
    ...BASE,
    trace: { ...BASE.trace, to, jobs: all },
    runs: without === 'runs' ? [] : runs,
  };
}

it.each([
  {
    with: {},
    headline: 'The autoscaler would have cost $412 in 7 days, 87% less than the static fleet of 180',
    summary:
      '12,345 jobs in 7 days: 5 of 100 jobs of people wait 48 s or longer (1.5 s with the fleet); no job is lost. At $1.10 for each minute that a person waits, the autoscaler is cheapest: $1,012, 69% less than the static fleet of 180 ($3,242).',
    name: 'compares cost, wait and total with the static fleet',
  },
  {
    with: { dollars: [412, 400] as const, days: 1 },
    headline: 'The autoscaler would have cost $412 in a day, 3.0% more than the static fleet of 180',
    summary:
      '12,345 jobs in a day: 5 of 100 jobs of people wait 48 s or longer (1.5 s with the fleet); no job is lost. At $1.10 for each minute that a person waits, the static fleet of 180 is cheapest: $402; the autoscaler costs $1,012, 2.5 times as much.',
    name: 'names the static fleet when it is cheaper',
  },
  {
    with: { dollars: [0.5, 0.5] as const, lost: { killed: 1, reaped: 12 } },
    headline: 'The autoscaler would have cost $0.50 in 7 days and lost 13 of 12,345 jobs',
    summary:
      '12,345 jobs in 7 days: 5 of 100 jobs of people wait 48 s or longer (1.5 s with the fleet); 1 is killed, 12 are given up after 30 min. At $1.10 for each minute that a person waits, the static fleet of 180 is cheapest: $2.50; the autoscaler costs $601, 240 times as much.',
    name: 'counts killed jobs and jobs that coderd gave up',
  },
  {
    with: { without: 'fleet' as const, days: 1.5, waits: [200, 0] as const },
    headline: 'The autoscaler would have cost $412 in 36 hours',
    summary:
      '12,345 jobs in 36 hours: 5 of 100 jobs of people wait 3.3 min or longer; no job is lost. At $1.10 for each minute that a person waits, the total is $1,012.',
    name: 'shows only its own figures without a static fleet',
  },
  {
    with: { jobs: 1, days: 10 / 1440, waits: [0, 0] as const, lost: { unserved: 1 } },
    headline: 'The autoscaler would have cost $412 in 10 minutes and lost 1 of 1 job',
    summary:
      '1 job in 10 minutes: 95 of 100 jobs of people do not wait (the same with the fleet); 1 is never run. At $1.10 for each minute that a person waits, the autoscaler is cheapest: $1,012, 69% less than the static fleet of 180 ($3,242).',
    name: 'describes a trace of one job and a wait of 0 s',
  },
  {
    with: { jobs: 19, people: 19, waits: [36, 0] as const },
    headline: 'The autoscaler would have cost $412 in 7 days, 87% less than the static fleet of 180',
    summary:
      '19 jobs in 7 days: people wait 72 s at most (0 s with the fleet); no job is lost. At $1.10 for each minute that a person waits, the autoscaler is cheapest: $1,012, 69% less than the static fleet of 180 ($3,242).',
    name: 'tells the longest wait of a few jobs',
  },
  {
    with: { waits: [0.04, 14] as const },
    headline: 'The autoscaler would have cost $412 in 7 days, 87% less than the static fleet of 180',
    summary:
      '12,345 jobs in 7 days: 95 of 100 jobs of people do not wait (up to 14 s with the fleet); no job is lost. At $1.10 for each minute that a person waits, the autoscaler is cheapest: $1,012, 69% less than the static fleet of 180 ($3,242).',
    name: 'reads a p95 wait that rounds to 0 s as no wait',
  },
  {
    with: { people: 0 as const },
    headline: 'The autoscaler would have cost $412 in 7 days, 87% less than the static fleet of 180',
    summary:
      '12,345 jobs in 7 days: no job is lost. In total, the autoscaler is cheapest: $1,012, 69% less than the static fleet of 180 ($3,242).',
    name: 'leaves out waits when people wait for no job',
  },
  {
    with: { dollars: [412, 1_010] as const },
    headline: 'The autoscaler would have cost $412 in 7 days, 59% less than the static fleet of 180',
    summary:
      '12,345 jobs in 7 days: 5 of 100 jobs of people wait 48 s or longer (1.5 s with the fleet); no job is lost. At $1.10 for each minute that a person waits, the autoscaler and the static fleet of 180 cost the same: $1,012.',
    name: 'names no winner when the totals are equal',
  },
  {
    with: { without: 'runs' as const },
    headline: 'No policy ran',
    summary: '12,345 jobs in 7 days.',
    name: 'describes a backtest without runs',
  },
])('$name', ({ with: changes, headline, summary }) => {
  const backtest = backtestWith(changes);
  expect([headlineOf(backtest), summaryOf(backtest)]).toEqual([
    headline,
    changes.without === 'runs' ? summary : `${summary} ${WHY_NONE}`,
  ]);
});

it('has the cost of a month with its range, and says what ranges mean', () => {
  const backtest = backtestWith({});
  const estimates = { ...NO_RANGES, dollarsPerMonth: { value: 41, range: [36, 47] } } as const;
  const sure = { ...backtest, runs: backtest.runs.map((run) => ({ ...run, estimates })) };
  expect(headlineOf(sure)).toContain(' cost $412 in 7 days or $41.00 ($36.00 to $47.00) a month, 87% less ');
  expect(summaryOf(sure)).toContain('. Ranges hold for nine in ten weeks like these days.');
});

describe('where the wait of people went', () => {
  it.each([
    {
      scenario: 'begins with the longest part',
      wait: { jobs: 9, missed: 0, parts: { notNoticed: 20, imagePull: 62, queued: 18 } },
      sentence: '62% of the waiting of people was image pull, 20% not noticed yet, 18% queued in coderd.',
    },
    {
      scenario: 'adds up what is left after four parts',
      wait: {
        ...{ jobs: 9, missed: 0 },
        parts: { notNoticed: 30, held: 20, launching: 4, provisioning: 20, imagePull: 20, registration: 6 },
      },
      sentence:
        '30% of the waiting of people was not noticed yet, 20% held back by a limit or for another daemon, 20% network and placement, 20% image pull, 10% other parts.',
    },
    {
      scenario: 'counts the jobs whose wait could not be split',
      wait: { jobs: 1_200, missed: 3, parts: { queued: 1, unknown: 999 } },
      sentence:
        '>99% of the waiting of people was unknown, <1% queued in coderd; the wait of 3 of 1,200 jobs could not be split and counts as unknown.',
    },
  ])('$scenario', ({ wait, sentence }) => {
    expect(peopleWaitText(wait)).toBe(sentence);
  });
});

it('shows a price of waiting with all its decimals', () => {
  const settings = { ...BASE.settings, valueOfMinute: 0.125 };
  expect(summaryOf({ ...BASE, settings })).toContain('At $0.125 for each minute that a person waits');
});

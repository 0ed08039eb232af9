import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run, runIn } from '../../../test/support/cli-run.ts';
import { ownFolder } from '../../../test/support/own-folder.ts';
import { type Tuned, tuneText, unreachableText } from '../../what-if/cli/backtest/prices-screen.ts';
import type { PricePoint, Target } from '../../what-if/search/price-search.ts';
import type { Recommendation } from '../../what-if/search/recommendation.ts';
import type { Tuning } from '../../what-if/search/tune.ts';

const folder = ownFolder();
const path = (name: string): string => join(folder, name);
const file = (name: string, lines: readonly string[]): string => {
  writeFileSync(path(name), `${lines.join('\n')}\n`);
  return path(name);
};

/** A build every two minutes, for 20 minutes; the first two come at once. */
const JOBS = Array.from({ length: 11 }, (_, at) =>
  JSON.stringify({
    at: new Date(Date.parse('2026-03-02T08:05:00Z') + Math.max(0, at - 1) * 120_000).toISOString(),
    ...{ organization: 'default', tags: {}, seconds: 60, kind: 'user' },
  }),
);
const header = (fields: string): string =>
  `{"trace":1,"name":"steady","from":"2026-03-02T08:00:00Z","to":"2026-03-02T08:30:00Z"${fields}}`;
const trace = file('steady.jsonl', [header(',"startSeconds":[30,68]'), ...JOBS]);
/** The first builds of a history always wait. */
const short = file('short.jsonl', [header(''), ...JOBS.slice(0, 2)]);
const config = file('autoscaler.yaml', [
  'coder: { url: https://coder.example.com, token: { secret: coder/token } }',
  'limits: { maxTasks: 30 }',
  'pools:',
  '  - { name: small, organization: default, key: { secret: coder/keys/small }, max: 20 }',
  '  - { name: gpu, organization: default, tags: { gpu: a10 }, key: { secret: coder/keys/gpu }, max: 7, waiting: { person: 1 } }',
  '  - { name: docs, organization: default, tags: { docs: "yes" }, key: { secret: coder/keys/docs }, max: 3 }',
]);
/** One thread: another one would load all modules again, for runs of a second. */
const QUICK = ['--price-of-waiting', '--against', 'none', '--workers', '1'];
const given = ['backtest', '--trace', trace, '--config', config, ...QUICK];
/** The recommendation for the chosen price. */
const choiceOf = ({
  choices,
  price,
}: Pick<Tuning, 'choices'> & { readonly price: number }): Recommendation => {
  const found = choices.find((choice) => choice.price === price);
  if (found === undefined) throw new Error(`no choice has the price ${price}`);
  return found;
};
/** The YAML of the choice, between its empty lines. */
const fragmentOf = (out: string): string =>
  /The choice, [^\n]*\n(?:[^\n]+\n)?\n(waiting:\n[\s\S]*?)\n\n/.exec(out)?.[1] ?? '';

/** `--config` wins over AUTOSCALER_CONFIG. */
const text = await runIn(
  { columns: 80, environment: { AUTOSCALER_CONFIG: path('none.yaml') } },
  ...[...given, '--mean-wait', '15'],
);
const tuned = JSON.parse((await run(...given, '--mean-wait', '15', '--json')).out).tuning;

describe('backtest --price-of-waiting', () => {
  it('meets a mean wait at the lowest cost of all prices', () => {
    type Point = {
      readonly price: number;
      readonly seen: Record<'meanWaitS' | 'dollarsPerMonth', { readonly value: number }>;
    };
    const { points, price } = tuned;
    const enough: readonly Point[] = points.filter(({ seen }: Point) => seen.meanWaitS.value <= 15);
    const [cheapest] = enough.toSorted((a, b) => a.seen.dollarsPerMonth.value - b.seen.dollarsPerMonth.value);
    expect(price).toBe(cheapest?.price);
    expect(points.length).toBeGreaterThanOrEqual(8);
  });

  it('shows the prices around the present one without a target or a start time, from AUTOSCALER_CONFIG', async () => {
    const { code, out } = await runIn(
      { environment: { AUTOSCALER_CONFIG: config } },
      ...['backtest', '--trace', short, ...QUICK],
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^The present price, \$0\.10, merge into/m);
    expect(out.match(/, merge into /g)).toHaveLength(3);
    expect(out).not.toContain('name: docs');
    expect(out).not.toMatch(/meets|<-|startTime/);
  });

  it('says that a week has 20 minutes of jobs, and checks the choice on no empty day', async () => {
    const week = header('').replace('03-02T08:00', '02-25T08:00').replace('03-02T08:30', '03-04T08:00');
    const sparse = file('sparse.jsonl', [week, ...JOBS]);
    const args = ['--trace', sparse, '--config', config, '--mean-wait', '900', ...QUICK];
    const { out, err } = await run('backtest', ...args);
    expect(err).toMatch(/^warning: all builds are within 18 minutes of 7 days: /);
    expect(out).toMatch(/^11 jobs in 7 days, 8 seeds\. Too short to check/m);
    expect(out).not.toContain('held back meet');
  });

  it('recommends limits above the highest use, and lowers none', () => {
    const recommendation = choiceOf(tuned);
    const [small, gpu] = recommendation.pools;
    expect(small?.used).toBeGreaterThanOrEqual(2);
    expect(small?.max).toBeGreaterThanOrEqual((small?.used ?? 0) + 2);
    expect(small?.max).toBe(20);
    expect(gpu).toEqual({ name: 'gpu', used: 0, max: 7 });
    expect(recommendation.maxTasks).toBeGreaterThanOrEqual(small?.used ?? 0);
  });

  it('prints YAML that is a valid part of the configuration', () => {
    expect(text).toMatchObject({ code: 0, err: '' });
    const { price } = choiceOf(tuned);
    const fragment = parse(fragmentOf(text.out));
    expect(fragment).toEqual({
      waiting: { person: price },
      pools: [
        { name: 'small', startTime: '70s' },
        { name: 'gpu', waiting: { person: expect.anything() }, startTime: '70s' },
        { name: 'docs', startTime: '70s' },
      ],
    });
    // a pool keeps its ratio to the others
    expect(fragment.pools[1].waiting.person).toBeCloseTo(price * 10, 6);
  });

  it('prints a line for each price, and no line is longer than 80 columns', () => {
    const { out } = text;
    const lines = out
      .slice(out.indexOf('price  '), out.indexOf('\n\nFewer', out.indexOf('price  ')))
      .split('\n');
    expect(lines).toHaveLength(1 + tuned.points.length);
    const isPath = (line: string): boolean => line.startsWith('/');
    const longest = out.split('\n').filter((line) => !isPath(line));
    expect(Math.max(...longest.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(out).toMatch(/^\$0\.10 +now/m);
    expect(out).toMatch(/^Too short|Too short to check/m);
  });

  it('shows ranges of cost and waits of a large deployment in 80 columns, and what a choice changes', () => {
    const estimate = (value: number) => ({ value, range: [value / 1.31, value * 1.31] as const });
    const point = (price: number, factor: number): PricePoint => {
      const seen = {
        dollarsPerMonth: estimate(1368 * factor),
        meanWaitS: estimate(5.9 / factor),
        p95WaitS: estimate(46.5 / factor),
      };
      return {
        ...{ price, isConfigured: price === 0.1, seeds: 8, launches: 2, idleLaunches: 1, seen },
        heldOut: { dollarsPerMonth: 1071, meanWaitS: 5.33, p95WaitS: 40 },
        ...{ estimates: seen, peaks: { all: 1, byPool: {} } },
      };
    };
    const [config, pools] = [
      { pools: [], limits: { maxTasks: 9 } },
      { pools: [], maxTasks: 9 },
    ];
    const points = [point(0.1, 1), point(0.2, 2), point(0.5, 1)];
    const of = { from: 0, to: 14 * 86_400_000, jobs: [] };
    const choices = points.map(({ price }) => ({ ...pools, price, maxTasksUsed: 1, startTimeMs: undefined }));
    const given = { config, points, best: points[1], choices, trace: of, configFile: 'a.yaml' };
    const out = tuneText({ ...given, target: { kind: 'mean-wait', seconds: 4 } } as unknown as Tuned, 80);
    expect(out).toMatch(
      /^\$0\.10 +now +1,368 \(1,000-1,800\) +5\.9 \(4\.5-7\.7\) +46\.5 \(35-61\) +1,071, 5\.33$/m,
    );
    expect(out.replaceAll('\n', ' ')).toContain(
      'The choice, $0.20 ($1,368 a month more than now, mean wait 3 s instead of 5.9 s), merge into a.yaml:',
    );
    expect(out).toContain('For $0.50 (the same cost, the same mean wait), merge into a.yaml:');
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

describe('an impossible target', () => {
  const cheapest = { price: 0.01, seen: { dollarsPerMonth: { value: 20 } } };
  const dearest = {
    ...{ price: 2, peaks: { all: 20, byPool: { small: 20 } } },
    seen: { p95WaitS: { value: 30 }, dollarsPerMonth: { value: 40 } },
  };
  const meets = { ...dearest, seen: { ...dearest.seen, p95WaitS: { value: 0, range: [0, 40] } } };
  const dearestSays =
    'a p95 wait of up to 0 s is not possible: even at the highest price of waiting ($2.00 a minute) 5 of 100 jobs of people wait about 30 s or longer.';
  const unreachable = (points: readonly object[], unlimited?: object): string =>
    unreachableText({ kind: 'p95-wait', seconds: 0 }, { ...tuning, points, unlimited } as unknown as Tuning);

  it('names warm, min and schedules where a higher max would not help', () => {
    expect(unreachable([dearest], { ...dearest, seen: { p95WaitS: { value: 25 } } })).toBe(
      `${dearestSays} max of pool "small" was reached, but without limits the wait would be 25 s: the builds came before a daemon was ready. To shorten that, keep daemons for them with warm, min or a schedule`,
    );
    expect(unreachable([dearest], meets)).toBe(`${dearestSays} max of pool "small" was reached: raise it`);
  });

  it('that these days meet is told from one that no day meets', () => {
    expect(unreachable([meets])).toBe(
      'no price of waiting surely meets a p95 wait of up to 0 s. $2.00 a minute meets it in these days (0 s), but in another week like them it may be 40 s. Ask for 40 s, give a longer history, or keep daemons for them with warm, min or a schedule',
    );
  });

  const tuning = {
    points: [cheapest, dearest],
    config: { pools: [{ name: 'small', max: 20 }], limits: { maxTasks: 30 } },
  } as unknown as Tuning;

  it.each<{ readonly target: Target; readonly says: string }>([
    {
      target: { kind: 'budget', dollarsPerMonth: 0.01 },
      says: 'a budget of $0.01 a month is too small: even at the lowest price of waiting ($0.01 a minute) the tasks of this trace cost about $20.00 a month. Raise the budget, or lower min, warm or the schedules of the pools',
    },
    {
      target: { kind: 'p95-wait', seconds: 0 },
      says: 'a p95 wait of up to 0 s is not possible: even at the highest price of waiting ($2.00 a minute) 5 of 100 jobs of people wait about 30 s or longer. max of pool "small" was reached: raise it',
    },
  ])('of $target.kind is explained', ({ target, says }) => {
    const points = target.kind === 'p95-wait' ? [dearest] : tuning.points;
    expect(unreachableText(target, { ...tuning, points } as Tuning)).toBe(says);
  });

  it('exits with 1, and reports the wait at the highest price', async () => {
    const args = ['--trace', short, '--config', config, '--mean-wait', '0', ...QUICK];
    const { code, out, err } = await run('backtest', ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^a mean wait of up to 0 s is not possible: even at the highest price of waiting \(\$2\.00 a minute\) people wait about [\d.]+ s on average\. No limit was reached: /,
    );
  });

  const names = 'small-team, 1k-users';
  it.each([
    {
      args: ['backtest', '--budget', '10'],
      err: `error: no trace given. Add --trace FILE (autoscaler trace export writes one), or try --scenario NAME: ${names}`,
    },
    {
      args: [...given, '--budget', '10'],
      err: 'error: --budget is for a month, and a trace of less than two days cannot tell one: give a longer trace, or a wait\n',
    },
    {
      args: [...given, '--budget', '10', '--mean-wait', '2'],
      err: 'error: more than one target given. Use one of --budget, --mean-wait and --p95-wait\n',
    },
    {
      args: [...given, '--mean-wait', 'soon'],
      err: "error: option '--mean-wait <seconds>' argument 'soon' is invalid. Write a number of seconds, 0 or more, such as 2.5.\n",
    },
    {
      args: [...given, '--budget', 'x'],
      err: "error: option '--budget <dollars>' argument 'x' is invalid.",
    },
  ])('exits with 2 for $args', async ({ args, err }) => {
    const answer = await run(...args);
    expect(answer).toMatchObject({ code: 2, out: '' });
    expect(answer.err.slice(0, err.length)).toBe(err);
  });

  it('fails if the trace file does not exist', async () => {
    const { code, err } = await run(
      'backtest',
      '--trace',
      path('none.jsonl'),
      '--config',
      config,
      '--budget',
      '1',
    );
    expect(code).toBe(1);
    expect(err).toBe(`${path('none.jsonl')}: reading the file: no such file; check the path\n`);
  });
});

it('describes AUTOSCALER_CONFIG in the help', async () => {
  expect((await run('backtest', '--help')).out).toContain('AUTOSCALER_CONFIG');
});

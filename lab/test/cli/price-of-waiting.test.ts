import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run, runIn } from '../../../test/support/cli-run.ts';
import { ownFolder } from '../../../test/support/own-folder.ts';
import { type Tuned, tuneText, unreachableText } from '../../what-if/cli/backtest/prices-screen.ts';
import type { PricePoint } from '../../what-if/replay/result.ts';
import type { Target } from '../../what-if/search/price-search.ts';

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
/** `--config` wins over AUTOSCALER_CONFIG. */
const text = await runIn(
  { columns: 80, environment: { AUTOSCALER_CONFIG: path('none.yaml') } },
  ...[...given, '--mean-wait', '15'],
);
const { prices, tuning, runs } = JSON.parse((await run(...given, '--mean-wait', '15', '--json')).out);

describe('backtest --price-of-waiting', () => {
  it('plays prices until it has the lowest one that meets a mean wait, from the present one on', () => {
    const meets = ({ estimates }: PricePoint): boolean => estimates.meanWaitS.value <= 15;
    expect(tuning.price).toBe(prices.find(meets).price);
    const present = prices.find(({ isConfigured }: PricePoint) => isConfigured);
    expect(present).toMatchObject({ price: 0.1, estimates: runs[0].estimates });
    expect(prices.length).toBeLessThanOrEqual(4);
    expect(tuning.choices).toMatchObject([{ price: tuning.price }]);
  });

  it('says how long it takes before it starts', () => {
    expect(text.err).toBe(
      'replaying 11 jobs in an hour at the present price and up to 3 others: about 1 s on two idle cores\n',
    );
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

  it('prints YAML that is a valid part of the configuration', () => {
    expect(text.code).toBe(0);
    const { price } = tuning;
    const fragment = parse(/\n\n(waiting:\n[\s\S]*?)\n\n/.exec(text.out)?.[1] ?? '');
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

  it('shows ranges of cost and waits of a large deployment in 80 columns, and what a choice changes', () => {
    const points = [pointOf(0.1, 1), pointOf(0.2, 2), pointOf(0.5, 1)];
    const choices = points.map(({ price }) => ({ price, pools: [], maxTasks: 9, maxTasksUsed: 1 }));
    const config = { pools: [], limits: { maxTasks: 9 } };
    const given = { config, points, best: points[1], choices, configFile: 'a.yaml' };
    const trace = { from: 0, to: 14 * 86_400_000 };
    const target = { kind: 'mean-wait', seconds: 4 };
    const out = tuneText({ ...given, trace, target } as unknown as Tuned, 80);
    expect(out).toMatch(/^\$0\.10 +now +1,368 \(1,000-1,800\) +5\.9 \(4\.5-7\.7\) +46\.5 \(35-61\)$/m);
    expect(out.replaceAll('\n', ' ')).toContain(
      'The choice, $0.20 ($1,368 a month more than now, mean wait 3 s instead of 5.9 s), merge into a.yaml:',
    );
    expect(out).toContain('For $0.50 (the same cost, the same mean wait), merge into a.yaml:');
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

function pointOf(price: number, factor: number, peak = 1): PricePoint {
  const about = (value: number) => ({ value, range: [value / 1.31, value * 1.31] as const });
  const estimates = {
    dollarsPerMonth: about(1368 * factor),
    meanWaitS: about(5.9 / factor),
    p95WaitS: about(46.5 / factor),
  };
  const figures = { peaks: { all: peak, byPool: { small: peak } } };
  return { price, isConfigured: price === 0.1, estimates, figures } as unknown as PricePoint;
}

describe('an impossible target', () => {
  it.each<{ readonly target: Target; readonly peak?: number; readonly says: string }>([
    {
      target: { kind: 'budget', dollarsPerMonth: 700 },
      says: 'No price of waiting down to $0.10 a minute meets a budget of $700 a month. The nearest is $0.10: $1,368 ($1,044 to $1,792). Raise the budget, or lower min, warm or the schedules of the pools.',
    },
    {
      target: { kind: 'mean-wait', seconds: 3 },
      says: 'No price of waiting up to $0.20 a minute meets a mean wait of up to 3 s. The nearest is $0.20: 3 s (2.3 s to 3.9 s). It meets the target in these days, and another week like them may have 3.9 s: ask for 3.9 s, or give a longer history.',
    },
    {
      target: { kind: 'p95-wait', seconds: 2 },
      peak: 20,
      says: 'No price of waiting up to $0.20 a minute meets a p95 wait of up to 2 s. The nearest is $0.20: 23 s (18 s to 30 s). max of pool "small" was reached: raise it.',
    },
    {
      target: { kind: 'p95-wait', seconds: 2 },
      peak: 30,
      says: 'No price of waiting up to $0.20 a minute meets a p95 wait of up to 2 s. The nearest is $0.20: 23 s (18 s to 30 s). max of pool "small" and limits.maxTasks were reached: raise them.',
    },
  ])('of $target has the nearest price and a remedy', ({ target, peak, says }) => {
    const config = { pools: [{ name: 'small', max: 20 }], limits: { maxTasks: 30 } };
    const points = [pointOf(0.1, 1), pointOf(0.2, 2, peak)];
    expect(unreachableText(target, { points, config } as unknown as Tuned)).toBe(says);
  });

  it('exits with 1 after the table of prices', async () => {
    const args = ['--trace', short, '--config', config, '--mean-wait', '0', ...QUICK];
    const { code, out } = await run('backtest', ...args);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^No price of waiting up to \$2\.00 a minute meets a mean wait of up to 0 s\. The nearest is \$[\d.]+: [\d.]+ s\. No limit was reached: /m,
    );
    expect(out).toMatch(/^\$0\.10 +now +0\.0/m);
    expect(out).not.toContain('merge into');
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

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { pricePoint } from '../../backtest/search/price-point.ts';
import { run, runIn } from '../support/cli-run.ts';
import { timeOf } from '../support/lab.ts';

const folder = mkdtempSync(join(tmpdir(), 'autoscaler-tune-'));
const path = (name: string): string => join(folder, name);
const file = (name: string, lines: readonly string[]): string => {
  writeFileSync(path(name), `${lines.join('\n')}\n`);
  return path(name);
};
afterAll(() => rmSync(folder, { recursive: true }));

/** A build every two minutes, for 20 minutes; the first two come at once. */
const JOBS = Array.from({ length: 11 }, (_, at) =>
  JSON.stringify({
    at: new Date(Date.parse('2026-03-02T08:05:00Z') + Math.max(0, at - 1) * 120_000).toISOString(),
    ...{ organization: 'default', tags: {}, seconds: 60, kind: 'user' },
  }),
);
const PERIOD = { from: timeOf('2026-03-02T08:00:00Z'), to: timeOf('2026-03-02T08:30:00Z') };
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
const ONE_THREAD = ['--workers', '1'];
const given = ['tune', '--trace', trace, '--config', config, ...ONE_THREAD];
const document = async (...args: readonly string[]) =>
  JSON.parse((await run(...given, '--json', ...args)).out);
/** The YAML of the output, between its empty lines. */
const fragmentOf = (out: string): string => /\n\n(waiting:\n[\s\S]*?)\n\nEffect /.exec(out)?.[1] ?? '';

const NONE = ['--against', 'none', '--json'];

const text = await run(...given, '--mean-wait', '15');
const tuned = await document('--mean-wait', '15');

describe('tune', () => {
  it('meets a mean wait at the lowest cost of all tried prices', () => {
    const { points, recommendation } = tuned;
    type Point = { readonly price: number; readonly meanWaitS: number; readonly dollarsPerMonth: number };
    const enough: readonly Point[] = points.filter((point: Point) => point.meanWaitS <= 15);
    const [cheapest] = enough.toSorted((a, b) => a.dollarsPerMonth - b.dollarsPerMonth);
    expect(recommendation.price).toBe(cheapest?.price);
    expect(points.length).toBeGreaterThanOrEqual(8);
  });

  it('meets a budget with the shortest wait', async () => {
    const least = Math.min(
      ...tuned.points.map(({ dollarsPerMonth }: { dollarsPerMonth: number }) => dollarsPerMonth),
    );
    const { after, points, recommendation } = await document('--budget', String(Math.ceil(least * 1.05)));
    const chosen = points.find(({ price }: { price: number }) => price === recommendation.price);
    expect(chosen.dollarsPerMonth).toBeLessThanOrEqual(Math.ceil(least * 1.05));
    expect(after.price).toBe(recommendation.price);
  });

  it('meets a p95 wait', async () => {
    const { points, recommendation } = await document('--p95-wait', '100');
    const chosen = points.find(({ price }: { price: number }) => price === recommendation.price);
    expect(chosen.p95WaitS).toBeLessThanOrEqual(100);
  });

  it('recommends limits above the highest use and keeps the limits of unused pools', () => {
    const [small, gpu] = tuned.recommendation.pools;
    expect(small.used).toBeGreaterThanOrEqual(2);
    expect(small.max).toBeGreaterThanOrEqual(small.used + 2);
    expect(small.max).toBeLessThan(20);
    expect(gpu).toEqual({ name: 'gpu', used: 0, max: 7 });
    expect(tuned.recommendation.maxTasks).toBeGreaterThanOrEqual(small.used);
  });

  it('prints YAML that is a valid part of the configuration', async () => {
    expect(text).toMatchObject({ code: 0, err: '' });
    const { price, pools, maxTasks } = tuned.recommendation;
    const fragment = parse(fragmentOf(text.out));
    expect(fragment).toEqual({
      waiting: { person: price },
      limits: { maxTasks },
      pools: [
        { name: 'small', max: pools[0].max, startTime: '70s' },
        { name: 'gpu', max: 7, waiting: { person: expect.anything() }, startTime: '70s' },
        { name: 'docs', max: 3, startTime: '70s' },
      ],
    });
    // a pool keeps its ratio to the others
    expect(fragment.pools[1].waiting.person).toBeCloseTo(price * 10, 6);
  });

  it('gives the predicted figures with the recommended configuration', async () => {
    const fragment = parse(fragmentOf(text.out));
    const before = parse(readFileSync(config, 'utf8'));
    const merged = {
      ...before,
      ...fragment,
      pools: before.pools.map((pool: object, at: number) => ({ ...pool, ...fragment.pools[at] })),
    };
    const mergedFile = file('merged.yaml', [JSON.stringify(merged)]);
    const args = ['--trace', trace, '--config', mergedFile, ...ONE_THREAD, ...NONE];
    const { runs } = JSON.parse((await run('backtest', ...args)).out);
    const price = { price: tuned.recommendation.price, isConfigured: false };
    expect(pricePoint(price, runs[0], PERIOD)).toEqual(tuned.after);
  });

  it('prints the current figures beside the recommended ones', () => {
    const { before, after } = tuned;
    expect(text.out).toContain('before');
    expect(text.out).toMatch(
      new RegExp(
        `^mean wait of people +${before.meanWaitS.toFixed(1)} s +${after.meanWaitS.toFixed(1)} s$`,
        'm',
      ),
    );
    expect(text.out).toMatch(/with some randomness/);
  });

  it('writes no start time if the trace has none', async () => {
    const { out } = await run(
      'tune',
      '--trace',
      short,
      '--config',
      config,
      '--mean-wait',
      '600',
      ...ONE_THREAD,
    );
    expect(fragmentOf(out)).toMatch(/^waiting:/);
    expect(fragmentOf(out)).not.toContain('startTime');
  });

  it('gives the same bytes for the same seed, on one thread and on two', async () => {
    const args = [...given, '--mean-wait', '15'];
    expect((await run(...args, '--workers', '2')).out).toBe(text.out);
  });
});

describe('an impossible target', () => {
  it('reports the cost of the lowest price if the budget is too small', async () => {
    const args = ['--trace', short, '--config', config, '--budget', '0.01', ...ONE_THREAD];
    const { code, out, err } = await run('tune', ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^the budget of \$0\.01 a month is too small: even at the lowest price of waiting \(\$0\.01 a minute\) the tasks of this trace cost \$[\d.]+\. Raise the budget, or lower min, warm or the schedules of the pools\n$/,
    );
  });

  it.each([
    {
      option: '--mean-wait',
      says: /^a mean wait of 0 s is not possible: even at the highest price of waiting \(\$2\.00 a minute\) people wait [\d.]+ s on average\. Allow /,
    },
    {
      option: '--p95-wait',
      says: /^a p95 wait of 0 s is not possible: even at the highest price of waiting \(\$2\.00 a minute\) 5 of 100 jobs of people wait [\d.]+ s or longer\. Allow /,
    },
  ])('reports the wait at the highest price for $option 0', async ({ option, says }) => {
    const { code, out, err } = await run(
      'tune',
      '--trace',
      short,
      '--config',
      config,
      option,
      '0',
      ...ONE_THREAD,
    );
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(says);
  });

  const names = 'small-team, 1k-users';
  it.each([
    {
      args: ['tune', '--budget', '10'],
      err: `error: no trace given. Add --trace FILE (autoscaler trace export writes one), or try --scenario NAME: ${names}`,
    },
    {
      args: given,
      err: 'error: no target given. Add --budget DOLLARS_A_MONTH, --mean-wait SECONDS or --p95-wait SECONDS\n',
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
      'tune',
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

describe('the configuration of tune and backtest', () => {
  const environment = { AUTOSCALER_CONFIG: config };

  it('is the file that AUTOSCALER_CONFIG names when --config is missing', async () => {
    const args = ['--trace', short, '--mean-wait', '600', '--json', ...ONE_THREAD];
    const { out } = await runIn({ environment }, 'tune', ...args);
    expect(JSON.parse(out).recommendation.pools).toContainEqual(expect.objectContaining({ name: 'docs' }));
  });

  it('is the file of --config when AUTOSCALER_CONFIG names another one', async () => {
    const other = { AUTOSCALER_CONFIG: path('none.yaml') };
    const { err } = await runIn(
      { environment: other },
      'backtest',
      '--trace',
      short,
      '--config',
      config,
      ...ONE_THREAD,
      ...NONE,
    );
    expect(err).not.toContain('none.yaml');
  });

  it.each(['tune', 'backtest'])('is described in the help of %s', async (command) => {
    expect((await run(command, '--help')).out).toContain('AUTOSCALER_CONFIG');
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Recommendation } from '../../backtest/search/recommendation.ts';
import type { Tuning } from '../../backtest/search/tune.ts';
import { run, runIn } from '../support/cli-run.ts';

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
const header = (fields: string): string =>
  `{"trace":1,"name":"steady","from":"2026-03-02T08:00:00Z","to":"2026-03-02T08:30:00Z"${fields}}`;
const trace = file('steady.jsonl', [header(',"startSeconds":[30,68]'), ...JOBS]);
const twoDays = file('two-days.jsonl', [
  header('').replace('03-02T08:30', '03-04T08:00'),
  ...JOBS.slice(0, 2),
]);
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
/** The trace lasts 30 minutes: more seeds show nothing else. */
const QUICK = ['--seeds', '1', ...ONE_THREAD];
const given = ['tune', '--trace', trace, '--config', config, ...QUICK];
const document = async (...args: readonly string[]) =>
  JSON.parse((await run(...given, '--json', ...args)).out);
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
const fragmentOf = (out: string): string => /The choice, .*\n\n(waiting:\n[\s\S]*?)\n\n/.exec(out)?.[1] ?? '';

const NONE = ['--against', 'none', '--json'];

const text = await run(...given, '--mean-wait', '15');
const tuned = await document('--mean-wait', '15');

describe('tune', () => {
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

  it('shows the prices around the present one without a target', async () => {
    const { code, out } = await run(...given);
    expect(code).toBe(0);
    expect(out).toMatch(/^The present price, \$0\.10, merge into/m);
    expect(out.match(/, merge into /g)).toHaveLength(3);
    expect(out).not.toMatch(/meets|<-/);
  });

  it('recommends limits above the highest use and keeps the limits of unused pools', () => {
    const recommendation = choiceOf(tuned);
    const [small, gpu] = recommendation.pools;
    expect(small?.used).toBeGreaterThanOrEqual(2);
    expect(small?.max).toBeGreaterThanOrEqual((small?.used ?? 0) + 2);
    expect(small?.max).toBeLessThan(20);
    expect(gpu).toEqual({ name: 'gpu', used: 0, max: 7 });
    expect(recommendation.maxTasks).toBeGreaterThanOrEqual(small?.used ?? 0);
  });

  it('prints YAML that is a valid part of the configuration', async () => {
    expect(text).toMatchObject({ code: 0, err: '' });
    const { price, pools, maxTasks } = choiceOf(tuned);
    const fragment = parse(fragmentOf(text.out));
    expect(fragment).toEqual({
      waiting: { person: price },
      limits: { maxTasks },
      pools: [
        { name: 'small', max: pools[0]?.max, startTime: '70s' },
        { name: 'gpu', max: 7, waiting: { person: expect.anything() }, startTime: '70s' },
        { name: 'docs', max: 3, startTime: '70s' },
      ],
    });
    // a pool keeps its ratio to the others
    expect(fragment.pools[1].waiting.person).toBeCloseTo(price * 10, 6);
  });

  it('prints a line for each price, within 80 columns', async () => {
    const { out } = await runIn({ columns: 80 }, ...given, '--mean-wait', '15');
    const table = out.slice(out.indexOf('price  '), out.indexOf('\n\nFewer'));
    expect(table.split('\n')).toHaveLength(1 + tuned.points.length);
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(table).toMatch(/^\$0\.10 now/m);
    expect(out).toMatch(/^Too short|Too short to check/m);
  });

  it('writes no start time if the trace has none', async () => {
    const { out } = await run('tune', '--trace', short, '--config', config, '--mean-wait', '600', ...QUICK);
    expect(fragmentOf(out)).toMatch(/^waiting:/);
    expect(fragmentOf(out)).not.toContain('startTime');
  });

  it('gives the same bytes for the same seeds, on one thread and on two', async () => {
    expect((await run(...given, '--mean-wait', '15', '--workers', '2')).out).toBe(text.out);
  });
});

describe('an impossible target', () => {
  it('reports the cost of the lowest price if the budget is too small', async () => {
    const args = ['--trace', twoDays, '--config', config, '--budget', '0.01', ...QUICK];
    const { code, out, err } = await run('tune', ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^a budget of \$0\.01 a month is too small: even at the lowest price of waiting \(\$0\.01 a minute\) the tasks of this trace cost \$[\d.]+ a month\. Raise the budget, or lower min, warm or the schedules of the pools\n$/,
    );
  });

  it.each([
    {
      option: '--mean-wait',
      says: /^a mean wait of up to 0 s is not possible: even at the highest price of waiting \(\$2\.00 a minute\) people wait [\d.]+ s on average\. No limit was reached: /,
    },
    {
      option: '--p95-wait',
      says: /^a p95 wait of up to 0 s is not possible: even at the highest price of waiting \(\$2\.00 a minute\) 5 of 100 jobs of people wait [\d.]+ s or longer\. No limit was reached: /,
    },
  ])('reports the wait at the highest price for $option 0', async ({ option, says }) => {
    const { code, out, err } = await run('tune', '--trace', short, '--config', config, option, '0', ...QUICK);
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
    const args = ['--trace', short, '--mean-wait', '600', '--json', ...QUICK];
    const { out } = await runIn({ environment }, 'tune', ...args);
    expect(JSON.parse(out).choices[0].pools).toContainEqual(expect.objectContaining({ name: 'docs' }));
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

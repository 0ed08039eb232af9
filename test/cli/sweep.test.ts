import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SweepPoint } from '../../backtest/replay/result.ts';
import { run } from '../support/cli-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'autoscaler-sweep-'));
const file = (name: string, lines: readonly string[]): string => {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  return join(folder, name);
};
afterAll(() => rmSync(folder, { recursive: true }));

/** A build every four minutes, for three hours: a kept daemon is worth a part of its price. */
const trace = file('steady.jsonl', [
  '{"trace":1,"name":"steady","from":"2026-03-02T08:00:00Z","to":"2026-03-02T11:00:00Z","startSeconds":[30,70]}',
  ...Array.from({ length: 40 }, (_, at) =>
    JSON.stringify({
      at: new Date(Date.parse('2026-03-02T08:05:00Z') + at * 240_000).toISOString(),
      ...{ organization: 'default', tags: {}, seconds: 60, kind: 'user' },
    }),
  ),
]);
const config = file('autoscaler.yaml', [
  'coder: { url: https://coder.example.com, token: { secret: coder/token } }',
  'limits: { maxTasks: 10 }',
  'waiting: { person: 0.05 }',
  'pools:',
  '  - { name: small, organization: default, key: { secret: coder/keys/small }, max: 4 }',
]);
/** One thread: a second one would load all modules again, for runs of a second. */
const ONE_THREAD = ['--workers', '1'];
const given = ['backtest', '--trace', trace, '--config', config, ...ONE_THREAD, '--sweep', 'waiting'];
const values = ['--values', '1,0.001'];

const text = await run(...given, ...values);
const json = await run(...given, ...values, '--json');
const points: readonly SweepPoint[] = JSON.parse(json.out).sweep;

describe('backtest --sweep waiting', () => {
  it('runs at each price and at the configured one, in order', () => {
    expect(points.map(({ price, isConfigured }) => [price, isConfigured])).toEqual([
      [0.001, false],
      [0.05, true],
      [1, false],
    ]);
  });

  it('costs more and waits less at a higher price', () => {
    const [least, , most] = points;
    expect(most?.dollarsPerMonth).toBeGreaterThan(least?.dollarsPerMonth ?? Infinity);
    expect(most?.meanWaitS).toBeLessThan(least?.meanWaitS ?? 0);
  });

  it('scales the cost of the history to a month of 30.4 days', () => {
    const { tasks } = JSON.parse(json.out).runs[0].figures.dollars;
    expect(points[1]?.dollarsPerMonth).toBeCloseTo((tasks / 3) * 24 * 30.4, 6);
  });

  it('prints one table within 100 columns, with the configured price marked', () => {
    expect(text).toMatchObject({ code: 0, err: '' });
    const [, table = ''] = text.out.split('\n\n');
    expect(table).toMatch(
      /^price of waiting +\$ a month .*\n\$0\.001 .*\n\$0\.05 +configured .*\n\$1\.00 .*$/,
    );
    expect(text.out).not.toContain('busy-hours');
    expect(Math.max(...table.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(100);
  });

  it('prints the other policies if they are named', async () => {
    const { out } = await run(...given, '--values', '0.05', '--against', 'static');
    expect(out).toMatch(/^price of waiting /m);
    expect(out).toMatch(/^static /m);
  });

  it('shows the prices in the report', async () => {
    const report = join(folder, 'report.html');
    const { code } = await run(...given, ...values, '--out', report);
    expect(code).toBe(0);
    expect(readFileSync(report, 'utf8')).toContain('id="sweep-waiting"');
  });

  it('uses eight prices by default', async () => {
    const { out } = await run(...given, '--json');
    const prices = JSON.parse(out).sweep.map(({ price }: SweepPoint) => price);
    expect(prices).toEqual([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]);
  });
});

describe('a backtest without a sweep', () => {
  it('has no sweep in the document and in the report', async () => {
    const report = join(folder, 'alone.html');
    const { out } = await run(...given.slice(0, -2), '--against', 'none', '--json', '--out', report);
    expect(JSON.parse(out)).not.toHaveProperty('sweep');
    expect(readFileSync(report, 'utf8')).not.toContain('id="sweep-waiting"');
  });
});

describe('invalid input', () => {
  const prices = 'Write up to 50 prices in dollars a minute, each from 0 to 1000, such as 0.05,0.10,1.';
  it.each([
    {
      args: [...given.slice(0, -2), '--values', '1'],
      err: 'error: --values needs --sweep waiting\n',
    },
    {
      args: [...given, '--values', '1,-2'],
      err: `error: option '--values <dollars>' argument '1,-2' is invalid. ${prices}\n`,
    },
    {
      args: [...given, '--values', '1001'],
      err: `error: option '--values <dollars>' argument '1001' is invalid. ${prices}\n`,
    },
    {
      args: [...given.slice(0, -1), 'warm'],
      err: "error: option '--sweep <setting>' argument 'warm' is invalid. Allowed choices are waiting.\n",
    },
  ])('exits with 2 for $args', async ({ args, err }) => {
    expect(await run(...args)).toEqual({ code: 2, out: '', err });
  });
});

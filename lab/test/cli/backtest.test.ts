import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { CliEnvironment } from '../../../cli/shared/cli-environment.ts';
import { run, runIn } from '../../../test/support/cli-run.ts';
import { ownFolder } from '../../../test/support/own-folder.ts';
import { table } from '../../../test/support/table.ts';
import { backtestText } from '../../what-if/cli/backtest/screen.ts';
import { readSubject } from '../../what-if/cli/backtest/subject.ts';
import { plausibleBacktest } from '../what-if/report/fixture.ts';

const folder = ownFolder();
const path = (name: string): string => join(folder, name);
const file = (name: string, lines: readonly string[]): string => {
  writeFileSync(path(name), `${lines.join('\n')}\n`);
  return path(name);
};

const HEADER =
  '{"trace":1,"name":"morning","from":"2026-03-02T08:00:00Z","to":"2026-03-02T08:30:00Z","startSeconds":[30,70]}';
const job = (minute: string, fields: object = {}): string =>
  JSON.stringify({
    ...{ at: `2026-03-02T08:${minute}:00Z`, organization: 'default', tags: {}, seconds: 74, kind: 'user' },
    ...fields,
  });
const JOBS = [job('05'), job('05'), job('06'), job('15', { kind: 'autostart' }), job('22', { seconds: 20 })];
const ALIEN = job('10', { organization: 'data', tags: { gpu: 'a10' } });

const trace = file('morning.jsonl', [HEADER, ...JOBS]);
const config = file('autoscaler.yaml', [
  'coder: { url: https://coder.example.com, token: { secret: coder/token } }',
  'limits: { maxTasks: 10 }',
  'defaults: { image: "ghcr.io/coder/coder:v2.30.0", cpu: 1024, memory: 2048, architecture: arm64 }',
  'pools:',
  '  - { name: small, organization: default, key: { secret: coder/keys/small }, min: 0, max: 2 }',
]);
/** One thread: another one would load all modules again, for runs of a second. */
const ONE_THREAD = ['--workers', '1'];
const given = ['--trace', trace, '--config', config, ...ONE_THREAD];
const NONE = ['--against', 'none'];
const document = async (...args: readonly string[]) =>
  JSON.parse((await run('backtest', '--json', ...args)).out);

/** A backtest of the autoscaler alone: on a terminal, with a report; and as a document, in a process. */
const report = path('report.html');
const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
const text = await runIn({ terminal }, 'backtest', ...given, ...NONE, '--out', report);
terminal.end();
const alone = JSON.parse(
  execFileSync(
    process.execPath,
    ['cli/main.ts', 'backtest', '--trace', '-', '--config', config, ...NONE, '--json', ...ONE_THREAD],
    { input: readFileSync(trace), encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] },
  ),
);

describe('backtest', () => {
  it('prints a headline and a row for each policy, within 80 columns', async () => {
    const { code, out, err } = await run('backtest', ...given);
    expect({ code, err }).toEqual({
      code: 0,
      err: 'warning: up to 3 jobs at once (2 March 2026 08:06:00 UTC) may have only 2 tasks (max of small): with any policy some of them wait\n',
    });
    expect(out).toMatch(
      /^The autoscaler would have cost \$0\.\d\d in an hour, .*\.\n5 jobs in an hour: .*\.\n\d+% of the waiting of people was .*\.\n\npolicy {2}/,
    );
    const [, weeks = '', costs = '', fates = ''] = out.split('\n\n');
    for (const table of [weeks, costs, fates])
      expect(table).toMatch(/^autoscaler .*\nstatic .*\nfrom-zero .*\nagent-scaler /m);
    const lines = [weeks, costs, fates].join('\n').split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(out.match(/no range/g), 'why half an hour has no range').toHaveLength(1);
    expect(out).toMatch(
      /\nWith --mean-wait SECONDS, backtest finds the price of waiting for a wait\. --help lists the other\s+targets\n$/,
    );
  });

  it('shows the figures of the JSON document in the table', () => {
    const { tasks, dollars } = alone.runs[0].figures;
    const [, , costs = '', fates = ''] = text.out.split('\n\n');
    const row = /^autoscaler +\S+ +\S+ +(\S+) .* (\S+)$/m.exec(costs);
    expect(row?.slice(1)).toEqual([dollars.tasks.toFixed(2), dollars.total.toFixed(2)]);
    expect(fates).toMatch(new RegExp(`^autoscaler +${tasks.hours.toFixed(1)} `, 'm'));
  });

  it('shows a range for each policy in one line of 80 columns, for a large deployment', () => {
    const { runs, ...rest } = plausibleBacktest(7);
    const large = { ...rest, runs: runs.slice(0, 4) };
    const [, weeks = '', ...others] = backtestText(large, 80).split('\n\n');
    const [head, ...rows] = weeks.split('\n');
    expect(head).toMatch(/^policy +\$ a month +mean wait s +p95 wait s$/);
    expect(rows).toHaveLength(large.runs.length);
    for (const row of rows) expect(row.match(/\([\d.,]+-[\d.,]+\)/g), row).toHaveLength(3);
    for (const table of others.slice(0, 2)) expect(table).toMatch(/^in 7 days +\w.*\nautoscaler +[\d.]/);
  });

  it('counts no stop as late that may wait for ten minutes', () => {
    const [ours] = plausibleBacktest(7).runs;
    expect(ours?.figures.executor).toMatchObject({ delayed: expect.any(Number), tooLate: 0 });
    expect(backtestText(plausibleBacktest(7), 80)).toMatch(/ late\nautoscaler .* 0\n/);
  });

  it('gives no cost of a month in the JSON document of half an hour', () => {
    expect(Object.keys(alone.runs[0].estimates)).toEqual(['meanWaitS', 'p95WaitS']);
  });

  it('tells where the wait of people went, as in the JSON document', () => {
    const { jobs, missed, parts } = alone.runs[0].peopleWait;
    const [, , sentence = ''] = text.out.split('\n');
    expect({ jobs, missed }).toEqual({ jobs: 5, missed: 0 });
    const waited = alone.runs[0].figures.waitOfPeople.meanS * 5;
    const values: readonly number[] = Object.values(parts);
    const seconds = values.reduce((total, ms) => total + ms, 0) / 1000;
    // a scheduled start waits from the time it was due, and coderd submits its job later
    expect(seconds).toBeLessThanOrEqual(waited);
    expect(seconds).toBeGreaterThan(waited - 60);
    const percent = Math.round(parts.imagePull / seconds / 10);
    expect(sentence).toContain(`${percent}% `);
    expect(sentence).toMatch(/^\d+% of the waiting of people was /);
    expect(sentence).toContain('image pull');
    expect(text.out).toContain('60% image pull and 10% container start (docs/backtest.md)\n');
  });

  it('compares with the named policies, with the same figures on two threads', async () => {
    const args = ['--trace', trace, '--config', config, '--against', 'static,agent-scaler'];
    const { runs, breakEven } = await document(...args, '--workers', '2');
    expect(breakEven, 'half an hour cannot tell builds a day').toBeUndefined();
    const policies = runs.map(({ policy }: { readonly policy: string }) => policy);
    expect([...new Set(policies)]).toEqual(['autoscaler', 'static', 'agent-scaler']);
    expect(runs[0]).toEqual(alone.runs[0]);
  });

  it('writes times as text in the JSON document of a trace from standard input', () => {
    expect(Object.keys(alone).slice(0, 3)).toEqual(['version', 'trace', 'seed']);
    expect(alone.trace).toMatchObject({
      ...{ name: 'morning', from: '2026-03-02T08:00:00.000Z', jobs: 5, skipped: 0 },
    });
    expect(alone.settings.valueOfMinute).toBe(0.1);
    expect(alone.runs[0].pools[0].changes[0].at).toMatch(/^2026-03-02T08:\d\d:\d\d\.\d{3}Z$/);
  });

  it('takes the seed, the price of waiting and the region as options', async () => {
    const options = ['--seed', '2', '--value-of-minute', '0', '--region', 'eu-west-2'];
    const { settings, runs } = await document(...given, ...NONE, ...options);
    const { dollars, tasks, wait } = runs[0].figures;
    const usual = alone.runs[0].figures;
    expect(wait).not.toEqual(usual.wait);
    expect(dollars.waiting).toBe(0);
    expect(settings).toMatchObject({ region: 'eu-west-2', valueOfMinute: 0 });
    expect(dollars.tasks / tasks.hours).toBeGreaterThan(usual.dollars.tasks / usual.tasks.hours);
  });

  it('writes the report and prints its name, and shows a progress bar on a terminal', async () => {
    expect(text.err).toContain(`wrote ${report}\n`);
    expect(readFileSync(report, 'utf8')).toContain(text.out.split('.\n')[0]);
    expect(existsSync(`${report}.part`)).toBe(false);
    expect(await textOf(terminal)).toMatch(/░+ 0 %/);
  });

  it('takes a scenario with its own configuration, whatever AUTOSCALER_CONFIG names', () => {
    const cliEnvironment = { environment: { AUTOSCALER_CONFIG: config } } as unknown as CliEnvironment;
    const options = { scenario: 'small-team', days: 1, seed: 1, skipBad: false };
    expect(readSubject(options, cliEnvironment)).toMatchObject({
      trace: { name: 'small-team' },
      config: { pools: [{ name: 'default', max: 10 }] },
    });
  });
});

describe('a trace that does not fit the configuration', () => {
  it('is replayed without jobs that no pool can run and without invalid lines, with warnings', async () => {
    const troubled = file('troubled.jsonl', [
      HEADER.replace('}', ',"outages":[{"at":"2026-03-02T08:20:00Z","seconds":300}]}'),
      ...[...JOBS, ALIEN, ALIEN, job('25', { seconds: 'x' })],
    ]);
    const priced = file('priced.yaml', ['waiting: { person: 0.25 }', readFileSync(config, 'utf8')]);
    const args = ['backtest', '--trace', troubled, '--config', priced, ...NONE, '--json', ...ONE_THREAD];
    const refused = await run(...args);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain(`${troubled}:9: seconds: `);
    const { code, out, err } = await run(...args, '--skip-bad');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      trace: { jobs: 5, unfit: 2, skipped: 1 },
      settings: { valueOfMinute: 0.25 },
    });
    for (const warning of [
      `${troubled}: warning: left out 1 line with errors; the first: `,
      `warning: 2 of 7 jobs cannot run (2 of "data gpu=a10"): no pool of ${priced} has their organization and tags. The figures do not include them\n`,
      'warning: coderd is down for 300 s from 2 March 2026 08:20:00 UTC on, in the simulation too\n',
    ])
      expect(err).toContain(warning);
  });

  it('is refused without any job that can run', async () => {
    const alien = file('alien.jsonl', [HEADER, ALIEN]);
    expect(await run('backtest', '--trace', alien, '--config', config)).toEqual({
      code: 1,
      out: '',
      err: `running the 1 job of "morning": no pool of ${config} has their organization and tags (1 of "data gpu=a10"). Give the configuration of this trace with --config\n`,
    });
  });
});

describe('invalid input', () => {
  const names = 'small-team, 1k-users, 3k-users, 10k-users, gpu-pools, prebuild-heavy, bursts, agents';

  it.each(table<{ args: string; err: string }>`
    args                       | err
    none                       | error: no trace given. Add --trace FILE (autoscaler trace export writes one), or try --scenario NAME: ${names}
    --scenario 3k-user         | error: there is no scenario "3k-user". Did you mean "3k-users"? The scenarios are ${names}
    GIVEN --scenario 3k-users  | error: --trace and --scenario are both given. Use one of them
    GIVEN --days 2             | error: --days needs --scenario: a trace from a file has its own length
    GIVEN --against static,hpa | error: option '--against <policies>' argument 'static,hpa' is invalid. There is no policy "hpa". Write all, none, or some of static,from-zero,agent-scaler
    GIVEN --value-of-minute -1 | error: option '--value-of-minute <dollars>' argument '-1' is invalid. Write a number of dollars, 0 or more, such as 0.75.
    --workers 0                | error: option '--workers <number>' argument '0' is invalid. Write a whole number from 1 to 64.
    GIVEN --region mars-1      | error: option '--region <name>' argument 'mars-1' is invalid. finding Fargate's prices: the region "mars-1" is unknown; choose the region with the nearest prices from us-east-1,
    GIVEN --out -              | error: --out - : the report is an HTML page. Name a file, or use --json for standard output
  `)('exits with 2 for $args', async ({ args, err }) => {
    const words =
      args === 'none' ? [] : args.split(' ').flatMap((word) => (word === 'GIVEN' ? given : [word]));
    const answer = await run('backtest', ...words);
    expect(answer).toMatchObject({ code: 2, out: '' });
    expect(answer.err.slice(0, err.length)).toBe(err);
  });

  it.each(table<{ args: readonly string[]; err: string }>`
    args                                                              | err
    ${['--trace', path('none.jsonl'), '--config', config]}            | ${path('none.jsonl')}: reading the file: no such file; check the path
    ${['--trace', file('empty.jsonl', [HEADER]), '--config', config]} | ${path('empty.jsonl')}: the trace has no jobs; write one job per line, such as {"at":"2026-03-02T09:00:00Z","organization":"default","tags":{},"seconds":74,"kind":"user"}
    ${['--trace', trace, '--config', path('none.yaml')]}              | ${path('none.yaml')}: reading the configuration: no such file; write one with autoscaler setup --draft, or name another file with --config
    ${[...given, '--out', path('nowhere/report.html')]}               | writing ${path('nowhere/report.html')}: ENOENT: no such file or directory, access '${path('nowhere')}'. Give another file with --out
    ${[...given, '--out', path('.')]}                                 | writing ${path('.')}: it exists and is not a regular file. Give another file with --out
    ${[...given, '--out', trace]}                                     | writing ${trace}: it is the input file. Give another file with --out
    ${[...given, '--out', config]}                                    | writing ${config}: it is the input file. Give another file with --out
    ${[...given, '--out', path('reports/')]}                          | writing ${path('reports/')}: it is a folder. Give another file with --out
    ${[...given, '--out', '']}                                        | writing "": the file name is empty. Give another file with --out
  `)('exits with 1 for $args', async ({ args, err }) => {
    expect(await run('backtest', ...args)).toEqual({ code: 1, out: '', err: `${err}\n` });
  });
});

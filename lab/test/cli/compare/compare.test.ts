import { readFileSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { run } from '../../../../test/support/cli-run.ts';
import { terminalText } from '../../../what-if/cli/compare/terminal-text.ts';
import { aBuild, aFolder, BUILDS, CLEAR, QUICK } from './inputs.ts';

const { path, file, config, trace } = aFolder();
const TRACE = trace('steady.jsonl', BUILDS);
const POLICY = 'arn:aws:iam::aws:policy/AmazonEC2FullAccess';
const GPU = { name: 'gpu', tags: { gpu: 'a10' } };
const before = config('before.yaml', [{ min: 1, warm: 1 }]);
/** Saves a free daemon. People wait for it. */
const frugal = config('frugal.yaml', [{ min: 0, warm: 0 }]);
/** Keeps five tasks, half as large, for one build at a time. */
const generous = config('generous.yaml', [{ min: 5, warm: 1, cpu: 512 }]);
/** Changes only what no replay judges. */
const harmless = config(
  'harmless.yaml',
  [
    {
      ...{ min: 1, warm: 1, image: 'ghcr.io/coder/coder:v2.36.0', key: { secret: 'coder/keys/other' } },
      ...{ environment: { TF_LOG: 'debug' }, secrets: { TF_TOKEN: { secret: 'tf' } }, ephemeralStorage: 50 },
      ...{ readonlyRootFilesystem: true, prometheusPort: 2112, taskRole: { policies: [POLICY] } },
    },
  ],
  {
    coder: { url: 'https://coder.example.org', token: { secret: 'coder/other' } },
    ...{ roll: { atOnce: '50%' }, alertAfter: '9m', aws: { logs: { retentionDays: 90 } } },
  },
);
const GIVEN = ['--trace', TRACE, ...QUICK];
const THRICE = ['--trace', TRACE, ...CLEAR];
const LIMITS = ['--max-cost-increase', '10%', '--max-wait-increase', '20%', '--fail-on', 'unserved'];
const compare = (...args: readonly string[]) => run('compare', ...args);
const firstLine = (text: string): string => text.slice(0, text.indexOf('\n'));

/** The JSON document on standard output, and the Markdown in a file. */
const output = path('out.md');
const slowerJson = await compare(before, frugal, ...THRICE, ...LIMITS, '--json', '--out', output);
const slower = readFileSync(output, 'utf8');
const same = await compare(before, harmless, ...GIVEN, ...LIMITS);

describe('a change that makes people wait', () => {
  it('crosses the limit of waits and exits with 3', () => {
    expect(slowerJson).toMatchObject({ code: 3, err: `wrote ${output}\n` });
    expect(slower).toMatch(/^- `--max-cost-increase 10%` kept: cost of tasks \(\$[\d.]+ → \$/m);
    expect(slower).toMatch(/^- `--max-wait-increase 20%` \*\*crossed\*\*: average wait of people \(/m);
  });

  it('has the verdict on its first line: the limit, the cost and the waits', () => {
    expect(firstLine(slower)).toMatch(
      /^\*\*Limit crossed: average wait of people, p95 wait of people\. This change saves \$[\d.]+ \(\d+%\) in an hour\. People wait longer: on average [\d.]+ s instead of [\d.]+ s, at p95 .* instead of .*\.\*\*$/,
    );
  });

  it('fits a terminal of 80 columns, with every word and without bars', () => {
    const text = terminalText(slower, 80);
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(text).not.toMatch(/^\|/m);
    const words = (from: string): readonly string[] => from.split(/[\s|]+|-{3,}/).toSorted();
    expect(words(text).filter((word) => word !== '')).toEqual(words(slower).filter((word) => word !== ''));
  });

  it('passes without limits, and says so, and is told of a single seed', async () => {
    const { code, out } = await compare(before, frugal, ...GIVEN);
    expect(code).toBe(0);
    expect(firstLine(out)).toMatch(/^\*\*This change saves /);
    expect(out).toContain('No limits are set, so this comparison cannot fail. To set some: `--max-cost-inc');
    expect(out).toContain('so chance is unknown. Add `--seeds 5`.');
    expect(out).not.toContain('±');
  });

  it('lists the changed settings, and the defaults that follow', () => {
    expect(slower).toMatch(/^\| `min` +\| `small` \| `1` +\| `0` +\|$/m);
    expect(slower).toMatch(/^\| `warm` +\| `small` \| `1` +\| `0` +\|$/m);
  });
});

describe('a change that costs more', () => {
  it('exits with 3, and gives no figure of a month from an hour, and doubts a smaller task', async () => {
    const answer = await compare(before, generous, ...GIVEN, '--max-cost-increase', '10%');
    expect(answer.code).toBe(3);
    expect(answer.out).not.toMatch(/, a month|more a month/);
    expect(answer.out).toContain('less than a week. Figures of a month need two days.');
    expect(firstLine(answer.out)).toMatch(/This change costs \$[\d.]+ \(\d+%\) more in an hour\./);
    expect(answer.out).toContain('- The size of tasks changes the cost only');
  });
});

describe('a harmless change', () => {
  it('has no effect and exits with 0', () => {
    expect(same).toMatchObject({ code: 0, err: '' });
    expect(firstLine(same.out)).toBe(
      '**Within the limits. No effect on cost and waits: no setting that a replay judges has changed, so nothing was replayed.**',
    );
  });

  it('lists the settings that no replay judges', () => {
    const [, listed = ''] = same.out.split('#### Not judged');
    expect(listed).toMatch(/`aws\.logs\.retentionDays` \| the deployment \| `30` +\| `90`/);
    expect(listed).toMatch(/`image` .*v2\.30\.0` \| `ghcr\.io\/coder\/coder:v2\.36\.0`/);
  });

  it('is harmless too if both files have the same settings', async () => {
    const copy = file('copy.yaml', readFileSync(before, 'utf8').replaceAll(',', ', '));
    const { code, out } = await compare(before, copy, ...GIVEN, ...LIMITS);
    expect(code).toBe(0);
    expect(out).toContain('The two files have the same settings.');
  });
});

describe('pools that come and go', () => {
  const jobs = [...BUILDS, ...[5, 15].map((minute) => aBuild(minute, { tags: GPU.tags }))];
  const mixed = ['--trace', trace('mixed.jsonl', jobs), ...QUICK];
  const both = config('both.yaml', [{}, GPU]);
  const one = config('one.yaml', [{}]);

  it('crosses the limit if jobs lose their pool, and names their number first', async () => {
    const { code, out } = await compare(both, one, ...mixed, ...LIMITS);
    expect(code).toBe(3);
    expect(firstLine(out)).toMatch(
      /^\*\*Limit crossed: jobs without a pool\. 2 of 11 jobs have no pool any more\./,
    );
    expect(out).toMatch(/^\| `gpu` \(removed\) +\| \$[\d.]+ → \$0\.00 /m);
    expect(out).toMatch(
      /`name` +\| `gpu` +\| `organization default, tags gpu=a10, min auto, max 8` \| `none`/,
    );
    expect(out).toContain('first with `retiring: true`');
  });

  it('counts the jobs that get a pool, and says which pools no job of the trace fits', async () => {
    const more = config('more.yaml', [{}, GPU, { name: 'arm', tags: { arch: 'arm' } }]);
    const { code, out } = await compare(one, more, ...mixed, '--fail-on', 'unserved');
    expect(code).toBe(0);
    expect(out).toMatch(/^\| jobs without a pool +\| 2 +\| 0 +\| -2 +\|$/m);
    expect(out).toContain('- Only the configuration after the change has a pool for 2 jobs.');
    expect(out).toContain(
      '- No job of the trace fits `arm`. The replay says nothing about jobs of this pool.',
    );
  });

  it('takes a retiring pool for one without jobs, and compares a renamed pool with itself', async () => {
    const renamed = config('renamed.yaml', [{ name: 'tiny' }, { ...GPU, retiring: true }]);
    const { code, out } = await compare(both, renamed, ...mixed, ...LIMITS);
    expect(code).toBe(3);
    expect(out).toMatch(/`retiring` +\| `gpu` +\| `false` +\| `true`/);
    expect(out.match(/\*\*crossed\*\*: .* \(/g)).toEqual(['**crossed**: jobs without a pool (']);
    expect(out).toMatch(/^\| `small` → `tiny` \(renamed\) /m);
    expect(out).toMatch(/`name` +\| `tiny` +\| `small` +\| `tiny`/);
  });
});

describe('doubt', () => {
  it('is told of a trace that is shorter than a week and has few jobs', () => {
    expect(slower).toContain('- The trace covers an hour, which is less than a week.');
    expect(slower).toContain('- People wait for only 9 jobs of the trace');
    expect(slower).toContain('- Each figure is the mean of 3 replays.');
    expect(slower.match(/no range for another week/g)).toHaveLength(1);
  });

  it('is told of a trace without people, and of jobs without a pool', async () => {
    const file = trace(
      'prebuilds.jsonl',
      [aBuild(1, { kind: 'prebuild' }), aBuild(2, { tags: { os: '`|<b>' } })],
      { to: '2026-03-02T08:10:00Z' },
    );
    const { out } = await compare(before, frugal, '--trace', file, ...QUICK);
    expect(out).toContain('- The trace has no jobs that people wait for, so all waits are 0.');
    expect(out).toContain('- No pool fits 1 job (50%), before or after.');
  });
});

describe('several traces', () => {
  const busy = trace('busy.jsonl', [aBuild(1), aBuild(12)], { name: 'quiet', to: '2026-03-02T08:20:00Z' });

  it('are judged one by one', async () => {
    const { code, out } = await compare(before, frugal, ...GIVEN, '--trace', busy, ...LIMITS);
    expect(code).toBe(3);
    expect(firstLine(out)).toMatch(/^\*\*Limit crossed: .* \([12] of 2 traces\)\.\*\*$/);
    for (const name of ['steady', 'quiet']) {
      expect(out).toContain(`- \`${name}\`: `);
      expect(out).toContain(`#### Trace \`${name}\``);
    }
  });
});

describe('the documents', () => {
  it('are Markdown in a file and JSON on standard output, also if a limit is crossed', () => {
    const { version, verdict, settings, traces } = JSON.parse(slowerJson.out);
    expect({ version, isCrossed: verdict.isCrossed }).toEqual({ version: 1, isCrossed: true });
    expect(`**${verdict.text}**`).toBe(firstLine(slower));
    const [{ seeds, measures, estimates, checks, from }] = traces;
    expect(Object.keys(estimates.after), 'no cost of a month').toEqual(['meanWaitS', 'p95WaitS']);
    expect({ seeds, from }).toEqual({ seeds: [1, 2, 3], from: '2026-03-02T08:00:00.000Z' });
    const { before: was, after: is, change, clarity } = measures.meanWaitS;
    expect(is - was).toBeCloseTo(change, 9);
    expect(clarity).toBe('clear');
    expect(Object.keys(measures)).not.toContain('dollarsPerMonth');
    expect(checks[0]).toMatchObject({ figure: 'dollars', before: measures.dollars.before });
    expect(checks[1]).toMatchObject({ option: '--max-wait-increase', outcome: 'crossed', before: was });
    expect(settings[0]).toMatchObject({ setting: 'min', pools: ['small'], before: '1', after: '0' });
  });
});

describe('invalid input', () => {
  const link = path('link.yaml');
  symlinkSync(before, link);
  const broken = file('broken.yaml', 'pools: [');
  const usage = /Write a percentage, such as 10%, or /;
  it.each([
    {
      args: [before, before],
      code: 2,
      err: /are the same file\. Name the configuration before the change first/,
    },
    { args: [before, link], code: 2, err: /are the same file/ },
    { args: [before], code: 2, err: /missing required argument 'after'/ },
    {
      args: [before, path('none.yaml')],
      code: 1,
      err: /none\.yaml: reading the configuration after the change: no such file; check the path/,
    },
    {
      args: [broken, before],
      code: 1,
      err: /^the configuration before the change is not valid:\n.*broken\.yaml:/,
    },
    { args: [before, broken], code: 1, err: /^the configuration after the change is not valid:\n/ },
    {
      args: [before, frugal, '--trace', TRACE],
      code: 2,
      err: /--trace .*steady\.jsonl is given twice\. Name each trace once/,
    },
    {
      args: [before, frugal, '--scenario', 'small-team'],
      code: 2,
      err: /--trace and --scenario are both given/,
    },
    { args: [before, frugal, '--max-cost-increase', '20'], code: 2, err: usage },
    { args: [before, frugal, '--max-cost-increase', '5s'], code: 2, err: usage },
    {
      args: [before, frugal, '--max-cost-increase', '$900'],
      code: 2,
      err: /\$900 is an amount of a month, and the trace "steady" covers an hour: figures of a month need two days/,
    },
    { args: [before, frugal, '--max-wait-increase', '$5'], code: 2, err: usage },
    { args: [before, frugal, '--max-wait-increase', '-5%'], code: 2, err: usage },
    { args: [before, frugal, '--seeds', '0'], code: 2, err: /Write a whole number from 1 to 20/ },
    { args: [before, frugal, '--fail-on', 'rain'], code: 2, err: /Allowed choices are unserved/ },
    { args: [before, frugal, '--out', frugal], code: 1, err: /it is the input file/ },
  ])('exits with $code for $args', async ({ args, code, err }) => {
    const answer = await compare(...args, '--trace', TRACE);
    expect(answer).toMatchObject({ code, out: '' });
    expect(answer.err).toMatch(err);
  });

  it('exits with 2 without a trace', async () => {
    const { code, err } = await compare(before, frugal);
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('no trace given') });
  });

  it('exits with 1 if no job of the trace fits a pool', async () => {
    const foreign = trace('foreign.jsonl', [aBuild(1, { tags: { os: 'windows' } })]);
    const { code, err } = await compare(before, frugal, '--trace', foreign);
    expect(code).toBe(1);
    expect(err).toMatch(
      /\("default os=windows"\): no pool of .* has their organization and tags\. Give a trace/,
    );
  });
});

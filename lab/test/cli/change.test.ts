/** `backtest --before`: what a change of the configuration does. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { run } from '../../../test/support/cli-run.ts';
import { table } from '../../../test/support/table.ts';
import { aBuild, aFolder, BUILDS } from './folder.ts';

const { path, file, config, trace } = aFolder();
const GPU = { name: 'gpu', tags: { gpu: 'a10' } };
const STEADY = trace('steady.jsonl', BUILDS);
const warm = config('warm.yaml', [{ min: 1, warm: 1 }]);
const cold = config('cold.yaml', [{ min: 0, warm: 0 }]);
const LIMITS = ['--max-cost-increase', '10%', '--max-wait-increase', '20%', '--fail-on', 'unserved'];
/** One thread: another one would load all modules again, for runs of a second. */
const play = (before: string, after: string, ...more: readonly string[]) =>
  run('backtest', '--before', before, '--config', after, '--workers', '1', ...more);
const compare = (before: string, after: string, ...more: readonly string[]) =>
  play(before, after, '--trace', STEADY, ...more);

it('exits with 3 for a change that makes people wait, with the verdict first, the table and the JSON', async () => {
  const out = path('change.md');
  const answer = await compare(warm, cold, '--seeds', '3', '--out', out, '--json', ...LIMITS);
  expect(answer).toMatchObject({ code: 3, err: `wrote ${out}\n` });
  const markdown = readFileSync(out, 'utf8');
  expect(markdown).toMatch(
    /^\*\*Limit crossed: average wait of people, p95 wait of people\. With the change, cost of tasks in an hour \$[\d.]+ instead of \$[\d.]+ \(-\d+%\), average wait of people .+\.\*\*\n\n/,
  );
  expect(markdown).toMatch(/^\| 9 jobs in an hour \| before \| after \| change \| limit \|\n\| --- \|/m);
  expect(markdown).toMatch(/^\| average wait of people \| .* s ± .* s \| crossed: at most .* s \|$/m);
  const { verdict, traces } = JSON.parse(answer.out);
  expect(markdown).toContain(`**${verdict.text}**`);
  expect(verdict.isCrossed).toBe(true);
  expect(traces[0].figures[1]).toMatchObject({ figure: 'meanWaitS', clarity: 'clear', outcome: 'crossed' });
});

it('says of settings that no replay judges that they have no effect, and replays nothing if none has changed', async () => {
  const image = config('image.yaml', [{ min: 1, warm: 1, image: 'ghcr.io/coder/coder:v2.36.0' }]);
  const { code, out } = await compare(warm, image, '--seeds', '1', ...LIMITS);
  expect(code).toBe(0);
  expect(out).toMatch(/^\*\*Within the limits\. No effect on cost, waits and jobs in this trace\.\*\*\n/);
  expect(out).toContain('chance is unknown. Add --seeds 5.');
  const copy = file('copy.yaml', readFileSync(warm, 'utf8').replaceAll(',', ', '));
  expect(await compare(warm, copy, ...LIMITS)).toEqual({
    ...{ code: 0, err: '' },
    out: '**No effect: both configurations have the same settings.**\n',
  });
});

it('exits with 3 if jobs lose their pool, and counts the jobs that no pool fits', async () => {
  const jobs = [...BUILDS, aBuild(5, { tags: GPU.tags }), aBuild(6, { tags: { os: 'windows' } })];
  const mixed = ['--trace', trace('mixed.jsonl', jobs), '--seeds', '1', ...LIMITS];
  const [one, both] = [config('one.yaml', [{}]), config('both.yaml', [{}, GPU])];
  const lost = await play(both, one, ...mixed);
  expect(lost.code).toBe(3);
  expect(lost.out).toMatch(
    /^\*\*Limit crossed: jobs that lose their pool\. .*lose their pool 1 instead of 0/,
  );
  expect(lost.out).toContain('The figures leave out jobs that no pool fits: 1 before, 2 after.');
  expect((await play(one, both, ...mixed)).out).toContain('no pool fits: 2 before, 1 after.');
});

/** `gpu` builds of people, and ten times as many others, so that all people together wait no longer. */
const MIXED = trace(
  'gpu.jsonl',
  [
    ...Array.from({ length: 20 }, (_, at) => aBuild(at * 4, { tags: GPU.tags })),
    ...Array.from({ length: 200 }, (_, at) => aBuild(at * 0.4)),
  ],
  { to: '2026-03-02T09:30:00Z' },
);

it('exits with 3 if only the builds of one tag set wait longer, and names it', async () => {
  const pools = (gpu: object) => [
    { min: 8, warm: 8, max: 8 },
    { ...GPU, ...gpu },
  ];
  const before = config('gpu-warm.yaml', pools({ min: 2, warm: 1 }));
  const after = config('gpu-cold.yaml', pools({ min: 0, warm: 0, idleTimeout: '10s' }));
  const limits = ['--max-wait-increase', '1000%', '--seeds', '2'];
  const { code, out } = await play(before, after, '--trace', MIXED, ...limits);
  expect(out).toMatch(/^\*\*Limit crossed: .*average wait of `default gpu=a10`/);
  expect(out).toMatch(/^\| average wait of people .* \| kept: /m);
  expect(code).toBe(3);
});

it('holds the limits in each trace, and exits with 3 if one of them crosses a limit', async () => {
  const idle = trace('idle.jsonl', [aBuild(2)], { to: '2026-03-02T09:00:00Z' });
  const more = ['--trace', idle, '--seeds', '3', '--max-cost-increase', '20%', '--json'];
  const { code, out } = await compare(cold, warm, ...more);
  const { verdict, traces } = JSON.parse(out);
  expect({ code, verdict }).toEqual({
    code: 3,
    verdict: { isCrossed: true, text: expect.stringMatching(/^Limit crossed in [12] of 2 traces\.$/) },
  });
  expect(traces.map(({ name, jobs }: { name: string; jobs: number }) => [name, jobs])).toEqual([
    ['steady', 9],
    ['steady', 1],
  ]);
  const markdown = await compare(cold, warm, '--trace', idle, '--seeds', '1');
  expect(markdown.out).toMatch(/^Trace 2 of 2: /m);
  expect(markdown.out.match(/^\| --- /gm)).toHaveLength(2);
});

const none = path('none.yaml');
const alien = trace('alien.jsonl', [aBuild(1, { tags: { os: 'windows' } })]);
const empty = trace('empty.jsonl', []);
const broken = file('broken.yaml', 'pools: [');

it.each(table<{ args: readonly string[]; code: number; err: string }>`
  args                                            | code | err
  ${[none, cold]}                                 | ${1} | none.yaml: reading the configuration before the change: no such file. "git show main:
  ${[broken, cold]}                               | ${1} | broken.yaml:1:
  ${[warm, cold, '--trace', empty]}               | ${1} | the trace has no jobs
  ${[warm, cold, '--trace', alien]}               | ${1} | no pool of ${cold} has their organization and tags
  ${[warm, cold, '--out', warm]}                  | ${1} | it is the input file
  ${[warm, cold, '--max-cost-increase', '20usd']} | ${2} | Write a percentage, such as 10%.
  ${[warm, cold, '--fail-on', 'rain']}            | ${2} | Allowed choices are unserved
  ${[warm, cold, '--trace', none]}                | ${1} | none.yaml: reading the file
  ${[warm, cold, '--trace', STEADY]}              | ${2} | is given twice. Name each trace once
  ${[warm, cold, '--seeds', '0']}                 | ${2} | Write a whole number from 1 to 20
  ${[warm, cold, '--against', 'none']}            | ${2} | cannot be used with option '--against <policies>'
  ${[warm, cold, '--budget', '200']}              | ${2} | cannot be used with option '--budget <dollars>'
`)('exits with $code for $args', async ({ args: [before = '', after = '', ...more], code, err }) => {
  const answer = await compare(before, after, ...more);
  expect(answer).toMatchObject({ code, out: '' });
  expect(answer.err).toContain(err);
});

it('exits with 2 for a second trace without --before', async () => {
  const args = ['--config', warm, '--trace', STEADY, '--trace', empty];
  expect(await run('backtest', ...args)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^error: --trace is given twice: only a comparison/),
  });
});

it('exits with 2 for a limit without --before', async () => {
  const { code, err } = await run('backtest', '--config', warm, '--trace', STEADY, ...LIMITS);
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringMatching(/^error: --max-cost.* need --before FILE\n$/),
  });
});

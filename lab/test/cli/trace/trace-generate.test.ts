import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../../../test/support/cli-run.ts';
import { ownFolder } from '../../../../test/support/own-folder.ts';
import { readTrace } from '../../../what-if/trace/read.ts';

let folder = '';
beforeAll(() => {
  folder = ownFolder();
});

describe('autoscaler trace generate', () => {
  it('writes only the trace to standard output', async () => {
    const { code, out, err } = await run('trace', 'generate', '--scenario', 'small-team', '--days', '2');
    const { trace } = readTrace(out, { name: 'x' });
    expect(code).toBe(0);
    expect(trace).toMatchObject({ name: 'small-team', timezone: 'Europe/Berlin', startSeconds: [30, 70] });
    expect(err).toMatch(
      /^\d+ jobs from 2026-04-05T22:00:00.000Z to 2026-04-07T22:00:00.000Z \(\d+ user, .*\), seed 1; made for lab\/what-if\/scenarios\/small-team\.yaml\n$/,
    );
  });

  it('writes a complete file, and its summary as one JSON document with --json', async () => {
    const file = join(folder, 'team.jsonl');
    const made = ['trace', 'generate', '--scenario', 'small-team', '--days', '1', '--out', file];
    expect(await run(...made)).toMatchObject({ out: '', err: expect.stringContaining(`wrote ${file}: `) });
    const { out } = await run(...made, '--json', '--seed', '2');
    const { trace } = readTrace(readFileSync(file, 'utf8'), { name: file });
    expect(JSON.parse(out)).toMatchObject({ out: file, seed: 2, jobs: trace.jobs.length });
    const checked = JSON.parse((await run('trace', 'check', file, '--json')).out);
    expect(JSON.parse(out)).toMatchObject(checked);
    expect(readdirSync(folder)).toEqual(['team.jsonl']);
  });

  it('refuses --json without --out, because standard output has the trace', async () => {
    const { code, out, err } = await run('trace', 'generate', '--scenario', 'small-team', '--json');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/--json needs --out FILE/);
  });

  const NAMES = 'small-team, 1k-users, 3k-users, 10k-users, gpu-pools, prebuild-heavy, bursts, agents';
  it.each([
    { args: [], says: `error: no scenario given. Add --scenario NAME: ${NAMES}` },
    {
      args: ['--scenario', '3k-user'],
      says: `error: there is no scenario "3k-user". Did you mean "3k-users"? The scenarios are ${NAMES}`,
    },
    {
      args: ['--days', '0'],
      says: "error: option '--days <number>' argument '0' is invalid. Write a whole number from 1 to 366.",
    },
    {
      args: ['--seed', '-1'],
      says: "error: option '--seed <number>' argument '-1' is invalid. it must be a whole number",
    },
  ])('refuses $args', async ({ args, says }) => {
    expect(await run('trace', 'generate', ...args)).toEqual({ code: 2, out: '', err: `${says}\n` });
  });
});

const LINES = [
  '{"trace":1,"name":"Tuesday","timezone":"Europe/Berlin","from":"2026-03-03T00:00:00Z","to":"2026-03-04T00:00:00Z"}',
  '{"at":"2026-03-03T08:00:00Z","organization":"default","tags":{},"seconds":60,"kind":"autostart"}',
  '{"at":"2026-03-03T09:00:00Z","organization":"data","tags":{},"seconds":20,"kind":"import"}',
];

it('check counts the jobs of a trace, or fails with its errors, which it skips and counts with --skip-bad', async () => {
  const file = join(folder, 'tuesday.jsonl');
  writeFileSync(file, LINES.join('\n'));
  const summary =
    '2 jobs from 2026-03-03T00:00:00.000Z to 2026-03-04T00:00:00.000Z (1 autostart, 1 import)\n';
  expect(await run('trace', 'check', file)).toEqual({ code: 0, out: summary, err: '' });
  writeFileSync(file, [...LINES, 'x'].join('\n'));
  const says = `${file}:4: expected one JSON object per line, got "x"\n`;
  const refused = await run('trace', 'check', file);
  expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining(says) });
  expect(await run('trace', 'check', '--skip-bad', file)).toEqual({
    ...{ code: 0, out: summary },
    err: `${file}: warning: left out 1 line with errors; the first: ${says}`,
  });
});

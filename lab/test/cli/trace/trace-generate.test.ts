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

  it('generates the same trace for the same seed', async () => {
    const generate = async (...more: readonly string[]) =>
      (await run('trace', 'generate', '--scenario', 'gpu-pools', '--days', '1', ...more)).out;
    const first = await generate();
    expect(await generate('--seed', '1')).toBe(first);
    expect(await generate('--seed', '2')).not.toBe(first);
  });

  it('writes a complete file and prints its name', async () => {
    const file = join(folder, 'team.jsonl');
    const { out, err } = await run('trace', 'generate', '--scenario', 'small-team', '--out', file);
    expect(out).toBe('');
    expect(err).toContain(`wrote ${file}: `);
    expect(readTrace(readFileSync(file, 'utf8'), { name: file }).trace.name).toBe('small-team');
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('prints one JSON document with --json', async () => {
    const file = join(folder, 'team-json.jsonl');
    const made = await run(
      ...['trace', 'generate', '--scenario', 'small-team', '--days', '1', '--out', file, '--json'],
    );
    const { trace } = readTrace(readFileSync(file, 'utf8'), { name: file });
    expect(JSON.parse(made.out)).toMatchObject({ out: file, seed: 1, jobs: trace.jobs.length });
    const checked = JSON.parse((await run('trace', 'check', file, '--json')).out);
    expect(JSON.parse(made.out)).toMatchObject(checked);
  });

  it('refuses --json without --out, because standard output has the trace', async () => {
    const { code, out, err } = await run('trace', 'generate', '--scenario', 'small-team', '--json');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/--json needs --out FILE/);
  });

  it('says that a trace in UTF-16 is not UTF-8', async () => {
    const file = join(folder, 'utf16.jsonl');
    writeFileSync(file, Buffer.from('\ufeff{"trace":"x"}\n', 'utf16le'));
    const { code, err } = await run('trace', 'check', file);
    expect({ code, err }).toEqual({
      code: 1,
      err: `${file}: reading the file: it is not UTF-8; save it as UTF-8\n`,
    });
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
  '{"trace":1,"name":"Tuesday","timezone":"Europe/Berlin","from":"2026-03-03T00:00:00Z","to":"2026-03-04T00:00:00Z","startSeconds":[30,70],"outages":[{"at":"2026-03-03T10:00:00Z","seconds":600}]}',
  '{"at":"2026-03-03T08:00:00Z","organization":"default","tags":{},"seconds":60,"kind":"autostart"}',
  '{"at":"2026-03-03T08:00:30Z","organization":"default","tags":{"scope":"organization","owner":""},"seconds":80,"kind":"user"}',
  '{"at":"2026-03-03T08:59:00Z","organization":"default","tags":{"size":"large","gpu":"a10"},"seconds":400.25,"kind":"user"}',
  '{"at":"2026-03-03T09:00:00Z","organization":"data","tags":{},"seconds":20,"kind":"import"}',
];

describe('autoscaler trace check', () => {
  const write = (name: string, lines: readonly string[]): string => {
    const file = join(folder, name);
    writeFileSync(file, lines.join('\n'));
    return file;
  };

  it('summarizes a trace', async () => {
    const { code, out, err } = await run('trace', 'check', write('good.jsonl', LINES));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(
      '4 jobs from 2026-03-03T00:00:00.000Z to 2026-03-04T00:00:00.000Z (2 user, 1 autostart, 1 import)\n',
    );
  });

  it('reports an error in a trace and fails', async () => {
    const file = write('bad.jsonl', [...LINES, '{"at":"9:00"}', 'x']);
    const { code, out, err } = await run('trace', 'check', file);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.split('\n').at(0)).toBe(
      `${file}:6: at: expected a time with a time zone, such as 2026-03-02T09:00:00Z, got "9:00"`,
    );
    expect(err).toContain(`${file}:7: expected one JSON object per line, got "x"\n`);
  });

  it('skips invalid lines with --skip-bad and warns', async () => {
    const file = write('bad.jsonl', [...LINES, 'x']);
    const { code, out, err } = await run('trace', 'check', '--skip-bad', file);
    expect(code).toBe(0);
    expect(out).toMatch(/^4 jobs /);
    expect(err).toBe(
      `${file}: warning: left out 1 line with errors; the first: ${file}:6: expected one JSON object per line, got "x"\n`,
    );
  });
});

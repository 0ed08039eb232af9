import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../../../test/support/cli-run.ts';
import { expectDocument } from '../../../../test/support/json-document.ts';
import { ownFolder } from '../../../../test/support/own-folder.ts';
import { readTrace } from '../../../what-if/trace/read.ts';

let folder = '';
beforeAll(() => {
  folder = ownFolder();
});

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const CSV = [
  'created_at,duration,queue',
  '2026-03-02 09:00:00+00,30,small',
  '2026-03-02 09:05:00+00,90,large',
  '2026-03-02 09:10:00+00,900,gpu',
].join('\n');
const importing = (file: string, ...more: readonly string[]) => run('trace', 'import', file, ...more);

describe('autoscaler trace import', () => {
  it('writes only the trace to standard output, the same each time', async () => {
    const file = written('ci.csv', CSV);
    const { code, out, err } = await importing(file);
    expect({ code, err }).toEqual({
      code: 0,
      err: '3 jobs from 2026-03-02T09:00:00.000Z to 2026-03-02T09:11:00.000Z, median 90 s\n',
    });
    const { trace } = readTrace(out, { name: 'x' });
    expect(trace).toMatchObject({ name: 'ci', timezone: 'UTC', outages: [], startSeconds: undefined });
    expect(trace.jobs.map(({ seconds, kind, tags }) => [seconds, kind, tags])).toEqual([
      [30, 'user', {}],
      [90, 'user', {}],
      [900, 'user', {}],
    ]);
    expect((await importing(file)).out).toBe(out);
  });

  it('passes all options on', async () => {
    const file = written('named.csv', CSV.replace('created_at', 'came').replace('duration', 'took'));
    const out = join(folder, 'named.jsonl');
    const { code, err } = await importing(
      ...[file, '--columns', 'submitted=came,duration=took', '--group', 'queue'],
      ...['--tags', 'small:size=small,arch=arm', '--tags', 'large:', '--median', '60s', '--name', 'ours'],
      ...['--from', '2026-03-02T09:00:00Z', '--to', '2026-03-03T09:00:00Z', '--timezone', 'Europe/Berlin'],
      ...['--organization', 'data', '--out', out],
    );
    expect({ code, err }).toEqual({
      code: 0,
      err: `${file}: warning: left out: 1 of groups that --tags does not name\nwrote ${out}: 2 jobs from 2026-03-02T09:00:00.000Z to 2026-03-03T09:00:00.000Z, median 60 s\n`,
    });
    const { trace } = readTrace(readFileSync(out, 'utf8'), { name: 'x' });
    expect(trace).toMatchObject({ name: 'ours', timezone: 'Europe/Berlin' });
    expect(trace.jobs.map(({ organization, seconds, tags }) => [organization, seconds, tags])).toEqual([
      ['data', 60, { size: 'small', arch: 'arm' }],
      ['data', 180, {}],
    ]);
  });

  it('prints a summary with --json', async () => {
    const file = written('bad.csv', `${CSV}\nnine,1,x`);
    const out = join(folder, 'bad.jsonl');
    const { code, out: text } = await importing(...[file, '--skip-bad', '--out', out, '--json']);
    expectDocument('trace import', text);
    expect({ code, summary: JSON.parse(text) }).toEqual({
      code: 0,
      summary: {
        ...{ version: 1, out, name: 'bad', from: '2026-03-02T09:00:00.000Z' },
        ...{ to: '2026-03-02T09:11:00.000Z', jobs: 3, medianSeconds: 90, skipped: 1 },
      },
    });
  });

  it('refuses bad lines, and says where they are and what to do', async () => {
    const file = written('wrong.csv', `${CSV}\nnine,1,x`);
    expect(await importing(file)).toEqual({
      ...{ code: 1, out: '' },
      err: `${file}:5: created_at: expected a time, such as 2026-03-02T09:00:00Z, got "nine"\n${file}: 1 line with errors, 3 valid; correct the errors, or use --skip-bad to leave those lines out\n`,
    });
  });

  it.each([
    { options: ['--format', 'swf'], says: "unknown option '--format'" },
    { options: ['--columns', 'when=at'], says: 'such as submitted=created_at' },
    { options: ['--columns', 'submitted'], says: 'such as submitted=created_at' },
    { options: ['--median', '60'], says: 'such as 60s or 5m' },
    { options: ['--median', '0s'], says: 'such as 60s or 5m' },
    { options: ['--group', 'queue', '--tags', 'a'], says: 'such as gpu:size=large' },
    { options: ['--group', 'queue', '--tags', 'a:b'], says: 'such as gpu:size=large' },
    { options: ['--tags', 'a:b=c'], says: '--tags needs --group FIELD' },
    { options: ['--timezone', 'Berlin'], says: 'did you mean "Europe/Berlin"?' },
    { options: ['--json'], says: '--json needs --out FILE' },
    {
      options: ['--from', '2026-03-02T09:00:00Z', '--to', '2026-03-02T09:00:00Z'],
      says: 'is not before --to',
    },
  ])('refuses $options', async ({ options, says }) => {
    const { code, out, err } = await importing(written('ci.csv', CSV), ...options);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(says);
  });

  it('does not write over the log', async () => {
    const file = written('own.csv', CSV);
    const { code, err } = await importing(file, '--out', file);
    expect(code).toBe(1);
    expect(err).toContain('it is the input file');
    expect(readFileSync(file, 'utf8')).toBe(CSV);
  });
});

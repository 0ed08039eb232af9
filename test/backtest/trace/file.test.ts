import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { readTraceFile } from '../../../backtest/trace/file.ts';

const LINE = '{"at":"2026-03-02T09:00:00Z","organization":"default","tags":{},"seconds":74,"kind":"user"}\n';
const folder = mkdtempSync(join(tmpdir(), 'autoscaler-trace-'));

it('reads a file of several chunks that cut characters in two', () => {
  const file = join(folder, 'long.jsonl');
  const named = LINE.replace('default', 'Zoë 組織');
  writeFileSync(file, named.repeat(30_000));
  const { trace } = readTraceFile(file);
  expect(trace.jobs.length).toBe(30_000);
  expect(new Set(trace.jobs.map(({ organization }) => organization))).toEqual(new Set(['Zoë 組織']));
});

it('refuses a compressed file', () => {
  const file = join(folder, 'week.gz');
  writeFileSync(file, gzipSync(LINE));
  expect(() => readTraceFile(file)).toThrow(`${file}: reading the file: it is compressed; run gunzip first`);
});

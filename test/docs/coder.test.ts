/**
 * Checks docs/internals/coder.md: each fact has a standing, each cited step is in the recordings,
 * and sections that the page itself cites exist. citations.test.ts checks the citations of all
 * other files.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Transcript } from '../../cli/doctor/answers/recordings.ts';
import { factRowsOf } from './fact-rows.ts';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('docs/internals/coder.md', root), 'utf8');
const rows = factRowsOf(text);
const sections = new Set([...text.matchAll(/^## (\d+)\. /gm)].map(([, number]) => number));

const recorded = new URL('cli/doctor/answers/recorded/', root);
const steps = readdirSync(recorded).map((file) => {
  const { entries } = JSON.parse(readFileSync(new URL(file, recorded), 'utf8')) as Transcript;
  return new Set(entries.map(({ step }) => step));
});

const VERIFIED = /^\*\*verified\*\*(?: 2\.\d+\.\d+[^:]*)?: (?<proofs>.+)$/;
const STEP = /step `(?<step>[^`]+)`/g;
const BY_HAND = /by hand(?:, \d{1,2} [A-Z][a-z]+ \d{4})?$/;
const READ = /^\*\*source\*\*(?: (?:2\.\d+\.\d+|main)[^:]*)?: `[^`]+`(?:, `[^`]+`)*$/;
const SEEN = /^\*\*seen\*\*: 2\.\d+\.\d+ with Premium$/;
const ASSUMED = /^\*\*assumed\*\*: .+$/;

describe('a fact about Coder', () => {
  it('occurs once and has a standing', () => {
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter(({ standing }) => !standing)).toEqual([]);
    expect(rows.length).toBe(new Set(rows.map(({ fact }) => fact)).size);
  });

  it('is verified, seen, read in source or assumed, and names its evidence', () => {
    const marked = [VERIFIED, SEEN, READ, ASSUMED];
    expect(rows.filter(({ standing }) => !marked.some((mark) => mark.test(standing)))).toEqual([]);
  });

  it('names only steps or a day if it is verified', () => {
    const proofs = rows.flatMap(({ standing }) => VERIFIED.exec(standing)?.groups?.proofs ?? []);
    const odd = proofs.filter((proof) => {
      const rest = proof.replaceAll(STEP, '').replace(BY_HAND, '').replaceAll(/[ ,]/g, '');
      return rest !== '' || !(proof.includes('step `') || BY_HAND.test(proof));
    });
    expect(odd).toEqual([]);
  });

  it('names only steps that every recording has', () => {
    const named = [...text.matchAll(STEP)].map(({ groups }) => groups?.step ?? '');
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((step) => !steps.every((recording) => recording.has(step)))).toEqual([]);
  });
});

it('names an existing section where docs/internals/coder.md cites itself', () => {
  const own = [...text.matchAll(/§(\d+)/g)].map(([, number]) => number);
  expect(own.filter((number) => !sections.has(number))).toEqual([]);
});

/**
 * Checks docs/internals/aws.md: each fact has a mark with its evidence, the tests and SDK types that it
 * names exist, and the page counts the assumed facts.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { factRowsOf } from './fact-rows.ts';

const root = new URL('../../', import.meta.url);
const docs = new URL('docs/internals/', root);
const text = readFileSync(new URL('aws.md', docs), 'utf8');
const rows = factRowsOf(text);

/** A day or a year. Without one a page was read on the day that the top of aws.md names. */
const DATE = String.raw`(?:\d{1,2} [A-Z][a-z]+ )?\d{4}`;
const DOCUMENTATION = new RegExp(String.raw`^\*\*documentation\*\*(?: read ${DATE})?: .+$`);
const ISSUE = new RegExp(String.raw`^\*\*issue\*\*(?: read ${DATE})?: [\w.-]+/[\w.-]+#\d+`);
const ASSUMED = new RegExp(String.raw`^\*\*assumed\*\*(?: ${DATE})?: .+$`);
/** A program with its version, commit or date, and the test, types or files that have the fact. */
const SCHEMA = new RegExp(String.raw`^\*\*schema\*\* [\w@/.-]+ (?:${DATE}|[\da-f.]+): (?:\[|\`)`);
const TESTED = /^\*\*schema\*\* .+?: \[(?<name>[^\]]+)\]\((?<path>[^)]+\.test\.ts)\)$/;
/** A package of the SDK, and the types whose documentation has the fact. */
const TYPES = /^\*\*schema\*\* (?<client>client-[a-z-]+) [\d.]+: (?<names>`\w+`(?:, `\w+`)*)/;

/** The named groups of each mark that matches the pattern. */
function groupsOf(pattern: RegExp): readonly Readonly<Record<string, string>>[] {
  return rows.flatMap(({ standing }) => {
    const groups = pattern.exec(standing)?.groups;
    return groups === undefined ? [] : [groups];
  });
}

/** The text of all declarations of an SDK package. */
function declarationsOf(client: string): string {
  const folder = new URL(`node_modules/@aws-sdk/${client}/dist-types/`, root);
  const files = ['models/', 'commands/'].flatMap((name) =>
    readdirSync(new URL(name, folder)).map((file) => new URL(`${name}${file}`, folder)),
  );
  return files.map((file) => (file.href.endsWith('.ts') ? readFileSync(file, 'utf8') : '')).join('\n');
}

describe('a fact about AWS', () => {
  it('occurs once and has a mark', () => {
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter(({ standing }) => !standing)).toEqual([]);
    expect(rows.map(({ fact }) => fact)).toEqual([...new Set(rows.map(({ fact }) => fact))]);
  });

  it('is documented, read in an issue or a schema, or assumed, and names its evidence', () => {
    const marks = [DOCUMENTATION, ISSUE, SCHEMA, ASSUMED];
    expect(rows.filter(({ standing }) => !marks.some((mark) => mark.test(standing)))).toEqual([]);
  });

  it('is counted at the top of the page if it is assumed', () => {
    const assumed = rows.filter(({ standing }) => ASSUMED.test(standing)).length;
    expect(text).toContain(`\n${assumed} rows are assumed.\n`);
  });

  it('names an existing test if it has one', () => {
    const proofs = groupsOf(TESTED);
    expect(proofs.length).toBeGreaterThan(3);
    const hasTest = (file: URL, name: string): boolean =>
      existsSync(file) && readFileSync(file, 'utf8').includes(name);
    expect(proofs.filter(({ path = '', name = '' }) => !hasTest(new URL(path, docs), name))).toEqual([]);
  });

  it('names existing types if it cites the SDK', () => {
    const named = groupsOf(TYPES);
    expect(named.length).toBeGreaterThan(20);
    const declared = new Map(
      [...new Set(named.map(({ client = '' }) => client))].map((client) => [client, declarationsOf(client)]),
    );
    const isDeclared = (client: string, name: string): boolean =>
      new RegExp(`export (?:interface|declare class|declare const) ${name}\\b`).test(
        declared.get(client) ?? '',
      );
    const missing = named.flatMap(({ client = '', names = '' }) =>
      [...names.matchAll(/\w+/g)].map(([name]) => name).filter((name) => !isDeclared(client, name)),
    );
    expect(missing).toEqual([]);
  });
});

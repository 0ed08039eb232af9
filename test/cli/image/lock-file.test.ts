/** What counts as a lock file. */
import { expect, it } from 'vitest';
import { LockFileError, parseLockFile } from '../../../cli/image/lock-file.ts';
import { table } from '../../support/table.ts';
import { h1, lockText, zh } from './fixtures.ts';

const parse = (text: string) => parseLockFile(new TextEncoder().encode(text));
const ADDRESS = 'registry.example.com/acme/big';
const block = (body: string, address = ADDRESS): string => `provider "${address}" {\n${body}\n}\n`;
const VERSION = 'version = "1.2.3"';

it('reads what terraform init writes', () => {
  const locks = [
    { address: ADDRESS, version: '5.31.0', hashes: [h1('A'), zh('1'), zh('2')] },
    { address: 'registry.example.com/acme/small-2', version: '2.0.0-beta.1', hashes: [zh('3')] },
  ];
  expect(parse(lockText(...locks))).toEqual(locks);
});

it.each([
  { scenario: 'an empty file', text: '', expected: [] },
  { scenario: 'comments only', text: '# a\n// b\n/* c\n d */\n', expected: [] },
  { scenario: 'a byte order mark', text: `\ufeff${block(VERSION)}`, expected: ['1.2.3'] },
  { scenario: 'build metadata', text: block('version = "1.2.3+build"'), expected: ['1.2.3+build'] },
  { scenario: 'Windows line ends', text: block(VERSION).replaceAll('\n', '\r\n'), expected: ['1.2.3'] },
  { scenario: 'no newline at the end', text: block(VERSION).trimEnd(), expected: ['1.2.3'] },
  { scenario: 'a comment behind a value', text: block(`${VERSION} # pinned`), expected: ['1.2.3'] },
  { scenario: 'a brace in a comment', text: block(`# }\n${VERSION}`), expected: ['1.2.3'] },
  { scenario: 'an escape', text: block('version = "1\\u002e2.3"'), expected: ['1.2.3'] },
  {
    scenario: 'a list in one line',
    text: block(`${VERSION}\nhashes = ["${zh('1')}", "${zh('2')}"]`),
    expected: ['1.2.3'],
  },
  {
    scenario: 'a block for modules, which Terraform ignores',
    text: `module "x" {\n  a = "}"\n  b {\n  }\n}\n${block(VERSION)}`,
    expected: ['1.2.3'],
  },
])('accepts $scenario', ({ text, expected }) => {
  expect(parse(text).map(({ version }) => version)).toEqual(expected);
});

it.each(table<{ scenario: string; text: string; says: string }>`
  scenario                            | text                                                              | says
  another block                       | ${'resource "a" {\n}\n'}                                          | line 1: unknown block "resource"
  another attribute                   | ${block(`${VERSION}\nsha = "x"`)}                                 | line 3: unknown attribute "sha"
  no version                          | ${block('constraints = "1"')}                                     | provider "${ADDRESS}" has no version
  a number                            | ${block('version = 1')}                                           | line 2: unexpected "1"
  a version twice                     | ${block(`${VERSION}\n${VERSION}`)}                                | line 3: "version" is given twice
  a provider twice                    | ${block(VERSION) + block(VERSION)}                                | has two blocks
  a template                          | ${block('version = "$' + '{var.x}"')}                             | line 2: a string has a template
  a variable                          | ${block('version = local.x')}                                     | line 2: unexpected ".x"
  an unknown escape                   | ${block('version = "\\x"')}                                       | ${'line 2: unknown escape \\x'}
  a string without an end             | ${block('version = "1.2.3')}                                      | line 2: unexpected
  a comment without an end            | ${'/* x'}                                                         | line 1: unexpected "/* x"
  a block without an end              | ${`provider "${ADDRESS}" {\n${VERSION}\n`}                        | found the end of the file
  a module without an end             | ${'module "x" {\n'}                                               | found the end of the file
  two attributes in a line            | ${block(`${VERSION} ${VERSION}`)}                                 | expected a newline
  two blocks in a line                | ${block(VERSION).trimEnd() + block(VERSION)}                      | expected a newline
  a list without commas               | ${block(`${VERSION}\nhashes = ["${zh('1')}" "${zh('2')}"]`)}      | expected ]
  a short address                     | ${block(VERSION, 'acme/big')}                                     | not an address
  a path in an address                | ${block(VERSION, '../acme/big')}                                  | not an address
  dots in a host                      | ${block(VERSION, 'a..b/acme/big')}                                | not an address
  a newline in an address             | ${block(VERSION, 'a.b/acme/big\\nRUN x')}                         | not an address
  a path as version                   | ${block('version = "../1"')}                                      | has the version "../1"
  a constraint as version             | ${block('version = ">= 1.0.0"')}                                  | has the version ">= 1.0.0"
  a short checksum                    | ${block(`${VERSION}\nhashes = ["zh:12"]`)}                        | malformed checksum "zh:12"
  lines in a checksum of another kind | ${block(`${VERSION}\nhashes = ["h2:x zh:0\\n# every template"]`)} | malformed checksum
`)('refuses $scenario', ({ text, says }) => {
  expect(() => parse(text)).toThrow(LockFileError);
  expect(() => parse(text)).toThrow(says);
});

it('keeps a checksum of a kind that a newer Terraform may write', () => {
  expect(parse(block(`${VERSION}\nhashes = ["h2:new"]`))[0]?.hashes).toEqual(['h2:new']);
});

it.each(['__proto__', 'constructor', 'toString'])('takes %s for the kind of a checksum only', (kind) => {
  expect(parse(block(`${VERSION}\nhashes = ["${kind}:x"]`))[0]?.hashes).toEqual([`${kind}:x`]);
});

it('refuses a file that is not UTF-8, and one of more than a million bytes', () => {
  expect(() => parseLockFile(Uint8Array.of(0x23, 0xff))).toThrow('it is not UTF-8');
  expect(() => parse(`#${'x'.repeat(1_000_000)}`)).toThrow('at most 1000000 are read');
});

it('reads a file with thousands of lines in linear time', () => {
  const many = Array.from({ length: 500 }, (_, index) => ({
    address: `registry.example.com/acme/p${index}`,
    version: '1.0.0',
    hashes: Array.from({ length: 10 }, () => zh('a')),
  }));
  expect(parse(lockText(...many))).toHaveLength(500);
});

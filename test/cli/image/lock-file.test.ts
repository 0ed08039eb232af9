/** What counts as a lock file. */
import { expect, it } from 'vitest';
import { LockFileError } from '../../../cli/image/lock/lock-file-error.ts';
import { parseLockFile } from '../../../cli/image/lock/parse.ts';
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

it.each([
  { scenario: 'another block', text: 'resource "a" {\n}\n', says: 'line 1: unknown block "resource"' },
  {
    scenario: 'another attribute',
    text: block(`${VERSION}\nsha = "x"`),
    says: 'line 3: unknown attribute "sha"',
  },
  { scenario: 'no version', text: block('constraints = "1"'), says: `provider "${ADDRESS}" has no version` },
  { scenario: 'a number', text: block('version = 1'), says: 'line 2: unexpected "1"' },
  {
    scenario: 'a version twice',
    text: block(`${VERSION}\n${VERSION}`),
    says: 'line 3: "version" is given twice',
  },
  { scenario: 'a provider twice', text: block(VERSION) + block(VERSION), says: 'has two blocks' },
  {
    scenario: 'a template',
    text: block('version = "$' + '{var.x}"'),
    says: 'line 2: a string has a template',
  },
  { scenario: 'a variable', text: block('version = local.x'), says: 'line 2: unexpected ".x"' },
  { scenario: 'an unknown escape', text: block('version = "\\x"'), says: 'line 2: unknown escape \\x' },
  { scenario: 'a string without an end', text: block('version = "1.2.3'), says: 'line 2: unexpected' },
  { scenario: 'a comment without an end', text: '/* x', says: 'line 1: unexpected "/* x"' },
  {
    scenario: 'a block without an end',
    text: `provider "${ADDRESS}" {\n${VERSION}\n`,
    says: 'found the end of the file',
  },
  { scenario: 'a module without an end', text: 'module "x" {\n', says: 'found the end of the file' },
  { scenario: 'two attributes in a line', text: block(`${VERSION} ${VERSION}`), says: 'expected a newline' },
  {
    scenario: 'two blocks in a line',
    text: block(VERSION).trimEnd() + block(VERSION),
    says: 'expected a newline',
  },
  {
    scenario: 'a list without commas',
    text: block(`${VERSION}\nhashes = ["${zh('1')}" "${zh('2')}"]`),
    says: 'expected ]',
  },
  { scenario: 'a short address', text: block(VERSION, 'acme/big'), says: 'not an address' },
  { scenario: 'a path in an address', text: block(VERSION, '../acme/big'), says: 'not an address' },
  { scenario: 'dots in a host', text: block(VERSION, 'a..b/acme/big'), says: 'not an address' },
  {
    scenario: 'a newline in an address',
    text: block(VERSION, 'a.b/acme/big\\nRUN x'),
    says: 'not an address',
  },
  { scenario: 'a path as version', text: block('version = "../1"'), says: 'has the version "../1"' },
  {
    scenario: 'a constraint as version',
    text: block('version = ">= 1.0.0"'),
    says: 'has the version ">= 1.0.0"',
  },
  {
    scenario: 'a short checksum',
    text: block(`${VERSION}\nhashes = ["zh:12"]`),
    says: 'malformed checksum "zh:12"',
  },
  {
    scenario: 'lines in a checksum of another kind',
    text: block(`${VERSION}\nhashes = ["h2:x zh:0\\n# every template"]`),
    says: 'malformed checksum',
  },
])('refuses $scenario', ({ text, says }) => {
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

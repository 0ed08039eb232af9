/** The files of an image: the archive of its layers, lock files and the script that builds it. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zipSync } from 'fflate';
import { beforeEach, describe, expect, it } from 'vitest';
import { buildScript } from '../../../cli/image/image-files.ts';
import { LockFileError, parseLockFile } from '../../../cli/image/lock-file.ts';
import { lockFileInArchive } from '../../../cli/image/template-files.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { table } from '../../support/table.ts';
import { type Entry, h1, LOCK_FILE, lockText, MAIN, tarOf, zh } from './fixtures.ts';

const lock = (name = LOCK_FILE, text = 'the lock'): Entry => ({ name, text });

async function find(...entries: readonly Entry[]) {
  const found = await lockFileInArchive(await tarOf(...entries));
  return found.kind === 'file' ? new TextDecoder().decode(found.bytes) : found;
}

it.each([LOCK_FILE, `./${LOCK_FILE}`, `.//${LOCK_FILE}`, `a/../${LOCK_FILE}`])('finds %s', async (name) => {
  expect(await find(MAIN, lock(name), { name: 'x/', type: 'directory' })).toBe('the lock');
});

it.each([
  { scenario: 'there is none', entries: [MAIN] },
  { scenario: 'only a module has one', entries: [MAIN, lock(`modules/a/${LOCK_FILE}`)] },
])('finds none if $scenario', async ({ entries }) => {
  expect(await find(...entries)).toEqual({ kind: 'none' });
});

it('refuses two files with the name', async () => {
  const why = `the archive has ${LOCK_FILE} twice`;
  expect(await find(lock(LOCK_FILE, 'first'), MAIN, lock(`./${LOCK_FILE}`))).toEqual({
    kind: 'refused',
    why,
  });
});

it.each(['/etc/passwd', '../x', 'a/../../x', '..', `../${LOCK_FILE}`, `/${LOCK_FILE}`])(
  'refuses an archive with the path %s, as coder does',
  async (name) => {
    const found = await find(lock(), { name, text: 'x' });
    expect(found).toEqual({ kind: 'refused', why: expect.stringContaining('so coder refuses it') });
  },
);

it('takes the name of a pax header', async () => {
  expect(await find({ name: 'x', text: 'the lock', pax: { path: LOCK_FILE } })).toBe('the lock');
});

describe('an archive is refused', () => {
  it.each(table<{ readonly scenario: string; readonly entry: Entry; readonly says: string }>`
    scenario                  | entry                                                            | says
    a symbolic link           | ${{ name: LOCK_FILE, type: 'symlink', linkname: '/etc/passwd' }} | is a symlink in the archive
    a hard link               | ${{ name: LOCK_FILE, type: 'link', linkname: 'main.tf' }}        | is a link in the archive
    a folder                  | ${{ name: LOCK_FILE, type: 'directory' }}                        | is a directory
    larger than any lock file | ${lock(LOCK_FILE, 'x'.repeat(1_000_001))}                        | has 1000001 bytes
  `)('if its lock file is $scenario', async ({ entry, says }) => {
    expect(await find(MAIN, entry)).toEqual({ kind: 'refused', why: expect.stringContaining(says) });
  });

  const whole = tarOf(MAIN, lock(LOCK_FILE, 'x'.repeat(5_000)));
  it.each([
    { scenario: 'it is empty', bytes: async () => new Uint8Array(), says: 'an empty file' },
    { scenario: 'it is compressed', bytes: async () => gzipSync(await whole), says: 'a gzip file' },
    { scenario: 'it is a zip', bytes: async () => zipSync({ a: new Uint8Array() }), says: 'a zip file' },
    { scenario: 'it ends too early', bytes: async () => (await whole).slice(0, 2_500), says: 'broken' },
    { scenario: 'it is noise', bytes: async () => new Uint8Array(2_048).fill(0x41), says: 'broken' },
    { scenario: 'a header lies about a size', bytes: async () => lying(await whole), says: 'broken' },
  ])('if $scenario', async ({ bytes, says }) => {
    const found = await lockFileInArchive(await bytes());
    expect(found).toEqual({ kind: 'refused', why: expect.stringContaining(says) });
  });
});

/** The first file claims 8 GB, with a correct checksum of the header. */
function lying(archive: Uint8Array): Uint8Array {
  const copy = Buffer.from(archive);
  copy.write('77777777777\0', 124, 'latin1');
  copy.fill(' ', 148, 156);
  const total = copy.subarray(0, 512).reduce((sum, byte) => sum + byte, 0);
  copy.write(`${total.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return copy;
}

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

let folder = '';
beforeEach(() => {
  folder = ownFolder();
  for (const name of ['bin', 'project/image', 'elsewhere/image'])
    mkdirSync(join(folder, name), { recursive: true });
  const script = buildScript({ platform: 'linux_arm64', repository: 'coder/coder', tag: 'v2-warm-1' });
  writeFileSync(join(folder, 'project/image/build.sh'), script);
  stub('docker', 'if [ "$1" = login ]; then read -r password; echo "stdin: $password" >>"$CALLS"; fi');
  stub('aws', AWS);
});

const URI = '123456789012.dkr.ecr.eu-central-1.amazonaws.com/coder/coder';
/** ECR has the repository, and only the image that PRESENT names. */
const AWS = `case "$2" in
  describe-repositories) echo ${URI} ;;
  describe-images) [ "\${PRESENT:-}" = "$6" ] ;;
  get-login-password) echo hunter2 ;;
esac`;

/** Its calls are written down with one argument on each line. */
function stub(name: string, body: string): void {
  const text = `#!/bin/sh\n{ echo "[${name} in $(pwd)]"; printf '%s\\n' "$@"; } >>"$CALLS"\n${body}\n`;
  writeFileSync(join(folder, 'bin', name), text, { mode: 0o755 });
}

function build(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const calls = join(folder, 'calls');
  const out = execFileSync('sh', ['image/build.sh', ...args], {
    cwd: join(folder, 'project'),
    env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, CALLS: calls, ...env },
    encoding: 'utf8',
  });
  return { out, calls: readFileSync(calls, 'utf8').replaceAll(folder, '') };
}

it('builds and pushes the image, and gives the password to docker through a pipe only', () => {
  const { out, calls } = build({});
  expect(out).toBe(`Set this image in autoscaler.yaml, and deploy:\n  image: ${URI}:v2-warm-1\n`);
  const command = `buildx build --platform linux/arm64 --progress plain --tag ${URI}:v2-warm-1 --push .`;
  expect(calls).toContain(`[docker in /project/image]\n${command.replaceAll(' ', '\n')}\n`);
  expect(calls.match(/.*hunter2/g)).toEqual(['stdin: hunter2']);
});

it('gives its arguments to docker, such as the image that has Terraform', () => {
  writeFileSync(join(folder, 'project/rc'), '');
  const { calls } = build({ TERRAFORM_RC: 'rc' }, '--build-arg', 'TERRAFORM_IMAGE=example.com/a b');
  expect(calls).toContain(
    '\n--push\n--build-arg\nTERRAFORM_IMAGE=example.com/a b\n--secret\nid=terraformrc,src=/project/rc\n.\n',
  );
});

it('builds nothing if ECR has the image', () => {
  const { out, calls } = build({ PRESENT: 'imageTag=v2-warm-1' });
  expect(out).toBe(`image: ${URI}:v2-warm-1 is in ECR already\n`);
  expect(calls).not.toContain('docker');
});

it('builds the folder that it is in, whatever CDPATH is', () => {
  const { calls } = build({ CDPATH: join(folder, 'elsewhere') });
  expect(calls).toContain('[docker in /project/image]');
});

it('finds the CLI configuration for private registries from the folder of the person who runs it', () => {
  writeFileSync(join(folder, 'project/my terraformrc'), '');
  const { calls } = build({ TERRAFORM_RC: 'my terraformrc', REPOSITORY: "it's $(mine)" });
  expect(calls).toContain('\n--secret\nid=terraformrc,src=/project/my terraformrc\n.\n');
  expect(calls).toContain("\n--repository-names\nit's $(mine)\n");
});

/** `autoscaler image --dir`: hostile templates, and what is in the way of the folder to write. */
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ImageResult } from '../../../cli/image/make-image.ts';
import { h1, LOCK_FILE, lockText, zh } from './fixtures.ts';
import { imageLabs } from './image-lab.ts';

const { folder, start } = imageLabs();

const BIG = {
  address: 'registry.example.com/acme/big',
  version: '5.31.0',
  hashes: [h1('A'), zh('1'), zh('2')],
};
const read = (out: string, path: string): string => readFileSync(join(out, path), 'utf8');

function writeTemplate(name: string, lock?: string): string {
  const path = join(folder(), 'templates', name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'main.tf'), '');
  if (lock !== undefined) writeFileSync(join(path, LOCK_FILE), lock);
  return path;
}

it('reads a folder of templates without coderd', async () => {
  const { lab, run } = await start();
  writeTemplate('docker', lockText(BIG));
  writeTemplate('scratch');
  symlinkSync('/etc/passwd', join(writeTemplate('linked'), LOCK_FILE));
  mkdirSync(join(writeTemplate('odd'), LOCK_FILE));
  mkdirSync(join(folder(), 'templates/.git'));
  symlinkSync(folder(), join(folder(), 'templates/loop'));
  lab.world.secrets.put(lab.world.tokenSecretName, 'revoked-token');
  const { code, out } = await run('--dir', join(folder(), 'templates'), '--json');
  const { templates, firstBuilds } = JSON.parse(out) as ImageResult;
  expect(code).toBe(1);
  expect(firstBuilds).toEqual({ kind: 'none', why: 'with --dir the command reads nothing from coderd' });
  expect(templates).toMatchObject({ locked: ['docker'], withoutLockFile: ['scratch'], ofOtherPools: [] });
  expect(templates.unreadable.map(({ template }) => template)).toEqual(['linked', 'odd']);
});

it('reads the folder of one template, and refuses one without any', async () => {
  const { run } = await start();
  const one = writeTemplate("it's\none", lockText(BIG));
  const answer = await run('--dir', one, '--json');
  expect((JSON.parse(answer.out) as ImageResult).templates.locked).toEqual(["it's\none"]);
  mkdirSync(join(folder(), 'empty'));
  const refused = await run('--dir', join(folder(), 'empty'), '--out', join(folder(), 'other'));
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('has .tf files') });
});

it('writes no text of a folder name into the Dockerfile that could be an instruction', async () => {
  const { out, run } = await start();
  writeTemplate('x\nRUN rm -rf /', lockText(BIG));
  expect((await run('--dir', join(folder(), 'templates'))).code).toBe(0);
  expect(
    read(out, 'Dockerfile')
      .split('\n')
      .filter((line) => line.startsWith('RUN rm')),
  ).toEqual([]);
});

it('prints no control character of a template, and no line that a template made up', async () => {
  const { run } = await start();
  writeTemplate('\u001b[2Jx\nNext:\n  sh evil');
  writeTemplate('title', 'provider "\\u001b]0;x\\u0007\\nNext:\\n  sh evil" {\n}\n');
  writeTemplate('escape', 'provider "a" { version = "\\\u009b31m" }\n');
  writeTemplate('name', 'provider "\u009b31m\u202e" {\n version = "1.0.0"\n}\n');
  const answer = await run('--dir', join(folder(), 'templates'));
  expect(answer.code).toBe(1);
  expect(answer.out + answer.err).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
  expect(answer.out).toContain('\\u001b[2Jx Next: sh evil');
  expect(answer.out).not.toMatch(/^ *(?:Next:|sh evil)/m);
});

it.each([
  { scenario: 'a link to nothing', make: (out: string) => symlinkSync('/nowhere/at/all', out) },
  { scenario: 'a link to a folder', make: (out: string) => symlinkSync(folder(), out) },
  { scenario: 'a file', make: (out: string) => writeFileSync(out, 'mine') },
])('leaves $scenario as it is where it should write', async ({ make }) => {
  const { out, run } = await start();
  const template = writeTemplate('docker', lockText(BIG));
  make(out);
  const { ino, ctimeMs } = lstatSync(out);
  expect(await run('--dir', template)).toMatchObject({ code: 1, out: '' });
  expect(lstatSync(out)).toMatchObject({ ino, ctimeMs });
});

it('writes into a new folder in a new folder, and removes nothing if a file is in the way', async () => {
  const { run } = await start();
  const template = writeTemplate('docker', lockText(BIG));
  const file = join(folder(), 'file');
  writeFileSync(file, 'mine');
  expect(await run('--dir', template, '--out', join(file, 'x'))).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^writing file\/x: E(?:EXIST|NOTDIR).*Name another folder with --out\n$/),
  });
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect((await run('--dir', template, '--out', join(folder(), 'a/b'))).code).toBe(0);
});

it('says that it could not read the lock files if that is why it packs nothing', async () => {
  const { run } = await start();
  const template = writeTemplate('wrong', 'provider "x"');
  const { out } = await run('--dir', template);
  expect(out).toMatch(/^Nothing was written: no lock file could be read that names a provider\. See below/);
});

it.each([
  { image: `example.com:5000/a@sha256:${'a'.repeat(64)}`, tag: /^warm-[0-9a-f]{8}$/ },
  { image: `example.com/a:v2.30.0@sha256:${'a'.repeat(64)}`, tag: /^v2\.30\.0-warm-[0-9a-f]{8}$/ },
])('makes the tag for $image from its tag, not from its digest', async ({ image, tag }) => {
  const { run } = await start();
  const { out } = await run('--dir', writeTemplate('docker', lockText(BIG)), '--image', image, '--json');
  expect((JSON.parse(out) as ImageResult).tag).toMatch(tag);
});

it('does not start from an image of its own that is named with a digest either', async () => {
  const warm = `example.com/coder:v2.30.0-warm-0a1b2c3d@sha256:${'a'.repeat(64)}`;
  const { run } = await start();
  const answer = await run('--dir', writeTemplate('docker', lockText(BIG)), '--image', warm);
  expect(answer).toMatchObject({ code: 1, err: expect.stringContaining('would keep its old providers') });
});

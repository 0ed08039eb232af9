/** `autoscaler image`: what it reads, writes and prints. */

import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ProviderLock } from '../../../cli/image/lock-file.ts';
import type { ImageResult } from '../../../cli/image/make-image.ts';
import type { World } from '../../../simulator/world.ts';
import { expectDocument } from '../../support/json-document.ts';
import { h1, LOCK_FILE, lockText, MAIN, tarOf, zh } from './fixtures.ts';
import { CPU, GPU, imageLabs } from './image-lab.ts';

const { folder, start } = imageLabs();

const BIG = {
  address: 'registry.example.com/acme/big',
  version: '5.31.0',
  hashes: [h1('A'), zh('1'), zh('2')],
};
const OLD = { ...BIG, version: '5.30.0', hashes: [h1('B'), h1('C'), zh('3')] };
const SMALL = { address: 'registry.example.com/acme/small', version: '2.0.0', hashes: [h1('D'), zh('4')] };
const ON_MAC = { ...BIG, hashes: [h1('E'), zh('1'), zh('2')] };

type Locks = readonly ProviderLock[];
const archive = (...locks: Locks) => tarOf(MAIN, { name: LOCK_FILE, text: lockText(...locks) });
const withoutLock = () => tarOf(MAIN, { name: `modules/vpc/${LOCK_FILE}`, text: lockText(BIG) });

async function addTemplates({ coderd }: World): Promise<void> {
  const organization = 'default';
  coderd.addTemplate({ organization, name: 'docker', archive: await archive(BIG, SMALL) });
  coderd.addTemplate({ organization, name: 'kubernetes', archive: await archive(ON_MAC) });
  coderd.addTemplate({ organization, name: 'legacy', archive: await archive(OLD), deprecated: 'old' });
  coderd.addTemplate({ organization, name: 'scratch', archive: await withoutLock() });
  coderd.addTemplate({
    organization,
    name: 'train',
    tags: { cluster: 'gpu' },
    archive: await archive(SMALL),
  });
}

const filesOf = (out: string): readonly string[] =>
  readdirSync(out, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\/|\./.test(name) && !/^layers\/\d\d(?:\/\d+)?$/.test(name))
    .concat('Dockerfile')
    .sort();
const read = (out: string, path: string): string => readFileSync(join(out, path), 'utf8');

it('writes the files of an image and says what to do with them', async () => {
  const { lab, out, run } = await start();
  await addTemplates(lab.world);
  const answer = await run();
  expect(answer).toMatchObject({ code: 0, err: '' });
  await expect(answer.out).toMatchFileSnapshot('golden/screen.txt');
  for (const path of ['Dockerfile', 'terraform.rc', 'build.sh', 'layers/01/1/main.tf', 'layers/01/1/package'])
    await expect(read(out, path)).toMatchFileSnapshot(`golden/${path}`);
  for (const lock of ['lock-1', 'lock-2'])
    await expect(read(out, `layers/01/1/${lock}`)).toMatchFileSnapshot(`golden/layers/01/1/${lock}`);
  expect(filesOf(out)).toEqual([
    'Dockerfile',
    'build.sh',
    'fetch.sh',
    ...['lock-1', 'lock-2', 'main.tf', 'package'].map((name) => `layers/01/1/${name}`),
    ...['lock-1', 'main.tf', 'package'].map((name) => `layers/02/1/${name}`),
    ...['lock-1', 'main.tf', 'package'].map((name) => `layers/03/1/${name}`),
    'terraform.rc',
  ]);
});

it('packs all versions of a provider, the most used first', async () => {
  const { lab, run } = await start();
  await addTemplates(lab.world);
  const { out } = await run('--json');
  expectDocument('image', out);
  const result = JSON.parse(out) as ImageResult;
  expect(result.packages).toEqual([
    { address: BIG.address, version: '5.31.0', templates: ['docker', 'kubernetes'] },
    { address: BIG.address, version: '5.30.0', templates: ['legacy'] },
    { address: SMALL.address, version: '2.0.0', templates: ['docker'] },
  ]);
  expect(result.templates).toEqual({
    locked: ['docker', 'kubernetes', 'legacy'],
    withoutLockFile: ['scratch'],
    unreadable: [],
    ofOtherPools: ['train'],
    ofOnePlatform: ['docker', 'kubernetes'],
  });
});

it.each([
  { architecture: 'arm64', platform: 'linux_arm64', docker: 'linux/arm64' },
  { architecture: 'x86_64', platform: 'linux_amd64', docker: 'linux/amd64' },
])('packs for the architecture $architecture of the pool', async ({ architecture, platform, docker }) => {
  const { lab, out, run } = await start({ settings: { cpu: { architecture } } });
  await addTemplates(lab.world);
  expect((await run()).code).toBe(0);
  expect(read(out, 'Dockerfile')).toContain(`sh /fetch/fetch.sh ${platform} packed\n`);
  expect(read(out, 'build.sh')).toContain(`--platform ${docker} `);
});

it('names another tag if a package or the image to start from changes, and else the same', async () => {
  const { lab, out, run } = await start();
  await addTemplates(lab.world);
  const tag = async (...args: readonly string[]): Promise<string> => {
    const result = JSON.parse((await run('--json', '--out', `${out}-${Math.random()}`, ...args)).out);
    return (result as ImageResult).tag;
  };
  const first = await tag();
  expect(first).toMatch(/^v2\.30\.0-warm-[0-9a-f]{8}$/);
  expect(await tag()).toBe(first);
  const others = [await tag('--template', 'docker'), await tag('--image', 'ghcr.io/coder/coder:v2.34.8')];
  expect(new Set([first, ...others]).size).toBe(3);
});

it('uses the token of the shell, and never prints or writes a token', async () => {
  const { lab, out, run, runAs } = await start();
  await addTemplates(lab.world);
  const { secrets, tokenSecretName } = lab.world;
  const token = secrets.find(tokenSecretName)?.value ?? '';
  secrets.put(tokenSecretName, 'revoked-token');
  expect(await run()).toMatchObject({ code: 1, err: expect.stringContaining('401') });
  const answer = await runAs({ CODER_SESSION_TOKEN: token });
  expect(answer.code).toBe(0);
  const written = filesOf(out).map((path) => read(out, path));
  expect([answer.out, answer.err, ...written].join('\n')).not.toContain(token);
});

it('says how to do without the secret if it cannot be read', async () => {
  const { lab, run } = await start();
  lab.world.secrets.deny(lab.world.tokenSecretName);
  const { code, err } = await run();
  expect(code).toBe(1);
  expect(err).toContain(
    '. Or set CODER_SESSION_TOKEN to your own token, or read a folder of templates with --dir',
  );
});

it('says which right is missing if coderd hides the files', async () => {
  const { lab, run, runAs } = await start();
  await addTemplates(lab.world);
  expect((await run()).code).toBe(0);
  const token = lab.world.coderd.addToken({ canRead: [], canReadWorkspaces: 'all' });
  const answer = await runAs({ CODER_SESSION_TOKEN: token }, '--out', join(folder(), 'other'));
  expect(answer.code).toBe(1);
  expect(answer.out).toContain('could not read docker: reading its files: coderd answered 404');
  expect(answer.out).toContain('template:update');
  expect(answer.out).toContain('Nothing was written');
  expect(existsSync(join(folder(), 'other'))).toBe(false);
});

it('refuses to read no templates at all where coderd hides them', async () => {
  const { lab, runAs } = await start();
  const token = lab.world.coderd.addToken({ canRead: [] });
  const answer = await runAs({ CODER_SESSION_TOKEN: token });
  expect(answer).toMatchObject({ code: 1, out: '' });
  expect(answer.err).toContain(
    `listing templates of "default": coderd does not let the token's user read them`,
  );
});

it('packs what it can read, and exits with 1 for what it cannot', async () => {
  const { lab, out, run } = await start();
  const { coderd } = lab.world;
  coderd.addTemplate({ organization: 'default', name: 'good', archive: await archive(SMALL) });
  coderd.addTemplate({ organization: 'default', name: 'noise', archive: new Uint8Array(2_048).fill(65) });
  const broken = await tarOf(MAIN, { name: LOCK_FILE, text: 'provider "x"' });
  coderd.addTemplate({ organization: 'default', name: 'wrong', archive: broken });
  const answer = await run();
  expect(answer.code).toBe(1);
  expect(answer.out).toContain('could not read noise: the archive of the template is broken');
  expect(answer.out).toContain(`could not read wrong: ${LOCK_FILE}: line 1: expected {`);
  expect(filesOf(out)).toContain('layers/01/1/main.tf');
});

it('never overwrites a folder', async () => {
  const { lab, out, run } = await start();
  await addTemplates(lab.world);
  mkdirSync(out);
  const answer = await run();
  expect(answer).toMatchObject({ code: 1, out: '' });
  expect(answer.err).toBe(
    'writing image: it exists, and this command never overwrites a folder. Name another one with --out, or move it away\n',
  );
  expect(readdirSync(out)).toEqual([]);
});

it('writes nothing if there is no provider to pack', async () => {
  const { lab, out, run } = await start();
  lab.world.coderd.addTemplate({ organization: 'default', name: 'scratch', archive: await withoutLock() });
  const answer = await run();
  expect(answer.code).toBe(1);
  expect(answer.out).toContain('Nothing was written: no template has a lock file that names a provider');
  expect(answer.out).toContain('no lock file, so each build looks for the newest versions: scratch');
  expect(existsSync(out)).toBe(false);
});

it('needs --pool for pools with different architectures, and reads the templates of the named one', async () => {
  const { lab, run } = await start({ pools: [CPU, GPU], settings: { gpu: { architecture: 'x86_64' } } });
  await addTemplates(lab.world);
  const refused = await run();
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('  - cpu: ghcr.io/coder/coder:v2.30.0, arm64\n  - gpu: ');
  const { out } = await run('--pool', 'gpu', '--json');
  const result = JSON.parse(out) as ImageResult;
  expect(result).toMatchObject({ platform: 'linux_amd64', pools: ['gpu'] });
  expect(result.templates.locked).toEqual(['train']);
});

it('does not start from an image that it has made itself', async () => {
  const warm = '123456789012.dkr.ecr.eu-central-1.amazonaws.com/coder/coder:v2.30.0-warm-0a1b2c3d';
  const { lab, out, run } = await start({ settings: { cpu: { image: warm } } });
  await addTemplates(lab.world);
  const refused = await run();
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('would keep its old providers') });
  expect((await run('--image', 'ghcr.io/coder/coder:v2.34.8')).code).toBe(0);
  expect(read(out, 'Dockerfile')).toContain('ARG BASE_IMAGE=ghcr.io/coder/coder:v2.34.8\n');
});

it.each([
  { args: ['--pool', 'x'], says: 'no pool "x" in the configuration; its pools are cpu' },
  {
    args: ['--template', 'x'],
    says: 'no template "x"; the templates are docker, kubernetes, legacy, scratch',
  },
  {
    args: ['--template', 'docker', 'train'],
    says: 'template "train": its jobs have other tags than the pools cpu, so these cannot run them',
  },
  { args: ['--dir', ''], says: '--dir needs the name of a folder' },
])('refuses $args', async ({ args, says }) => {
  const { lab, out, run } = await start();
  await addTemplates(lab.world);
  expect(await run(...args)).toEqual({ code: 2, out: '', err: `error: ${says}\n` });
  expect(existsSync(out)).toBe(false);
});

it('refuses an image name that would change the Dockerfile', async () => {
  const { lab, run } = await start();
  await addTemplates(lab.world);
  expect(await run('--image', 'a\nRUN x')).toMatchObject({
    code: 1,
    err: expect.stringContaining('is not the name'),
  });
});

it('says which pools hide the providers with a setting of their own', async () => {
  const { lab, run } = await start({ settings: { cpu: { environment: { TF_CLI_CONFIG_FILE: '/x' } } } });
  await addTemplates(lab.world);
  expect((await run()).out).toContain('! cpu: the setting environment has TF_CLI_CONFIG_FILE');
});

it('asks no registry for packed providers with --sealed', async () => {
  const { lab, out, run } = await start();
  await addTemplates(lab.world);
  await run('--sealed', '--template', 'docker');
  await expect(read(out, 'terraform.rc')).toMatchFileSnapshot('golden/sealed.rc');
});

it('lets packages beyond 59 share a layer, because an image has a limited number', async () => {
  const { lab, out, run } = await start();
  const many = Array.from({ length: 70 }, (_, index) => ({ ...SMALL, version: `1.0.${index}` }));
  for (const [index, lock] of many.entries())
    lab.world.coderd.addTemplate({
      organization: 'default',
      name: `t${index}`,
      archive: await archive(lock),
    });
  expect((await run()).code).toBe(0);
  expect(readdirSync(join(out, 'layers'))).toHaveLength(60);
  expect(readdirSync(join(out, 'layers/60'))).toHaveLength(11);
});

it('says how long image pulls take, and estimates what could shorten them', async () => {
  const { lab, run } = await start({ pools: [{ ...CPU, min: 3 }, GPU] });
  await addTemplates(lab.world);
  await lab.run(300);
  const { out } = await run('--cluster', lab.world.ecs.clusterName);
  const advice = out.slice(out.indexOf('Image pulls'));
  await expect(advice).toMatchFileSnapshot('golden/pulls.txt');
});

it('gives no advice without samples, and none if ECS does not answer', async () => {
  const { lab, out, run } = await start();
  await addTemplates(lab.world);
  const cluster = lab.world.ecs.clusterName;
  expect((await run('--cluster', cluster)).out).toContain('No advice on image pulls: ECS lists no task');
  const gone = await run('--cluster', 'nothing', '--out', `${out}-2`);
  expect(gone).toMatchObject({ code: 0, out: expect.stringContaining('ClusterNotFound') });
});

/**
 * Builds warm images from a registry on loopback and runs a model of "terraform init" in them. The
 * registry counts what is downloaded.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { ProviderLock } from '../../../cli/image/lock-file.ts';
import { runIn } from '../../support/cli-run.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { h1, LOCK_FILE, lockText, zh } from './fixtures.ts';
import { type Built, buildImage, HAS_TOOLS } from './terraform/build-image.ts';
import { type InitRequest, sourcesOf, terraformInit } from './terraform/init.ts';
import { contentHashOfZip, providerZip, zipHash } from './terraform/packages.ts';
import { type Registry, startRegistry } from './terraform/registry.ts';

const LINUX = 'linux_arm64';
const MAC = 'darwin_arm64';
const BIG = 'registry.example.com/acme/big';
const SMALL = 'registry.example.com/acme/small';

const PACKAGES = Object.fromEntries(
  ['big/5.31.0', 'big/5.30.0', 'small/2.0.0'].flatMap((name) =>
    [LINUX, MAC].map((platform) => {
      const [type = '', version = ''] = name.split('/');
      const zip = providerZip(type, version, `${name} for ${platform}`);
      return [`acme/${name}/${platform}`, zip] as const;
    }),
  ),
);
const zipOf = (address: string, version: string, platform: string): Uint8Array =>
  PACKAGES[`${address.replace('registry.example.com/', '')}/${version}/${platform}`] ?? new Uint8Array();

/** What "terraform init" on that platform, or "terraform providers lock", writes. */
function lock(address: string, version: string, ...platforms: readonly string[]): ProviderLock {
  const zips = [LINUX, MAC].map((platform) => zipHash(zipOf(address, version, platform)));
  const contents = platforms.map((platform) => contentHashOfZip(zipOf(address, version, platform)));
  return { address, version, hashes: [...contents, ...zips] };
}

let registry: Registry;
let folder = '';
beforeAll(async () => {
  registry = await startRegistry(PACKAGES);
});
afterAll(() => registry.close());
beforeEach(() => {
  folder = ownFolder();
  registry.forget();
});

type Templates = Readonly<Record<string, readonly ProviderLock[]>>;

/** Runs `autoscaler image` on these templates and builds the image. */
async function build(templates: Templates, ...options: readonly string[]): Promise<Built> {
  const out = await writeImage(templates, ...options);
  mkdirSync(join(folder, 'image'));
  return buildImage(out, join(folder, 'image'), registry.url);
}

/** The folder that the command writes. */
async function writeImage(templates: Templates, ...options: readonly string[]): Promise<string> {
  for (const [name, locks] of Object.entries(templates)) {
    mkdirSync(join(folder, 'templates', name), { recursive: true });
    writeFileSync(join(folder, 'templates', name, 'main.tf'), '');
    writeFileSync(join(folder, 'templates', name, LOCK_FILE), lockText(...locks));
  }
  const config = join(folder, 'autoscaler.yaml');
  const pool = { name: 'cpu', organization: 'default', key: { secret: 'coder/keys/cpu' }, max: 5 };
  const coder = { url: 'https://coder.example.com', token: { secret: 'coder/token' } };
  writeFileSync(config, stringify({ coder, limits: { maxTasks: 5 }, pools: [pool] }));
  const out = join(folder, 'out');
  const args = ['--config', config, '--dir', join(folder, 'templates'), '--out', out, ...options];
  expect(await runIn({}, 'image', ...args)).toMatchObject({ code: 0, err: '' });
  return out;
}

/** A task of this image, which has one plugin cache for all its builds. */
function taskOf({
  root,
  environment,
}: Built): (locks: readonly ProviderLock[]) => Promise<readonly string[]> {
  const text = readFileSync(join(root, environment.TF_CLI_CONFIG_FILE ?? ''), 'utf8');
  const cache = mkdtempSync(join(folder, 'cache-'));
  const sources = sourcesOf(text, { root, registry: registry.url });
  const request: InitRequest = { sources, cache, platform: LINUX };
  return async (locks) => (await terraformInit(locks, request)).map(({ from }) => from);
}

const GOOD = [lock(BIG, '5.31.0', LINUX, MAC), lock(SMALL, '2.0.0', LINUX)];
const ON_MAC = [lock(BIG, '5.31.0', MAC)];

it.runIf(HAS_TOOLS)(
  'downloads nothing in a task: the first build unpacks the providers, later ones find them',
  async () => {
    const init = taskOf(await build({ docker: GOOD, old: [lock(BIG, '5.30.0', LINUX)] }));
    expect(registry.downloads()).toHaveLength(3);
    registry.forget();
    expect(await init(GOOD)).toEqual(['mirror', 'mirror']);
    expect(await init(GOOD)).toEqual(['cache', 'cache']);
    expect(await init([lock(BIG, '5.30.0', LINUX)])).toEqual(['mirror']);
    expect(registry.downloads()).toEqual([]);
  },
);

it.runIf(HAS_TOOLS)('still asks the registry which versions exist, unless the image is sealed', async () => {
  const init = taskOf(await build({ docker: GOOD }));
  registry.forget();
  await init(GOOD);
  expect(registry.lists()).toBe(2);
});

it.runIf(HAS_TOOLS)('asks the registry nothing if the image is sealed', async () => {
  const init = taskOf(await build({ docker: GOOD }, '--sealed'));
  registry.forget();
  expect(await init(GOOD)).toEqual(['mirror', 'mirror']);
  expect([registry.lists(), registry.downloads()]).toEqual([0, []]);
  await expect(init([lock(BIG, '5.30.0', LINUX)])).rejects.toThrow('5.30.0 is no longer available');
});

it.runIf(HAS_TOOLS)('downloads a version that the image lacks', async () => {
  const init = taskOf(await build({ docker: GOOD }));
  registry.forget();
  expect(await init([lock(BIG, '5.30.0', LINUX)])).toEqual(['registry']);
  expect(registry.downloads()).toEqual([`acme/big/5.30.0/${LINUX}`]);
});

it.runIf(HAS_TOOLS)(
  'downloads nothing for a lock file of a Mac either, but unpacks at each build and says so',
  async () => {
    const built = await build({ docker: GOOD, mac: ON_MAC });
    const init = taskOf(built);
    registry.forget();
    expect([await init(ON_MAC), await init(ON_MAC)]).toEqual([['mirror'], ['mirror']]);
    expect(registry.downloads()).toEqual([]);
    expect(built.log.match(/^note: .*/gm)).toEqual([
      `note: ${BIG} 5.31.0: the lock file of mac has no h1 checksum of ${LINUX}. Each build unpacks the package again. Run in the template's folder, and push the template:`,
    ]);
  },
);

it.runIf(HAS_TOOLS)('makes layers that hold nothing but the packages, readable for all', async () => {
  const { root, log } = await build({ docker: GOOD });
  const mirror = join(root, 'opt/terraform-providers/mirror');
  const files = readdirSync(mirror, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.\w+$/.test(name),
  );
  expect(files.filter((name) => !name.endsWith('.com')).sort()).toEqual([
    `registry.example.com/acme/big/terraform-provider-big_5.31.0_${LINUX}.zip`,
    `registry.example.com/acme/small/terraform-provider-small_2.0.0_${LINUX}.zip`,
  ]);
  expect(log).toBe('');
});

it.runIf(HAS_TOOLS)(
  'lets the user of the image read its files if they were written with a umask of 077',
  async () => {
    const out = await writeImage({ docker: GOOD });
    for (const path of readdirSync(out, { recursive: true, encoding: 'utf8' }))
      if (statSync(join(out, path)).isFile()) chmodSync(join(out, path), 0o600);
    mkdirSync(join(folder, 'image'));
    const { root, environment } = await buildImage(out, join(folder, 'image'), registry.url);
    const { mode } = statSync(join(root, environment.TF_CLI_CONFIG_FILE ?? ''));
    expect(mode & 0o444).toBe(0o444);
  },
);

describe.runIf(HAS_TOOLS)('an image with --unpacked', () => {
  it('has folders, to which Terraform makes a link', async () => {
    const init = taskOf(await build({ docker: GOOD }, '--unpacked'));
    registry.forget();
    expect([await init(GOOD), await init(GOOD)]).toEqual([
      ['mirror', 'mirror'],
      ['cache', 'cache'],
    ]);
    expect(registry.downloads()).toEqual([]);
    await expect(init(ON_MAC)).rejects.toThrow("the local package doesn't match");
  });

  it('is not built for a lock file that Terraform would refuse then', async () => {
    await expect(build({ docker: GOOD, mac: ON_MAC }, '--unpacked')).rejects.toThrow(
      `the lock file of mac has no h1 checksum of ${LINUX}, so Terraform would refuse the unpacked package`,
    );
  });

  it('compares the zip file if the lock file has no content checksum', async () => {
    const bare = { ...lock(SMALL, '2.0.0'), hashes: [zh('0')] };
    await expect(build({ docker: [bare] }, '--unpacked')).rejects.toThrow('is not the one in the lock file');
  });
});

describe.runIf(HAS_TOOLS)('the build of an image fails', () => {
  it.each([
    {
      scenario: 'if the registry has another package under the version',
      hashes: [h1('A'), zh('1'), zh('2')],
      says: 'is not the one in the lock file of docker. Its registry may have another package',
    },
    {
      scenario: 'if the lock file has content checksums of other platforms only',
      hashes: [contentHashOfZip(zipOf(SMALL, '2.0.0', MAC))],
      says: 'so its builds fail with or without this image',
    },
  ])('$scenario', async ({ hashes, says }) => {
    await expect(build({ docker: [{ ...lock(SMALL, '2.0.0'), hashes }] })).rejects.toThrow(says);
  });

  it('if the registry has no package for the platform', async () => {
    const other = { address: SMALL, version: '3.0.0', hashes: [zh('1')] };
    await expect(build({ docker: [other] })).rejects.toThrow('no registry.example.com/acme/small 3.0.0');
  });
});

it.runIf(HAS_TOOLS)('accepts a lock file without checksums, as Terraform does, and says so', async () => {
  const bare = { ...lock(SMALL, '2.0.0'), hashes: [] };
  const { log } = await build({ docker: [bare] });
  expect(log).toContain('the lock file of docker has no checksums, so nothing is compared');
});

it.runIf(HAS_TOOLS)('accepts a package by its content alone', async () => {
  const mirrored = { ...lock(SMALL, '2.0.0'), hashes: [contentHashOfZip(zipOf(SMALL, '2.0.0', LINUX))] };
  const init = taskOf(await build({ docker: [mirrored] }));
  registry.forget();
  expect(await init([mirrored])).toEqual(['mirror']);
  expect(registry.downloads()).toEqual([]);
});

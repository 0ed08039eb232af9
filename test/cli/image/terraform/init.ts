/**
 * A model of how "terraform init" installs the providers of a lock file (internal/providercache and
 * internal/getproviders of Terraform 1.11 to 1.15). In a provisioner of coder it runs with a plugin
 * cache (docs/internals/coder.md §6).
 *
 * 1. It asks every source for the versions of a provider, registries too.
 * 2. A package in the cache is used if its content has a checksum of the lock file.
 * 3. Else the first source with the version installs it into the cache. A zip file has to match any
 *    checksum; a folder has to match a content checksum if the lock file has any.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import type { ProviderLock } from '../../../../cli/image/lock-file.ts';
import { contentHash, contentHashOfZip, zipHash } from './packages.ts';

export type Sources = {
  readonly mirror: string;
  /** Only these come from the mirror. @default all */
  readonly include: readonly string[] | undefined;
  /** These do not come from a registry. */
  readonly exclude: readonly string[];
  readonly registry: string;
};

export type InitRequest = {
  readonly sources: Sources;
  readonly cache: string;
  readonly platform: string;
};

export type Installed = { readonly address: string; readonly from: 'cache' | 'mirror' | 'registry' };

/** Reads the CLI configuration that the image has. */
export function sourcesOf(text: string, { root, registry }: { root: string; registry: string }): Sources {
  const [, path = ''] = /path\s*= "([^"]+)"/.exec(text) ?? [];
  const listOf = (name: string): readonly string[] | undefined => {
    const [, list] = new RegExp(`${name} = \\[([^\\]]*)\\]`).exec(text) ?? [];
    return list === undefined ? undefined : [...list.matchAll(/"([^"]+)"/g)].map(([, item = '']) => item);
  };
  return { mirror: join(root, path), include: listOf('include'), exclude: listOf('exclude') ?? [], registry };
}

/** Throws what Terraform reports. */
export async function terraformInit(
  locks: readonly ProviderLock[],
  request: InitRequest,
): Promise<readonly Installed[]> {
  const installed: Installed[] = [];
  for (const lock of locks) installed.push({ address: lock.address, from: await install(lock, request) });
  return installed;
}

async function install(lock: ProviderLock, request: InitRequest): Promise<Installed['from']> {
  const { sources, cache, platform } = request;
  const inMirror = mirrored(lock, sources, platform);
  const offered = [...inMirror.versions, ...(await registryVersions(lock, sources))];
  if (!offered.includes(lock.version))
    throw new Error(`${lock.address} ${lock.version} is no longer available`);
  const cached = join(cache, lock.address, lock.version, platform);
  if (existsSync(cached) && lock.hashes.includes(contentHash(filesIn(cached)))) return 'cache';
  mkdirSync(join(cached, '..'), { recursive: true });
  if (inMirror.folder !== undefined) {
    checkFolder(lock, inMirror.folder);
    if (!existsSync(cached)) symlinkSync(inMirror.folder, cached);
    return 'mirror';
  }
  const zip = inMirror.zip === undefined ? await download(lock, request) : readFileSync(inMirror.zip);
  checkZip(lock, zip);
  mkdirSync(cached, { recursive: true });
  for (const [name, bytes] of Object.entries(unzipSync(zip))) writeFileSync(join(cached, name), bytes);
  return inMirror.zip === undefined ? 'registry' : 'mirror';
}

function mirrored({ address, version }: ProviderLock, { mirror, include }: Sources, platform: string) {
  const folder = join(mirror, address);
  if (!existsSync(folder) || include?.includes(address) === false) return { versions: [] };
  const pattern = /^terraform-provider-[^_]+_(.+)_[^_]+_[^_]+\.zip$/;
  const names = readdirSync(folder);
  const versions = names.flatMap((name) => (/^\d/.test(name) ? name : (pattern.exec(name)?.[1] ?? [])));
  const type = address.split('/')[2] ?? '';
  const zip = join(folder, `terraform-provider-${type}_${version}_${platform}.zip`);
  const unpacked = join(folder, version, platform);
  return {
    versions,
    ...(existsSync(zip) ? { zip } : {}),
    ...(existsSync(unpacked) ? { folder: unpacked } : {}),
  };
}

async function registryVersions(
  lock: ProviderLock,
  { registry, exclude }: Sources,
): Promise<readonly string[]> {
  if (exclude.includes(lock.address)) return [];
  const answer = await fetch(`${registry}/v1/providers/${nameOf(lock)}/versions`);
  const { versions } = (await answer.json()) as {
    readonly versions: readonly { readonly version: string }[];
  };
  return versions.map(({ version }) => version);
}

async function download(lock: ProviderLock, { sources, platform }: InitRequest): Promise<Uint8Array> {
  const { registry } = sources;
  const path = `${lock.version}/download/${platform.replace('_', '/')}`;
  const meta = await fetch(`${registry}/v1/providers/${nameOf(lock)}/${path}`);
  const { download_url: url } = (await meta.json()) as { readonly download_url: string };
  return new Uint8Array(await (await fetch(`${registry}${url}`)).arrayBuffer());
}

const nameOf = ({ address }: ProviderLock): string => address.split('/').slice(1).join('/');

function checkZip({ address, hashes }: ProviderLock, zip: Uint8Array): void {
  const own = [zipHash(zip), contentHashOfZip(zip)];
  if (hashes.length > 0 && !own.some((hash) => hashes.includes(hash)))
    throw new Error(`${address}: the current package doesn't match any of the checksums`);
}

function checkFolder({ address, hashes }: ProviderLock, folder: string): void {
  if (hashes.some((hash) => hash.startsWith('h1:')) && !hashes.includes(contentHash(filesIn(folder))))
    throw new Error(`${address}: the local package doesn't match any of the checksums`);
}

function filesIn(folder: string): Readonly<Record<string, Uint8Array>> {
  const names = readdirSync(folder);
  return Object.fromEntries(names.map((name) => [name, new Uint8Array(readFileSync(join(folder, name)))]));
}

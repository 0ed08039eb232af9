/** A provider registry on loopback that counts what is asked of it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sha256 } from './packages.ts';

/** By `<namespace>/<type>/<version>/<platform>`. */
export type Packages = Readonly<Record<string, Uint8Array>>;

export type Registry = {
  readonly url: string;
  /** Lists of versions that were read. */
  readonly lists: () => number;
  /** Packages that were downloaded. */
  readonly downloads: () => readonly string[];
  readonly forget: () => void;
  readonly close: () => Promise<void>;
};

export async function startRegistry(packages: Packages): Promise<Registry> {
  let lists = 0;
  let downloads: string[] = [];
  const answerTo = (path: string): object | Uint8Array | undefined => {
    const [, name] = /^\/v1\/providers\/(.+)\/versions$/.exec(path) ?? [];
    const own = Object.keys(packages).filter((key) => name !== undefined && key.startsWith(`${name}/`));
    if (name !== undefined) {
      lists += 1;
      return { versions: [...new Set(own.map((key) => key.split('/')[2]))].map((version) => ({ version })) };
    }
    const [, of, os, arch] = /^\/v1\/providers\/(.+)\/download\/(\w+)\/(\w+)$/.exec(path) ?? [];
    const zip = packages[`${of}/${os}_${arch}`];
    if (zip !== undefined) return { download_url: `/packages/${of}/${os}_${arch}`, shasum: sha256(zip) };
    const key = path.replace('/packages/', '');
    if (packages[key] !== undefined) downloads.push(key);
    return packages[key];
  };
  const server = createServer((request, response) => {
    const answer = answerTo(request.url ?? '');
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(answer instanceof Uint8Array ? answer : JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lists: () => lists,
    downloads: () => downloads,
    forget: () => {
      lists = 0;
      downloads = [];
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

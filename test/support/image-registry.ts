/** A registry of container images on loopback that answers as ghcr.io does. */
import type { IncomingHttpHeaders } from 'node:http';
import { serve } from './servers.ts';

/** The sizes of the layers, by architecture. */
export type Layers = Readonly<Record<string, readonly number[]>>;

export type ImageRegistry = {
  /** Leads requests for ghcr.io here. */
  readonly fetch: typeof globalThis.fetch;
  /** The paths that were asked for. */
  readonly asked: readonly string[];
};

const INDEX = 'application/vnd.oci.image.index.v1+json';

/** Public images, by name and tag (`coder/coder:v2.30.0`). Other images are private. It closes with the test. */
export async function startImageRegistry(images: Readonly<Record<string, Layers>>): Promise<ImageRegistry> {
  const asked: string[] = [];
  const url = await serve(({ url: path = '', headers }, response) => {
    asked.push(path);
    const answer = answerTo(new URL(path, 'http://registry'), headers, images);
    response.writeHead(typeof answer === 'number' ? answer : 200).end(JSON.stringify(answer));
  });
  return {
    fetch: (to, init) => fetch(String(to).replace('https://ghcr.io', url), init),
    asked,
  };
}

function answerTo(
  { pathname, searchParams }: URL,
  { authorization, accept = '' }: IncomingHttpHeaders,
  images: Readonly<Record<string, Layers>>,
): object | number {
  if (pathname === '/token') {
    const [, name] = /^repository:(.+):pull$/.exec(searchParams.get('scope') ?? '') ?? [];
    return Object.keys(images).some((image) => image.startsWith(`${name}:`)) ? { token: `for-${name}` } : 401;
  }
  const [, name, reference = ''] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(pathname) ?? [];
  if (authorization !== `Bearer for-${name}`) return 401;
  const [tag, architecture] = reference.replace('sha256:', '').split('/');
  const layers = images[`${name}:${tag}`];
  if (layers === undefined) return 404;
  if (architecture !== undefined) return manifest(layers[architecture] ?? []);
  if (!accept.includes(INDEX)) return 404;
  const digestOf = (of: string): string => `sha256:${tag}/${of}`;
  return {
    mediaType: INDEX,
    manifests: [
      { digest: digestOf('none') },
      ...['windows', 'linux'].flatMap((os) =>
        Object.keys(layers).map((architecture) => ({
          digest: digestOf(os === 'linux' ? architecture : os),
          platform: { os, architecture },
        })),
      ),
    ],
  };
}

const manifest = (sizes: readonly number[]): object => ({
  config: { size: 10_000 },
  layers: sizes.map((size) => ({ size })),
});

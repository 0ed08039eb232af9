/**
 * What a launch costs beside its task: the image, whose size its registry tells, comes through the NAT gateway
 * of the stack's VPC. Where size or route is unknown, so is the price.
 */
import * as z from 'zod';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { launchPriceOf } from '../../lambda/config/rules/launch-price.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { NAT_GB_DOLLARS } from '../../lambda/decision/settings/prices.ts';
import type { CliEnvironment } from '../shared/cli-environment.ts';

export type LaunchPrice = {
  readonly dollars: number;
  readonly from: string;
};

type Image = Pick<PoolConfig, 'image' | 'architecture'>;

/** Less than the time of doctor's other checks: the price is not worth waiting for. */
const ANSWER_MS = 3_000;

/** Undefined: unknown, as with `network.vpc`, which may have an endpoint for images. Does not throw. */
export async function readLaunchPrice(
  image: Image,
  network: Pick<Deployment['aws']['network'], 'vpc'>,
  { fetch, environment, answerMs = ANSWER_MS }: Pick<CliEnvironment, 'fetch' | 'environment' | 'answerMs'>,
): Promise<LaunchPrice | undefined> {
  if (fetch === undefined || network.vpc !== undefined || environment.AWS_ENDPOINT_URL) return undefined;
  const signal = AbortSignal.timeout(answerMs);
  try {
    const bytes = await readBytes(image, async (path, schema, token) => {
      const headers = { accept: MANIFESTS, ...(token === undefined ? {} : { authorization: token }) };
      const answer = await fetch(`${REGISTRY}/${path}`, { headers, signal });
      return schema.parse(await answer.json());
    });
    return bytes === undefined ? undefined : priceOf(bytes);
  } catch {
    return undefined;
  }
}

function priceOf(bytes: number): LaunchPrice {
  const gb = Math.round(bytes / 1e7) / 100;
  const from = `${gb} GB of image through the NAT gateway at $${NAT_GB_DOLLARS} a GB`;
  return { dollars: launchPriceOf(gb), from };
}

/** Its layers pass the NAT gateway, those of ECR do not, and Docker Hub counts each manifest as a pull. */
const REGISTRY = 'https://ghcr.io';
const NAME = /^ghcr\.io\/(?<path>[^:@]+)(?::(?<tag>[^@]+))?(?:@(?<digest>.+))?$/;

const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

const tokenSchema = z.object({ token: z.string() });
/** Its layers are compressed. */
const imageSchema = z.object({ layers: z.array(z.object({ size: z.number().min(0) })) });
const indexSchema = z.object({
  manifests: z.array(
    z.object({
      digest: z.string(),
      platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
    }),
  ),
});

type Get = <T>(path: string, schema: z.ZodType<T>, token?: string) => Promise<T>;

/** The compressed size; undefined if the registry is not asked or has no image for the architecture. */
async function readBytes({ image, architecture }: Image, get: Get): Promise<number | undefined> {
  const { path, tag = 'latest', digest = tag } = NAME.exec(image)?.groups ?? {};
  if (path === undefined) return undefined;
  // anyone gets this token for a public image, and the registry shows no manifest without it
  const { token } = await get(`token?service=ghcr.io&scope=repository:${path}:pull`, tokenSchema);
  const readManifest = <T>(reference: string, schema: z.ZodType<T>): Promise<T> =>
    get(`v2/${path}/manifests/${reference}`, schema, `Bearer ${token}`);
  const found = await readManifest(digest, z.union([imageSchema, indexSchema]));
  if ('layers' in found) return bytesOf(found);
  const wanted = architecture === 'arm64' ? 'arm64' : 'amd64';
  const own = found.manifests.find(
    ({ platform }) => platform?.os === 'linux' && platform.architecture === wanted,
  );
  return own && bytesOf(await readManifest(own.digest, imageSchema));
}

const bytesOf = ({ layers }: z.infer<typeof imageSchema>): number =>
  layers.reduce((bytes, { size }) => bytes + size, 0);

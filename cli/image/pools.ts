/** Chooses the pools of an image: they have one architecture, and one image to start from. */
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { InputError, UsageError } from '../shared/cli-environment.ts';

export type ImageTarget = {
  readonly pools: readonly PoolConfig[];
  /** The image to start from. */
  readonly image: string;
  /** Terraform's name of the platform. */
  readonly platform: 'linux_arm64' | 'linux_amd64';
};

type Choice = { readonly pool?: readonly string[]; readonly image?: string };

/** The end of a tag that this command has made. */
const WARM = /[:-]warm-[0-9a-f]{8}(?:@|$)/;

/** Throws UsageError for an unknown pool, and InputError if one image cannot serve all pools. */
export function choosePools(all: readonly PoolConfig[], { pool: names, image: given }: Choice): ImageTarget {
  const unknown = names?.find((name) => !all.some((pool) => pool.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `no pool "${unknown}" in the configuration; its pools are ${all.map(({ name }) => name).join(', ')}`,
    );
  const pools = all.filter(({ name }) => names === undefined || names.includes(name));
  const [first] = pools;
  if (first === undefined) throw new InputError('choosing pools: the configuration has none');
  const { architecture } = first;
  const image = given ?? first.image;
  const isSame = (pool: PoolConfig): boolean =>
    pool.architecture === architecture && (given ?? pool.image) === image;
  if (!pools.every(isSame)) {
    const lines = pools.map((pool) => `  - ${pool.name}: ${pool.image}, ${pool.architecture}`);
    throw new InputError(
      `choosing pools: they have different images or architectures, and one image serves only one of them. Name pools with --pool, and run the command again for the others:\n${lines.join('\n')}`,
    );
  }
  if (WARM.test(image))
    throw new InputError(
      `choosing the image to start from: ${image} comes from this command, and would keep its old providers. Name the image without providers with --image, such as ghcr.io/coder/coder:v2.34.8`,
    );
  return { pools, image, platform: architecture === 'arm64' ? 'linux_arm64' : 'linux_amd64' };
}

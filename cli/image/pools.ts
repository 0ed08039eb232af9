/** Chooses the pools of an image: they have one architecture, and one image to start from. */
import { unique } from '../../lambda/decision/model/collections.ts';
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
export function choosePools(all: readonly PoolConfig[], { pool: names, image }: Choice): ImageTarget {
  const unknown = names?.find((name) => !all.some((pool) => pool.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `no pool "${unknown}" in the configuration; its pools are ${all.map(({ name }) => name).join(', ')}`,
    );
  const pools = all.filter(({ name }) => names === undefined || names.includes(name));
  const groups = unique(
    pools.map((pool) => ({ image: image ?? pool.image, architecture: pool.architecture })),
    (group) => `${group.image} ${group.architecture}`,
  );
  const [group, ...others] = groups;
  if (group === undefined) throw new InputError('choosing pools: the configuration has none');
  if (others.length > 0) throw tooMany(pools);
  if (WARM.test(group.image)) throw alreadyWarm(group.image);
  const platform = group.architecture === 'arm64' ? 'linux_arm64' : 'linux_amd64';
  return { pools, image: group.image, platform };
}

function tooMany(pools: readonly PoolConfig[]): InputError {
  const lines = pools.map(({ name, image, architecture }) => `  - ${name}: ${image}, ${architecture}`);
  return new InputError(
    `choosing pools: they have different images or architectures, and one image serves only one of them. Name pools with --pool, and run the command again for the others:\n${lines.join('\n')}`,
  );
}

function alreadyWarm(image: string): InputError {
  return new InputError(
    `choosing the image to start from: ${image} comes from this command, and would keep its old providers. Name the image without providers with --image, such as ghcr.io/coder/coder:v2.34.8`,
  );
}

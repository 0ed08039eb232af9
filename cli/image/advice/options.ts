/** What could make pulls shorter, with estimates. The sources are in docs/aws.md §2. */
import type { PullFigures } from './pulls.ts';

export type PullOption = {
  readonly option: 'zstd' | 'soci' | 'pull-through-cache';
  /** The most that it can save of a median start. Absent: no figure is known. */
  readonly atMostSeconds?: number;
  readonly text: string;
};

/** AWS: "up to 27 %" of the start time of its test images. */
const ZSTD_SHARE = 0.27;
const ECR = /\.dkr\.ecr(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com/;

export function optionsFor({ image, pullP50Seconds, startP50Seconds }: PullFigures): readonly PullOption[] {
  const zstd = Math.min(pullP50Seconds, Math.round(ZSTD_SHARE * startP50Seconds * 10) / 10);
  return [
    {
      option: 'zstd',
      atMostSeconds: zstd,
      text: `estimate: at most ${zstd} s less. AWS measured up to 27 % of the start time for its images. Zip files of providers do not get smaller, so only the rest of the image gains`,
    },
    {
      option: 'soci',
      atMostSeconds: pullP50Seconds,
      text: `estimate: at most ${pullP50Seconds} s less, the whole pull. Fargate then loads files when they are read, so a build loads only the providers that it uses. For images of more than 250 MiB in ECR, with gzip and not with zstd; it needs an index beside the image`,
    },
    ...(ECR.test(image) ? [] : [PULL_THROUGH]),
  ];
}

const PULL_THROUGH: PullOption = {
  option: 'pull-through-cache',
  text: "no estimate in seconds. The image comes from outside ECR: a pull-through cache keeps a copy in your Region's ECR, without the other registry's limits and outages. An image that you build with this command is in ECR too",
};

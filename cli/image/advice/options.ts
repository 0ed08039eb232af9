/** What could make pulls shorter, with estimates. The sources are in docs/internals/aws.md §2. */
import type { PullFigures } from './pulls.ts';

export type PullOption = {
  readonly option: 'zstd' | 'soci' | 'pull-through-cache';
  /** The most that it can save of a median start. Absent: no figure is known. */
  readonly atMostSeconds?: number;
};

/** AWS: "up to 27 %" of the start time of its test images. */
const ZSTD_SHARE = 0.27;
const ECR = /\.dkr\.ecr(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com/;

/** For the image of one pool. */
export function optionsFor({ image, pullP50Seconds, startP50Seconds }: PullFigures): readonly PullOption[] {
  const zstdSeconds = Math.min(pullP50Seconds, Math.round(ZSTD_SHARE * startP50Seconds * 10) / 10);
  return [
    { option: 'zstd', atMostSeconds: zstdSeconds },
    { option: 'soci', atMostSeconds: pullP50Seconds },
    ...(ECR.test(image) ? [] : [{ option: 'pull-through-cache' } as const]),
  ];
}

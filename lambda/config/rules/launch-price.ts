/** What a launch costs beside its task: its image comes through a NAT gateway. */
import type { PoolConfig } from '../../decision/model/config.ts';
import { NAT_GB_DOLLARS } from '../../decision/settings/prices.ts';

/** Of Coder's own image, compressed. Images of builds have it as their base. */
const CODER_IMAGE_GB = 0.3;

/** Private ECR stores layers in S3, whose endpoint is free. It counts as that of the same Region. */
const ECR = /^\d{12}\.dkr[.-]ecr(-fips)?\.[^/]*\//;

/**
 * The default of `dollarsPerLaunch`. The tasks have no public address, so any other image comes
 * through a NAT gateway, except on instances, which keep images.
 */
export function defaultLaunchPrice({ image, instances }: Pick<PoolConfig, 'image' | 'instances'>): number {
  return ECR.test(image) || instances !== undefined ? 0 : CODER_IMAGE_GB * NAT_GB_DOLLARS;
}

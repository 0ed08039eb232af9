/** The price of a launch, from a registry on loopback, and what `doctor` says of the configured one. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { readLaunchPrice } from '../../../cli/doctor/launch-price.ts';
import type { CliEnvironment } from '../../../cli/shared/cli-environment.ts';
import { ACCESS_KEY_OF_A_PERSON } from '../../../lab/world/aws-http.ts';
import { runIn } from '../../support/cli-run.ts';
import { type ImageRegistry, startImageRegistry } from '../../support/image-registry.ts';
import { labConfig, startLab } from '../../support/lab.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { serve } from '../../support/servers.ts';

const IMAGE = 'ghcr.io/coder/coder:v2.30.0';
const FROM = '0.3 GB of image through the NAT gateway at $0.045 a GB';

const folder = ownFolder();
const file = join(folder, 'autoscaler.yaml');
let registry: ImageRegistry;
beforeEach(async () => {
  registry = await startImageRegistry({
    'coder/coder:v2.30.0': { amd64: [210_000_000, 190_000_000], arm64: [200_000_000, 101_000_000] },
    'coder/coder:latest': { arm64: [60_000_000] },
    'acme/amd:v1': { amd64: [60_000_000] },
  });

  vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_PERSON);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(file, { force: true });
});

type Asked = {
  readonly image?: string;
  readonly architecture?: 'arm64' | 'x86_64';
  readonly vpc?: string;
} & Partial<Pick<CliEnvironment, 'fetch' | 'environment' | 'answerMs'>>;

const priceOf = ({ image = IMAGE, architecture = 'arm64', vpc, ...given }: Asked) =>
  readLaunchPrice({ image, architecture }, { vpc }, { fetch: registry.fetch, environment: {}, ...given });

describe('the price of a launch', () => {
  it.each<Asked & { readonly gb: number; readonly dollars: number }>([
    { gb: 0.3, dollars: 0.0135 },
    { architecture: 'x86_64', gb: 0.4, dollars: 0.018 },
    { image: 'ghcr.io/coder/coder', gb: 0.06, dollars: 0.0027 },
    { image: `${IMAGE}@sha256:v2.30.0/amd64`, gb: 0.4, dollars: 0.018 },
  ])('is $dollars for $gb GB of $image $architecture', async ({ gb, dollars, ...asked }) => {
    expect(await priceOf(asked)).toEqual({
      dollars,
      from: `${gb} GB of image through the NAT gateway at $0.045 a GB`,
    });
  });

  it.each<Asked & { readonly scenario: string }>([
    { scenario: 'a private image', image: 'ghcr.io/acme/coder:v2.30.0' },
    { scenario: 'a tag that does not exist', image: 'ghcr.io/coder/coder:v9.9.9' },
    { scenario: 'an architecture that the image does not have', image: 'ghcr.io/acme/amd:v1' },
  ])('is unknown for $scenario', async (asked) => {
    expect(await priceOf(asked)).toBeUndefined();
  });

  it.each<Asked & { readonly scenario: string }>([
    {
      scenario: 'an image in ECR',
      image: '111122223333.dkr.ecr.eu-central-1.amazonaws.com/coder/coder:v2.30.0',
    },
    { scenario: 'an image of Docker Hub', image: 'coder/coder:v2.30.0' },
    { scenario: 'a VPC of your own', vpc: 'vpc-0123456789abcdef0' },
    { scenario: 'a simulated AWS', environment: { AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' } },
  ])('is unknown for $scenario, and no registry is asked', async (asked) => {
    const before = registry.asked.length;
    expect(await priceOf(asked)).toBeUndefined();
    expect(registry.asked.slice(before)).toEqual([]);
  });

  it('is unknown without a network', async () => {
    const broken = await serve((request) => request.socket.destroy());
    expect(await priceOf({ fetch: (_, init) => fetch(broken, init) })).toBeUndefined();
  });

  it('is unknown if a proxy answers with a page', async () => {
    const page = await serve((_, response) => response.end('<html>Sign in</html>'));
    expect(await priceOf({ fetch: (_, init) => fetch(page, init) })).toBeUndefined();
  });

  it('is unknown if the registry never answers', async () => {
    const silent = await serve(() => {});
    expect(await priceOf({ fetch: (_, init) => fetch(silent, init), answerMs: 50 })).toBeUndefined();
  });
});

const pools = [
  { name: 'cpu', organization: 'default', tags: {} },
  { name: 'gpu', organization: 'default', tags: { gpu: 'a10' } },
];

/** The lines about the price of a launch. */
async function doctor(settings: readonly [object, object], more: object = {}): Promise<readonly string[]> {
  const lab = await startLab({ pools });
  const config = labConfig(lab.coderdUrl, pools) as { readonly pools: readonly object[] };
  const own = config.pools.map((pool, index) => ({ ...pool, ...settings[index] }));
  writeFileSync(file, stringify({ ...config, pools: own, ...more }));
  const { out } = await runIn({ fetch: registry.fetch }, 'doctor', '--config', file);
  return out.split('\n').filter((line) => line.includes('price of a launch'));
}

describe('autoscaler doctor', () => {
  it('names the line to write if the price of a launch is far off', async () => {
    const advice = (pool: string, is: number): string =>
      `warn  pool "${pool}": price of a launch: dollarsPerLaunch is ${is}, but a launch pulls ${FROM}. Write dollarsPerLaunch: 0.0135, unless a CDK app passes a VPC without this route`;
    expect(await doctor([{ dollarsPerLaunch: 0 }, { dollarsPerLaunch: 0.05 }])).toEqual([
      advice('cpu', 0),
      advice('gpu', 0.05),
    ]);
  });

  it('agrees with the default for the default image', async () => {
    expect(await doctor([{}, {}])).toEqual([
      `ok    pool "cpu": price of a launch: $0.0135 fits ${FROM}`,
      `ok    pool "gpu": price of a launch: $0.0135 fits ${FROM}`,
    ]);
  });

  it('accepts the price of another Region, and that of a somewhat smaller image', async () => {
    expect(await doctor([{ dollarsPerLaunch: 0.0169 }, { dollarsPerLaunch: 0.01 }])).toEqual([
      `ok    pool "cpu": price of a launch: $0.0169 fits ${FROM}`,
      `ok    pool "gpu": price of a launch: $0.01 fits ${FROM}`,
    ]);
  });

  it('asks the registry once for each image and architecture', async () => {
    const before = registry.asked.length;
    await doctor([{}, {}]);
    expect(registry.asked.slice(before)).toHaveLength(3);
    const lines = await doctor(
      [{}, { architecture: 'x86_64' }].map((pool) => ({ ...pool, dollarsPerLaunch: 0 })) as [object, object],
    );
    expect(registry.asked.slice(before)).toHaveLength(9);
    expect(lines).toEqual([
      expect.stringContaining('Write dollarsPerLaunch: 0.0135,'),
      expect.stringContaining('Write dollarsPerLaunch: 0.018,'),
    ]);
  });

  it('says nothing about a price that it cannot know', async () => {
    expect(await doctor([{ image: 'ghcr.io/acme/coder:v1' }, { dollarsPerLaunch: 0.0135 }])).toEqual([
      `ok    pool "gpu": price of a launch: $0.0135 fits ${FROM}`,
    ]);
    const network = { vpc: 'vpc-0123456789abcdef0', subnets: ['subnet-0123456789abcdef0'] };
    expect(await doctor([{}, { dollarsPerLaunch: 0.05 }], { aws: { network } })).toEqual([]);
  });
});

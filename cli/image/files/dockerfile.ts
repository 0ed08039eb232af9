/** The texts of the Dockerfile and of Terraform's CLI configuration in the image. */
import { compare } from '../../../lambda/decision/model/collections.ts';
import { describePackage, type Layer } from './layers.ts';

/** `packed`: zip files, which Terraform unpacks. `unpacked`: folders, to which it makes a link. */
export type Layout = 'packed' | 'unpacked';

const HOME = '/opt/terraform-providers';

export type DockerfileRequest = {
  readonly image: string;
  /** Such as `linux_arm64`. */
  readonly platform: string;
  readonly layout: Layout;
  readonly layers: readonly Layer[];
};

export function dockerfileText({ image, platform, layout, layers }: DockerfileRequest): string {
  return [
    '# Written by "autoscaler image" (docs/upgrade.md). Write it again when a lock file changes.',
    `ARG BASE_IMAGE=${image}`,
    'ARG TERRAFORM_IMAGE=$BASE_IMAGE',
    '',
    `# Runs on the platform of the build machine and downloads for ${platform}: no emulation.`,
    'FROM --platform=$BUILDPLATFORM $TERRAFORM_IMAGE AS fetch',
    'USER root',
    'COPY fetch.sh /fetch/fetch.sh',
    ...layers.flatMap(({ number }) => [
      '',
      `FROM fetch AS layer-${number}`,
      `COPY layers/${number} /fetch/packages`,
      `RUN --mount=type=secret,id=terraformrc sh /fetch/fetch.sh ${platform} ${layout}`,
    ]),
    '',
    '# Only copies: no file is changed in a second layer, which would double its bytes.',
    'FROM $BASE_IMAGE',
    '# Readable for the user of the image, whatever the umask was. The folder gets this mode too.',
    `COPY --chmod=755 terraform.rc ${HOME}/terraform.rc`,
    ...layers.flatMap(({ number, packages }) => [
      ...packages.map((each) => `# ${describePackage(each)}`),
      `COPY --from=layer-${number} /fetch/mirror ${HOME}/mirror`,
    ]),
    `ENV TF_CLI_CONFIG_FILE=${HOME}/terraform.rc`,
    '',
  ].join('\n');
}

/**
 * Of several sources with the same version Terraform takes the first, but asks all of them for
 * versions. `sealed`: it asks no registry for these providers, also for versions that the image
 * lacks.
 */
export function terraformRcText(layers: readonly Layer[], sealed: boolean): string {
  const addresses = layers.flatMap(({ packages }) => packages.map(({ address }) => address));
  const list = `[${[...new Set(addresses)]
    .sort(compare)
    .map((address) => `\n      "${address}",`)
    .join('')}\n    ]`;
  return `# Written by "autoscaler image" (docs/upgrade.md).
provider_installation {
  filesystem_mirror {
    path = "${HOME}/mirror"${sealed ? `\n    include = ${list}` : ''}
  }

  # for what the image does not have
  direct {${sealed ? `\n    exclude = ${list}` : ''}
  }
}
`;
}

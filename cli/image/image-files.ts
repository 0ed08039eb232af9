/**
 * All files of a warm image, and the tag that they give it. Each package is built in a stage of its own and
 * becomes one layer: a changed provider changes one layer, and Docker builds the stages in parallel.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { by, compare, unique } from '../../lambda/decision/model/collections.ts';
import { few } from '../../lambda/explain/format.ts';
import { InputError } from '../shared/cli-environment.ts';
import type { ProviderLock } from './lock-file.ts';
import type { Template } from './template-files.ts';

export type TextFile = { readonly path: string; readonly text: string };

/** A provider in one version. Templates may lock several versions of a provider: all are packed. */
type Package = {
  readonly address: string;
  readonly version: string;
  readonly templates: readonly string[];
  /** The different sets of checksums. The package has to match each of them. */
  readonly locks: readonly { readonly templates: readonly string[]; readonly hashes: readonly string[] }[];
};

/** The most used first: those are the last ones to change. */
export function packagesOf(templates: readonly Template[]): readonly Package[] {
  const locked = templates.flatMap(({ name, locks }) =>
    locks.kind === 'locked' ? locks.providers.map((lock) => ({ ...lock, template: name })) : [],
  );
  const groups = [...Map.groupBy(locked, ({ address, version }) => `${address} ${version}`).values()];
  return groups.flatMap(packageOf).sort(
    by(
      (each) => -each.templates.length,
      (each) => each.address,
      (each) => each.version,
    ),
  );
}

type Locked = ProviderLock & { readonly template: string };

function packageOf(group: readonly Locked[]): readonly Package[] {
  const sets = Map.groupBy(group, ({ hashes }) => sorted(hashes).join(' '));
  const templatesOf = (those: readonly Locked[]) => sorted(those.map(({ template }) => template));
  const locks = [...sets].map(([hashes, those]) => ({
    templates: templatesOf(those),
    hashes: hashes.split(' ').filter((hash) => hash !== ''),
  }));
  locks.sort(by((lock) => lock.templates.join(' ')));
  return group
    .slice(0, 1)
    .map(({ address, version }) => ({ address, version, templates: templatesOf(group), locks }));
}

const sorted = (texts: readonly string[]): readonly string[] =>
  [...unique(texts, (text) => text)].sort(compare);

type ImageRequest = {
  readonly image: string;
  /** Such as `linux_arm64`. */
  readonly platform: string;
  /** Zip files, which Terraform unpacks, or folders, to which it makes a link. */
  readonly layout: 'packed' | 'unpacked';
  /** Whether the image asks no registry for the providers that it has. */
  readonly sealed: boolean;
  readonly packages: readonly Package[];
};

type ImageFiles = { readonly tag: string; readonly files: readonly TextFile[] };

/** `doctor` reads coder's release from an image of this name. */
const REPOSITORY = 'coder/coder';
const TAG_DIGITS = 8;

const FETCH = readFileSync(new URL('./fetch.sh', import.meta.url), 'utf8');

/** Throws InputError if the name of the image does not fit into a Dockerfile. */
export function imageFiles(request: ImageRequest): ImageFiles {
  const { image, platform, packages, sealed } = request;
  if (!/^[\w.:/@-]+$/.test(image))
    throw new InputError(`writing a Dockerfile: ${JSON.stringify(image)} is not the name of an image`);
  const layers = layersOf(packages);
  const files = [
    { path: 'Dockerfile', text: dockerfileText(request, layers) },
    { path: 'fetch.sh', text: FETCH },
    { path: 'terraform.rc', text: terraformRcText(packages, sealed) },
    ...layers.flatMap(layerFiles),
  ].sort(by(({ path }) => path));
  const tag = tagOf(image, files);
  const script = { path: 'build.sh', text: buildScript({ platform, repository: REPOSITORY, tag }) };
  return { tag, files: [...files, script] };
}

/** Other providers make another tag: a task never gets another content under the same name. */
function tagOf(image: string, files: readonly TextFile[]): string {
  const hash = createHash('sha256');
  for (const { path, text } of files) hash.update(`${path}\n${text.length}\n${text}`);
  const [name = ''] = image.split('@');
  const [, base] = /:([\w.-]{1,80})$/.exec(name) ?? [];
  return [...(base === undefined ? [] : [base]), 'warm', hash.digest('hex').slice(0, TAG_DIGITS)].join('-');
}

type Layer = {
  /** `01`: the stage is `layer-01`, and its folder `layers/01`. */
  readonly number: string;
  readonly packages: readonly Package[];
};

/** An image has at most 127 layers. Packages beyond this number share the last layer. */
const MOST_LAYERS = 60;

function layersOf(packages: readonly Package[]): readonly Layer[] {
  const layers = Map.groupBy(packages, (each) => Math.min(packages.indexOf(each) + 1, MOST_LAYERS));
  return [...layers].map(([number, own]) => ({ number: String(number).padStart(2, '0'), packages: own }));
}

const HOME = '/opt/terraform-providers';

function dockerfileText({ image, platform, layout }: ImageRequest, layers: readonly Layer[]): string {
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
      ...packages.map(
        ({ address, version, templates }) => `# ${address} ${version} (${plainNames(templates)})`,
      ),
      `COPY --from=layer-${number} /fetch/mirror ${HOME}/mirror`,
    ]),
    `ENV TF_CLI_CONFIG_FILE=${HOME}/terraform.rc`,
    '',
  ].join('\n');
}

/** Terraform asks all sources for versions. `sealed`: never a registry for these providers. */
function terraformRcText(packages: readonly Package[], sealed: boolean): string {
  const addresses = sorted(packages.map(({ address }) => address));
  const list = `[${addresses.map((address) => `\n      "${address}",`).join('')}\n    ]`;
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

function layerFiles({ number, packages }: Layer): readonly TextFile[] {
  return packages.flatMap(({ address, version, locks }, index) => {
    const folder = `layers/${number}/${index + 1}`;
    return [
      { path: `${folder}/main.tf`, text: mainText(address, version) },
      { path: `${folder}/package`, text: `${address}\n${version}\n` },
      ...locks.map((lock, nth) => ({ path: `${folder}/lock-${nth + 1}`, text: lockText(lock) })),
    ];
  });
}

/** Names of folders may contain anything, and these texts end up in a Dockerfile and a script. */
function plainNames(names: readonly string[]): string {
  return few(names).replaceAll(/[^\w.,/ -]/g, '?');
}

const mainText = (address: string, version: string): string => `terraform {
  required_providers {
    packed = {
      source  = "${address}"
      version = "${version}"
    }
  }
}
`;

function lockText({ templates, hashes }: Package['locks'][number]): string {
  return [`# ${plainNames(templates)}`, ...hashes.flatMap(hashLine), ''].join('\n');
}

/** A shell compares hex more easily than base64. */
function hashLine(hash: string): readonly string[] {
  const value = hash.slice(3);
  if (hash.startsWith('zh:')) return [`zh ${value}`];
  return hash.startsWith('h1:') ? [`h1 ${Buffer.from(value, 'base64').toString('hex')}`] : [];
}

type BuildRequest = {
  /** Such as `linux_arm64`. */
  readonly platform: string;
  readonly repository: string;
  readonly tag: string;
};

/** The login password goes through a pipe only. */
export function buildScript({ platform, repository, tag }: BuildRequest): string {
  return `#!/bin/sh
# Written by "autoscaler image" (docs/upgrade.md): builds the image and pushes it to ECR.
# You need docker with buildx, and aws, signed in to the account of the pools.
#   REPOSITORY    another name of the repository in ECR
#   TERRAFORM_RC  a CLI configuration with credentials, for private provider registries
# Arguments go to "docker buildx build", such as --build-arg TERRAFORM_IMAGE=IMAGE.
set -eu
case \${TERRAFORM_RC:-/} in
  /*) ;;
  *) TERRAFORM_RC=$PWD/$TERRAFORM_RC ;;
esac
unset CDPATH
cd -- "$(dirname -- "$0")"
repository=\${REPOSITORY:-${repository}}
tag=${tag}
uri() {
  aws ecr describe-repositories --repository-names "$repository" \\
    --query 'repositories[0].repositoryUri' --output text
}
uri=$(uri 2>/dev/null) || {
  aws ecr create-repository --repository-name "$repository" --image-tag-mutability IMMUTABLE >/dev/null
  uri=$(uri)
}
if aws ecr describe-images --repository-name "$repository" --image-ids "imageTag=$tag" >/dev/null 2>&1; then
  echo "image: $uri:$tag is in ECR already"
  exit
fi
aws ecr get-login-password | docker login --username AWS --password-stdin "\${uri%%/*}"
if [ -n "\${TERRAFORM_RC:-}" ]; then set -- "$@" --secret "id=terraformrc,src=$TERRAFORM_RC"; fi
docker buildx build --platform ${platform.replace('_', '/')} --progress plain --tag "$uri:$tag" --push "$@" .
echo "Set this image in autoscaler.yaml, and deploy:"
echo "  image: $uri:$tag"
`;
}

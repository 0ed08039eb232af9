/** All files of a warm image, and the tag that they give it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { by } from '../../../lambda/decision/model/collections.ts';
import { InputError } from '../../shared/cli-environment.ts';
import { buildScript } from './build-script.ts';
import { dockerfileText, type Layout, terraformRcText } from './dockerfile.ts';
import { layerFiles, layersOf, type TextFile } from './layers.ts';
import type { Package } from './packages.ts';

export type ImageRequest = {
  /** The image to add the providers to. */
  readonly image: string;
  readonly platform: string;
  readonly layout: Layout;
  /** Whether the image asks no registry for the providers that it has. */
  readonly sealed: boolean;
  readonly packages: readonly Package[];
};

export type ImageFiles = { readonly tag: string; readonly files: readonly TextFile[] };

/** `doctor` reads coder's release from an image of this name. */
const REPOSITORY = 'coder/coder';
const TAG_DIGITS = 8;

const FETCH = readFileSync(new URL('./fetch.sh', import.meta.url), 'utf8');

/** Throws InputError if the name of the image does not fit into a Dockerfile. */
export function imageFiles({ image, platform, layout, sealed, packages }: ImageRequest): ImageFiles {
  if (!/^[\w.:/@-]+$/.test(image))
    throw new InputError(`writing a Dockerfile: ${JSON.stringify(image)} is not the name of an image`);
  const layers = layersOf(packages);
  const files = [
    { path: 'Dockerfile', text: dockerfileText({ image, platform, layout, layers }) },
    { path: 'fetch.sh', text: FETCH },
    { path: 'terraform.rc', text: terraformRcText(layers, sealed) },
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

/** The result of `autoscaler image`, as `--json` prints it. */
import type { FirstBuilds } from './first-builds.ts';
import type { ImageFiles, ImageRequest, Package } from './image-files.ts';
import type { ImageTarget } from './pools.ts';
import type { Advice } from './pulls.ts';
import type { Template } from './template-files.ts';

export type ImageResult = {
  /** The version of this format. */
  readonly version: 1;
  /** Absent: there is nothing to pack, and nothing was written. */
  readonly out?: string;
  readonly image: string;
  readonly platform: string;
  readonly pools: readonly string[];
  readonly layout: ImageRequest['layout'];
  readonly sealed: boolean;
  readonly tag: string;
  readonly packages: readonly Pick<Package, 'address' | 'version' | 'templates'>[];
  readonly templates: {
    readonly locked: readonly string[];
    readonly withoutLockFile: readonly string[];
    readonly unreadable: readonly { readonly template: string; readonly why: string }[];
    /** The pools cannot run their jobs. */
    readonly ofOtherPools: readonly string[];
    /** At most one platform's content checksum: each build on another platform unpacks again. */
    readonly ofOnePlatform: readonly string[];
  };
  /** Pools whose `environment` replaces the CLI configuration of the image. */
  readonly overridden: readonly string[];
  readonly firstBuilds: FirstBuilds;
  readonly advice: Advice;
};

export function resultOf(
  out: string,
  done: {
    readonly target: ImageTarget;
    readonly request: ImageRequest;
    readonly templates: readonly Template[];
    readonly others: readonly string[];
    readonly made: ImageFiles;
    readonly firstBuilds: FirstBuilds;
    readonly advice: Advice;
  },
): ImageResult {
  const { target, request, templates, others, made, firstBuilds, advice } = done;
  const { image, platform, layout, sealed, packages } = request;
  const overriding = target.pools.filter(({ environment }) => environment.TF_CLI_CONFIG_FILE !== undefined);
  return {
    version: 1,
    ...(packages.length === 0 ? {} : { out }),
    image,
    platform,
    pools: target.pools.map(({ name }) => name),
    layout,
    sealed,
    tag: made.tag,
    packages: packages.map(({ address, version, templates: of }) => ({ address, version, templates: of })),
    templates: templatesOf(templates, others),
    overridden: overriding.map(({ name }) => name),
    firstBuilds,
    advice,
  };
}

function templatesOf(templates: readonly Template[], others: readonly string[]): ImageResult['templates'] {
  const named = (holds: (template: Template) => boolean): readonly string[] =>
    templates.filter(holds).map(({ name }) => name);
  return {
    locked: named(({ locks }) => locks.kind === 'locked'),
    withoutLockFile: named(({ locks }) => locks.kind === 'none'),
    unreadable: templates.flatMap(({ name, locks }) =>
      locks.kind === 'unreadable' ? [{ template: name, why: locks.why }] : [],
    ),
    ofOtherPools: others,
    ofOnePlatform: named(
      ({ locks }) =>
        locks.kind === 'locked' &&
        locks.providers.some(({ hashes }) => hashes.filter((hash) => hash.startsWith('h1:')).length < 2),
    ),
  };
}

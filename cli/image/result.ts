/** The result of `autoscaler image`, as `--json` prints it. */
import type { Advice } from './advice/advice.ts';
import type { Layout } from './files/dockerfile.ts';
import type { ImageFiles } from './files/image-files.ts';
import type { Package } from './files/packages.ts';
import type { FirstBuilds } from './first-builds.ts';
import { hashCounts, type ProviderLock } from './lock/provider-lock.ts';
import type { ImageTarget } from './pools.ts';
import type { Survey } from './survey.ts';
import type { Template } from './templates/template.ts';

export type ImageResult = {
  /** The version of this format. */
  readonly version: 1;
  /** Absent: there is nothing to pack, and nothing was written. */
  readonly out?: string;
  readonly image: string;
  readonly platform: string;
  readonly pools: readonly string[];
  readonly layout: Layout;
  readonly sealed: boolean;
  readonly tag: string;
  readonly packages: readonly PackedProvider[];
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

export type PackedProvider = Pick<Package, 'address' | 'version' | 'templates'>;

export function layoutOf({ unpacked }: { readonly unpacked: boolean }): Layout {
  return unpacked ? 'unpacked' : 'packed';
}

export function resultOf(done: {
  readonly options: { readonly out: string; readonly unpacked: boolean; readonly sealed: boolean };
  readonly target: ImageTarget;
  readonly survey: Survey;
  readonly packages: readonly Package[];
  readonly made: ImageFiles;
  readonly advice: Advice;
}): ImageResult {
  const { options, target, survey, packages, made, advice } = done;
  return {
    version: 1,
    ...(packages.length === 0 ? {} : { out: options.out }),
    image: target.image,
    platform: target.platform,
    pools: target.pools.map(({ name }) => name),
    layout: layoutOf(options),
    sealed: options.sealed,
    tag: made.tag,
    packages: packages.map(({ address, version, templates }) => ({ address, version, templates })),
    templates: templatesOf(survey),
    overridden: target.pools
      .filter(({ environment }) => environment.TF_CLI_CONFIG_FILE !== undefined)
      .map(({ name }) => name),
    firstBuilds: survey.firstBuilds,
    advice,
  };
}

function templatesOf({ templates, others }: Survey): ImageResult['templates'] {
  const named = (holds: (template: Template) => boolean): readonly string[] =>
    templates.filter(holds).map(({ name }) => name);
  return {
    locked: named(({ locks }) => locks.kind === 'locked'),
    withoutLockFile: named(({ locks }) => locks.kind === 'none'),
    unreadable: templates.flatMap(({ name, locks }) =>
      locks.kind === 'unreadable' ? [{ template: name, why: locks.why }] : [],
    ),
    ofOtherPools: others,
    ofOnePlatform: named(({ locks }) => locks.kind === 'locked' && locks.providers.some(isOfOnePlatform)),
  };
}

function isOfOnePlatform(lock: ProviderLock): boolean {
  return hashCounts(lock).content < 2;
}

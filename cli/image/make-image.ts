import { makeClients } from '../../lambda/connect.ts';
import type { Config, PoolConfig } from '../../lambda/decision/model/config.ts';
import { whileWorking } from '../shared/activity.ts';
import { type CliEnvironment, InputError, UsageError } from '../shared/cli-environment.ts';
import { withTokenOfShell } from '../shared/live.ts';
import { clusterNamed, type LiveOptions, readConfig } from '../shared/live-options.ts';
import { readTemplatesOfCoderd, type TemplateSurvey } from './coderd-templates.ts';
import { type FirstBuilds, readFirstBuilds } from './first-builds.ts';
import { imageFiles, packagesOf } from './image-files.ts';
import { readAdvice } from './pulls.ts';
import { readTemplatesOfFolder, type Template } from './template-files.ts';
import { refuseExisting, writeFolder } from './write-folder.ts';

export type ImageOptions = LiveOptions & {
  readonly pool?: readonly string[];
  readonly template?: readonly string[];
  readonly dir?: string;
  readonly image?: string;
  readonly out: string;
  readonly unpacked: boolean;
  readonly sealed: boolean;
  readonly json: boolean;
};

export async function makeImage(options: ImageOptions, cliEnvironment: CliEnvironment) {
  const { out, dir, unpacked, sealed } = options;
  if (dir === '') throw new UsageError('--dir needs the name of a folder');
  refuseExisting(out);
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  const { pools, image, platform } = choosePools(config.pools, options);
  const survey =
    dir === undefined
      ? await surveyCoderd(config.coder, caBundle, pools, cliEnvironment)
      : { templates: readTemplatesOfFolder(dir), others: [], firstBuilds: UNREAD };
  const templates = chooseTemplates(survey, pools, options.template);
  const packages = packagesOf(templates);
  const layout = unpacked ? ('unpacked' as const) : ('packed' as const);
  const { tag, files } = imageFiles({ image, platform, layout, sealed, packages });
  const cluster = clusterNamed(options, cliEnvironment, config);
  const advice = await whileWorking('reading tasks of ECS', cliEnvironment, () =>
    readAdvice(config, pools, cluster),
  );
  if (packages.length > 0) writeFolder(out, files);
  return {
    version: 1,
    // absent: there is nothing to pack, and nothing was written
    ...(packages.length === 0 ? {} : { out }),
    image,
    platform,
    pools: pools.map(({ name }) => name),
    layout,
    sealed,
    tag,
    packages: packages.map(({ address, version, templates: of }) => ({ address, version, templates: of })),
    templates: templatesOf(templates, survey.others),
    /** Pools whose `environment` replaces the CLI configuration of the image. */
    overridden: pools
      .filter(({ environment }) => environment.TF_CLI_CONFIG_FILE !== undefined)
      .map(({ name }) => name),
    firstBuilds: survey.firstBuilds,
    advice,
  };
}

/** As `--json` prints it. */
export type ImageResult = Awaited<ReturnType<typeof makeImage>>;

const UNREAD: FirstBuilds = { kind: 'none', why: 'with --dir the command reads nothing from coderd' };

/** No job waits for it. coderd's rate limit holds for a minute. */
const PATIENCE = { patience: { silentMs: 30_000, retryMs: 90_000 }, wholeMs: 120_000 } as const;
const ALL_MS = 600_000;

/** The templates, and what first builds cost. Throws InputError. */
async function surveyCoderd(
  coder: Config['coder'],
  caBundle: string | undefined,
  pools: readonly PoolConfig[],
  cliEnvironment: CliEnvironment,
): Promise<TemplateSurvey & { readonly firstBuilds: FirstBuilds }> {
  const clients = makeClients({ coder }, caBundle, PATIENCE);
  const coderd = withTokenOfShell(clients.coderd, cliEnvironment);
  try {
    const templates = await whileWorking('reading templates from coderd', cliEnvironment, () =>
      readTemplatesOfCoderd(coderd, pools, AbortSignal.timeout(ALL_MS)),
    );
    const firstBuilds = await whileWorking('reading builds from coderd', cliEnvironment, () =>
      readFirstBuilds(coderd, pools, cliEnvironment.now()),
    );
    return { ...templates, firstBuilds };
  } finally {
    await clients.close();
  }
}

/** The templates with these names; all if there are no names. Throws UsageError. */
function chooseTemplates(
  { templates, others }: TemplateSurvey,
  pools: readonly PoolConfig[],
  names: readonly string[] | undefined,
): readonly Template[] {
  const unknown = names?.find((name) => !templates.some((template) => template.name === name));
  if (unknown !== undefined && others.includes(unknown))
    throw new UsageError(
      `template "${unknown}": its jobs have other tags than the pools ${pools.map(({ name }) => name).join(', ')}, so these cannot run them`,
    );
  if (unknown !== undefined)
    throw new UsageError(
      `no template "${unknown}"; the templates are ${templates.map(({ name }) => name).join(', ') || '(none)'}`,
    );
  return templates.filter(({ name }) => names === undefined || names.includes(name));
}

type ImageTarget = {
  readonly pools: readonly PoolConfig[];
  readonly image: string;
  /** Terraform's name of the platform. */
  readonly platform: 'linux_arm64' | 'linux_amd64';
};

type Choice = { readonly pool?: readonly string[]; readonly image?: string };

/** The end of a tag that this command has made. */
const WARM = /[:-]warm-[0-9a-f]{8}(?:@|$)/;

/** Throws UsageError for an unknown pool, and InputError if one image cannot serve all pools. */
function choosePools(all: readonly PoolConfig[], { pool: names, image: given }: Choice): ImageTarget {
  const unknown = names?.find((name) => !all.some((pool) => pool.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `no pool "${unknown}" in the configuration; its pools are ${all.map(({ name }) => name).join(', ')}`,
    );
  const pools = all.filter(({ name }) => names === undefined || names.includes(name));
  const [first] = pools;
  if (first === undefined) throw new InputError('choosing pools: the configuration has none');
  const { architecture } = first;
  const image = given ?? first.image;
  const isSame = (pool: PoolConfig): boolean =>
    pool.architecture === architecture && (given ?? pool.image) === image;
  if (!pools.every(isSame)) {
    const lines = pools.map((pool) => `  - ${pool.name}: ${pool.image}, ${pool.architecture}`);
    throw new InputError(
      `choosing pools: they have different images or architectures, and one image serves only one of them. Name pools with --pool, and run the command again for the others:\n${lines.join('\n')}`,
    );
  }
  if (WARM.test(image))
    throw new InputError(
      `choosing the image to start from: ${image} comes from this command, and would keep its old providers. Name the image without providers with --image, such as ghcr.io/coder/coder:v2.34.8`,
    );
  return { pools, image, platform: architecture === 'arm64' ? 'linux_arm64' : 'linux_amd64' };
}

function templatesOf(templates: readonly Template[], others: readonly string[]) {
  const named = (holds: (template: Template) => boolean): readonly string[] =>
    templates.filter(holds).map(({ name }) => name);
  return {
    locked: named(({ locks }) => locks.kind === 'locked'),
    withoutLockFile: named(({ locks }) => locks.kind === 'none'),
    unreadable: templates.flatMap(({ name, locks }) =>
      locks.kind === 'unreadable' ? [{ template: name, why: locks.why }] : [],
    ),
    /** The pools cannot run their jobs. */
    ofOtherPools: others,
    /** At most one platform's content checksum: each build on another platform unpacks again. */
    ofOnePlatform: named(
      ({ locks }) =>
        locks.kind === 'locked' &&
        locks.providers.some(({ hashes }) => hashes.filter((hash) => hash.startsWith('h1:')).length < 2),
    ),
  };
}

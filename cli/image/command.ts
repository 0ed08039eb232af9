/** `autoscaler image`: exit code 1 if a template could not be read, or if there is nothing to pack. */
import type { Command } from 'commander';
import { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { makeClients } from '../../lambda/connect.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { whileWorking } from '../shared/activity.ts';
import { type CliEnvironment, type CommandContext, UsageError } from '../shared/cli-environment.ts';
import {
  clusterNamed,
  type LiveOptions,
  readConfig,
  withJsonOption,
  withLiveOptions,
} from '../shared/live-options.ts';
import { readTemplatesOfCoderd, type TemplateSurvey } from './coderd-templates.ts';
import { type FirstBuilds, readFirstBuilds } from './first-builds.ts';
import { type ImageRequest, imageFiles, packagesOf } from './image-files.ts';
import { choosePools, type ImageTarget } from './pools.ts';
import { readAdvice } from './pulls.ts';
import { type ImageResult, resultOf } from './result.ts';
import { screen } from './screen.ts';
import { readTemplatesOfFolder, type Template } from './template-files.ts';
import { refuseExisting, writeFolder } from './write-folder.ts';

type ImageOptions = LiveOptions & {
  readonly pool?: readonly string[];
  readonly template?: readonly string[];
  readonly dir?: string;
  readonly image?: string;
  readonly out: string;
  readonly unpacked: boolean;
  readonly sealed: boolean;
  readonly json: boolean;
};

export function addImageCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withJsonOption(withLiveOptions(program.command('image')), 'the result')
    .description(
      "write a Dockerfile for a provisioner image with the templates' Terraform providers, and say what image pulls take. Reading the files of templates needs the permission template:update",
    )
    .option('--pool <name...>', 'pools that will use the image (default: all)')
    .option('--dir <folder>', 'read the templates from this folder, not from coderd')
    .option('--template <name...>', 'only these templates (default: all whose jobs the pools can run)')
    .option('--image <name>', 'image to start from (default: that of the pools)')
    .option('--unpacked', 'unpack the providers in the image: see docs/upgrade.md first', false)
    .option('--sealed', 'ask no registry for the packed providers: see docs/upgrade.md first', false)
    .option('--out <folder>', 'folder to write; an existing one is never overwritten', 'provisioner-image')
    .action(async (options: ImageOptions) => {
      const result = await makeImage(options, cliEnvironment);
      const text = options.json
        ? `${JSON.stringify(result, null, 2)}\n`
        : screen(result, cliEnvironment.columns);
      cliEnvironment.out(text);
      exitWith(result.templates.unreadable.length > 0 || result.packages.length === 0 ? 1 : 0);
    });
}

async function makeImage(options: ImageOptions, cliEnvironment: CliEnvironment): Promise<ImageResult> {
  const { out, dir, unpacked, sealed } = options;
  if (dir === '') throw new UsageError('--dir needs the name of a folder');
  refuseExisting(out);
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  const target = choosePools(config.pools, options);
  const survey =
    dir === undefined
      ? await surveyCoderd(config.coder, caBundle, target, cliEnvironment)
      : { templates: readTemplatesOfFolder(dir), others: [], firstBuilds: UNREAD };
  const { others, firstBuilds } = survey;
  const templates = chooseTemplates(survey, target, options.template);
  const packages = packagesOf(templates);
  const { image, platform } = target;
  const request: ImageRequest = {
    image,
    platform,
    layout: unpacked ? 'unpacked' : 'packed',
    sealed,
    packages,
  };
  const made = imageFiles(request);
  const cluster = clusterNamed(options, cliEnvironment, config);
  const advice = await whileWorking('reading tasks of ECS', cliEnvironment, () =>
    readAdvice(config, target.pools, cluster),
  );
  if (packages.length > 0) writeFolder(out, made.files);
  return resultOf(out, { target, request, templates, others, made, firstBuilds, advice });
}

const UNREAD: FirstBuilds = { kind: 'none', why: 'with --dir the command reads nothing from coderd' };

/** No job waits for it. coderd's rate limit holds for a minute. */
const PATIENCE = { patience: { silentMs: 30_000, retryMs: 90_000 }, wholeMs: 120_000 } as const;
const ALL_MS = 600_000;

/** The templates, and what first builds cost. Throws InputError. */
async function surveyCoderd(
  coder: Config['coder'],
  caBundle: string | undefined,
  { pools }: ImageTarget,
  cliEnvironment: CliEnvironment,
): Promise<TemplateSurvey & { readonly firstBuilds: FirstBuilds }> {
  const { coderd, close } = connectTo(coder, caBundle, cliEnvironment);
  try {
    const templates = await whileWorking('reading templates from coderd', cliEnvironment, () =>
      readTemplatesOfCoderd(coderd, pools, AbortSignal.timeout(ALL_MS)),
    );
    const firstBuilds = await whileWorking('reading builds from coderd', cliEnvironment, () =>
      readFirstBuilds(coderd, pools, cliEnvironment.now()),
    );
    return { ...templates, firstBuilds };
  } finally {
    await close();
  }
}

/** The token of the shell comes before that of the secret, as for `autoscaler init`. */
function connectTo(coder: Config['coder'], caBundle: string | undefined, { environment }: CliEnvironment) {
  const token = environment.CODER_SESSION_TOKEN?.trim() || undefined;
  if (token === undefined) return makeClients({ coder }, caBundle, PATIENCE);
  const source = { read: async () => new Secret(token) };
  const coderd = new CoderdHttp({ url: coder.url, proxy: coder.proxy, caBundle, token: source, ...PATIENCE });
  return { coderd, close: () => coderd.close() };
}

/** The templates with these names; all if there are no names. Throws UsageError. */
function chooseTemplates(
  { templates, others }: TemplateSurvey,
  { pools }: ImageTarget,
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

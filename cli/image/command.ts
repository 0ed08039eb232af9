/** `autoscaler image`: exit code 1 if a template could not be read, or if there is nothing to pack. */
import type { Command } from 'commander';
import { whileWorking } from '../shared/activity.ts';
import { type CliEnvironment, type CommandContext, UsageError } from '../shared/cli-environment.ts';
import {
  clusterNamed,
  type LiveOptions,
  readConfig,
  withJsonOption,
  withLiveOptions,
} from '../shared/live-options.ts';
import { readAdvice } from './advice/advice.ts';
import { imageFiles } from './files/image-files.ts';
import { packagesOf } from './files/packages.ts';
import { choosePools } from './pools.ts';
import { type ImageResult, layoutOf, resultOf } from './result.ts';
import { screen } from './screen.ts';
import { chooseTemplates, surveyTemplates } from './survey.ts';
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
  if (options.dir === '') throw new UsageError('--dir needs the name of a folder');
  refuseExisting(options.out);
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  const target = choosePools(config.pools, options);
  const cluster = clusterNamed(options, cliEnvironment, config);
  const survey = await surveyTemplates({ config, caBundle, pools: target.pools }, options, cliEnvironment);
  const templates = chooseTemplates(survey, target.pools, options.template);
  const packages = packagesOf(templates);
  const made = imageFiles({ ...target, layout: layoutOf(options), sealed: options.sealed, packages });
  const advice = await whileWorking('reading tasks of ECS', cliEnvironment, () =>
    readAdvice(config, target.pools, cluster),
  );
  if (packages.length > 0) writeFolder(options.out, made.files);
  return resultOf({ options, target, survey: { ...survey, templates }, packages, made, advice });
}

/** `autoscaler image`: exit code 1 if a template could not be read, or if there is nothing to pack. */
import type { Command } from 'commander';
import type { CommandContext } from '../shared/cli-environment.ts';
import { withJsonOption, withLiveOptions } from '../shared/live-options.ts';
import { type ImageOptions, makeImage } from './make-image.ts';
import { screen } from './screen.ts';

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

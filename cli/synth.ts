/** `autoscaler synth`: writes a plain CloudFormation template. Only then it loads aws-cdk-lib. */
import type { Command } from 'commander';
import { loadDeployment } from '../lambda/config/load.ts';
import { type CommandContext, InputError } from './shared/cli-environment.ts';
import { readConfig, withConfigOption } from './shared/live-options.ts';
import { wrapLines } from './shared/plain-table.ts';

type SynthOptions = { readonly config: string; readonly out: string };

export function addSynthCommand(program: Command, { cliEnvironment }: CommandContext): void {
  const command = program
    .command('synth')
    .description('write the stack as a plain CloudFormation template; its assets beside it');
  withConfigOption(command)
    .option(
      '--out <folder>',
      'folder to write; docs/terraform.md says how to deploy it',
      'autoscaler-template',
    )
    .action(async (options: SynthOptions) => {
      readConfig(options.config, cliEnvironment, loadDeployment);
      const { synthText } = await loadWriter();
      cliEnvironment.out(wrapLines(synthText(options), cliEnvironment.columns));
    });
}

/** As in `infra/plain/synth-text.ts`. */
type Writer = { synthText(options: SynthOptions): string };

/**
 * In the published command the construct's package. No literal: the types of aws-cdk-lib do not
 * hold here.
 */
const WRITER = import.meta.url.endsWith('.ts')
  ? '../infra/plain/synth-text.ts'
  : 'coder-provisioner-autoscaler/plain';

async function loadWriter(): Promise<Writer> {
  try {
    return await import(WRITER);
  } catch (cause) {
    const [, missing] =
      /Cannot find package '(coder-provisioner-autoscaler|aws-cdk-lib|constructs)'/.exec(String(cause)) ?? [];
    if (missing === undefined) throw cause;
    throw new InputError(
      `writing a template: the package ${missing} is not installed; run: npm install coder-provisioner-autoscaler aws-cdk-lib constructs`,
      { cause },
    );
  }
}

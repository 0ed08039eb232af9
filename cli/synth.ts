/**
 * `autoscaler synth`: writes a plain CloudFormation template. It needs aws-cdk-lib, so everything
 * that imports it is loaded only when the command runs.
 */
import type { Command } from 'commander';
import { loadDeployment } from '../lambda/config/load.ts';
import { type CommandContext, InputError } from './shared/cli-environment.ts';
import { readConfig, withConfigOption } from './shared/live.ts';

type SynthOptions = { readonly config: string; readonly out: string };

/** `autoscaler synth` */
export function addSynthCommand(program: Command, { cliEnvironment }: CommandContext): void {
  const command = program
    .command('synth')
    .description('write the stack as a plain CloudFormation template, with its assets');
  withConfigOption(command)
    .option(
      '--out <folder>',
      'folder to write; docs/without-cdk.md says how to deploy it',
      'autoscaler-template',
    )
    .action(async ({ config, out }: SynthOptions) => {
      readConfig(config, cliEnvironment, loadDeployment);
      const { writeTemplate } = await loadWriter();
      const { template, assets } = writeTemplate({ configFile: config }, { outDir: out });
      const rows = [template, ...assets].map(({ file, bytes }) => `  ${file}  ${sizeOf(bytes)}\n`);
      cliEnvironment.out(`wrote\n${rows.join('')}\n${NEXT}`);
    });
}

const NEXT = `Upload the files of the folder assets to an S3 bucket in the region of the stack. Then create the
stack from template.json with the parameters AssetBucket, AssetPrefix and the capability
CAPABILITY_IAM. docs/without-cdk.md has the commands, and the same for Terraform.
`;

type WrittenFile = { readonly file: string; readonly bytes: number };

/** As in `infra/plain/write-template.ts`. */
type Writer = {
  writeTemplate(
    source: { readonly configFile: string },
    options: { readonly outDir: string },
  ): { readonly template: WrittenFile; readonly assets: readonly WrittenFile[] };
};

/** Not a literal in `import()`: the types of aws-cdk-lib do not hold under the CLI's settings. */
const WRITER = '../infra/plain/write-template.ts';

async function loadWriter(): Promise<Writer> {
  try {
    return await import(WRITER);
  } catch (cause) {
    const [, missing] = /Cannot find package '(aws-cdk-lib|constructs)'/.exec(String(cause)) ?? [];
    if (missing === undefined) throw cause;
    throw new InputError(
      `writing a template: the package ${missing} is not installed; run: npm install aws-cdk-lib constructs`,
      { cause },
    );
  }
}

function sizeOf(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

import { type Command, InvalidArgumentError } from 'commander';
import type { CliEnvironment, CommandContext } from '../shared/cli-environment.ts';
import { type LiveOptions, withJsonOption, withLiveOptions } from '../shared/live-options.ts';
import { wrapLines } from '../shared/plain-table.ts';
import { gatherJob } from './gather.ts';
import { explanationScreen } from './screen.ts';

type ExplainJobOptions = LiveOptions & { readonly json: boolean };

/** `autoscaler explain-job`: exit code 1 if the job is unknown or coderd cannot be read. */
export function addExplainJobCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withJsonOption(withLiveOptions(program.command('explain-job')), 'the explanation')
    .description('explain where the wait of one job went, or why it still waits')
    .argument('<id>', 'id of a provisioner job, or the first 8 characters that the plan shows', jobId)
    .action(async (id: string, options: ExplainJobOptions) =>
      exitWith(await printExplanation(id, options, cliEnvironment)),
    );
}

/** A UUID, or its first 8 characters or more. */
const ID = /^(?=.{8,36}$)[0-9a-f]{8}(-[0-9a-f]{0,4}){0,3}(-[0-9a-f]{0,12})?$/i;

function jobId(text: string): string {
  if (ID.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError(
    'Give the id of a provisioner job, such as 4d2c1a5e-0000-4000-8000-0123456789ab. "coder provisioner jobs list" shows the ids.',
  );
}

async function printExplanation(
  id: string,
  options: ExplainJobOptions,
  cliEnvironment: CliEnvironment,
): Promise<number> {
  const explanation = await gatherJob(id, options, cliEnvironment);
  const text = options.json
    ? JSON.stringify({ version: 1, ...explanation }, null, 2)
    : wrapLines(explanationScreen(explanation), cliEnvironment.columns);
  cliEnvironment.out(`${text}\n`);
  return 0;
}

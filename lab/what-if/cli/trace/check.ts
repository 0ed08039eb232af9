/** `autoscaler trace check`: reports the errors of a trace, or what is in it. */
import type { Command } from 'commander';
import type { CommandContext } from '../../../../cli/shared/cli-environment.ts';
import { readTraceFile } from '../../trace/file.ts';
import { summaryDocument, summaryText } from './deliver.ts';

export function addTraceCheckCommand(trace: Command, { cliEnvironment: { out, err } }: CommandContext): void {
  trace
    .command('check')
    .description('report the errors of a trace, or what is in it')
    .argument('<file>', 'trace file; - for standard input')
    .option('--skip-bad', 'skip invalid lines and count them', false)
    .option('--json', 'print the summary as one JSON document', false)
    .action((file: string, { skipBad, json }: { readonly skipBad: boolean; readonly json: boolean }) => {
      const { trace: read, remarks } = readTraceFile(file, { skipBad });
      for (const remark of remarks) err(`${file}: warning: ${remark}\n`);
      out(`${json ? JSON.stringify(summaryDocument(read), null, 2) : summaryText(read)}\n`);
    });
}

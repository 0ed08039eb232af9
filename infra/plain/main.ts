#!/usr/bin/env node
/**
 * `autoscaler synth` without the other commands, for the package of the construct. Exit codes: 0
 * success, 1 invalid input, 2 wrong usage.
 */
import { parseArgs } from 'node:util';
import { loadDeployment } from '../../lambda/config/load.ts';
import { ConfigError, formatProblem } from '../../lambda/config/problems/problems.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { PlainTemplateError, StackError } from '../constructs/shared/errors.ts';

const USAGE = `usage: autoscaler-synth [--config FILE] [--out FOLDER]

Writes the stack as a plain CloudFormation template, with its assets.
FILE is autoscaler.yaml by default, FOLDER is autoscaler-template.
`;

const INPUT_ERRORS = [ConfigError, PlainTemplateError, StackError];

process.exitCode = await run(process.argv.slice(2));

async function run(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options === undefined) return 2;
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  try {
    for (const warning of loadDeployment(options.config).warnings)
      process.stderr.write(`${formatProblem(warning)}\n`);
    // wrong usage and a wrong configuration need no aws-cdk-lib, which takes seconds to load
    const { synthText } = await import('./synth-text.ts');
    process.stdout.write(synthText(options));
    return 0;
  } catch (error) {
    if (!INPUT_ERRORS.some((kind) => error instanceof kind)) throw error;
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  }
}

function readOptions(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        config: { type: 'string', default: 'autoscaler.yaml' },
        out: { type: 'string', default: 'autoscaler-template' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values;
  } catch (error) {
    process.stderr.write(`error: ${messageOf(error)}\n\n${USAGE}`);
    return undefined;
  }
}

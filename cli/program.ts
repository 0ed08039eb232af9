/** The command line. Exit codes: 0 fine, 1 invalid input or failed check, 2 wrong usage. */
import { Command, CommanderError } from 'commander';
import { TraceError } from '../backtest/trace/problems.ts';
import { SnapshotError } from '../lambda/adapters/snapshot/schema.ts';
import { ConfigError } from '../lambda/config/problems/problems.ts';
import { addBacktestCommand } from './backtest/command.ts';
import { addDoctorCommand } from './doctor/command.ts';
import { addPauseCommand, addPinCommand, addResumeCommand, addUnpinCommand } from './overrides.ts';
import { addPlanCommand } from './plan.ts';
import { type CliEnvironment, InputError, UsageError } from './shared/cli-environment.ts';
import { addSnapshotCommand } from './snapshot.ts';
import { addStatusCommand } from './status/command.ts';
import { addTraceCommand } from './trace/command.ts';
import { addTuneCommand } from './tune/command.ts';
import { addSchemaCommand, addValidateCommand } from './validate.ts';

/** Runs one command line, without the program's name; returns the exit code. */
export async function runCli(args: readonly string[], surroundings: CliEnvironment): Promise<number> {
  let exitCode = 0;
  const program = build(surroundings, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    return reportError(error, surroundings);
  }
}

function reportError(error: unknown, { err }: CliEnvironment): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    err(`error: ${error.message}\n`);
    return 2;
  }
  if (
    error instanceof ConfigError ||
    error instanceof SnapshotError ||
    error instanceof TraceError ||
    error instanceof InputError
  ) {
    err(`${error.message}\n`);
    return 1;
  }
  throw error;
}

function build(surroundings: CliEnvironment, exitWith: (code: number) => void): Command {
  const { out, err } = surroundings;
  const program = new Command('autoscaler')
    .description("Autoscaler for Coder's external provisioner daemons on ECS Fargate")
    .exitOverride()
    .configureOutput({ writeOut: out, writeErr: err });
  const context = { surroundings, exitWith };
  addValidateCommand(program, context);
  addSnapshotCommand(program, context);
  addPlanCommand(program, context);
  addStatusCommand(program, context);
  addDoctorCommand(program, context);
  addPauseCommand(program, context);
  addResumeCommand(program, context);
  addPinCommand(program, context);
  addUnpinCommand(program, context);
  addTraceCommand(program, context);
  addBacktestCommand(program, context);
  addTuneCommand(program, context);
  addSchemaCommand(program, context);
  return program;
}

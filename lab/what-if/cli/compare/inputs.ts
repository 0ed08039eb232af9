/** Reads both configurations and all traces of a comparison, and checks that they fit together. */
import { existsSync, realpathSync } from 'node:fs';
import { type CliEnvironment, InputError, UsageError } from '../../../../cli/shared/cli-environment.ts';
import { readConfig } from '../../../../cli/shared/live-options.ts';
import type { Deployment } from '../../../../lambda/config/rules/deployment.ts';
import { few } from '../../../../lambda/explain/format.ts';
import { groupName } from '../../replay/figures.ts';
import { servedJobs } from '../../replay/fitting.ts';
import type { Trace } from '../../trace/trace.ts';
import { readTrace, type TraceOptions } from '../backtest/subject.ts';

export type InputOptions = Omit<TraceOptions, 'trace'> & { readonly trace?: readonly string[] };

export type Inputs = {
  readonly before: Deployment;
  readonly after: Deployment;
  readonly traces: readonly { readonly trace: Trace; readonly skipped: number }[];
};

type Files = { readonly before: string; readonly after: string };

/** Throws UsageError, InputError, ConfigError or TraceError. */
export function readInputs(files: Files, options: InputOptions, cliEnvironment: CliEnvironment): Inputs {
  const traceFiles = traceFilesOf(options);
  checkFiles(files);
  const before = readSide('before', files.before, cliEnvironment);
  const after = readSide('after', files.after, cliEnvironment);
  const { trace: _files, ...rest } = options;
  const traces = traceFiles.map((trace) =>
    readTrace({ ...rest, ...(trace === undefined ? {} : { trace }) }, cliEnvironment),
  );
  for (const { trace } of traces) checkFit(trace, { before, after }, files);
  return { before, after, traces };
}

/** Undefined stands for the scenario, or for no trace at all. */
function traceFilesOf({ trace: files = [] }: InputOptions): readonly (string | undefined)[] {
  const twice = files.find((file, at) => files.slice(0, at).some((other) => isSameFile(file, other)));
  if (twice !== undefined) throw new UsageError(`--trace ${twice} is given twice. Name each trace once`);
  return files.length === 0 ? [undefined] : files;
}

function checkFiles({ before, after }: Files): void {
  for (const [side, file] of Object.entries({ before, after }))
    if (!existsSync(file))
      throw new InputError(
        `${file}: reading the configuration ${side} the change: no such file; check the path. "git show main:autoscaler.yaml > before.yaml" writes that of a branch`,
      );
  if (isSameFile(before, after))
    throw new UsageError(
      `${before} and ${after} are the same file. Name the configuration before the change first, then the one after it`,
    );
}

function isSameFile(a: string, b: string): boolean {
  return a === b || (existsSync(a) && existsSync(b) && realPath(a) === realPath(b));
}

/** A pipe, such as `/dev/fd/63` of `<(git show …)`, has no path. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function readSide(side: keyof Files, file: string, { err, ...rest }: CliEnvironment): Deployment {
  try {
    return readConfig(file, { err, ...rest }).config;
  } catch (error) {
    err(`the configuration ${side} the change is not valid:\n`);
    throw error;
  }
}

function checkFit(trace: Trace, { before, after }: Omit<Inputs, 'traces'>, files: Files): void {
  if ([before, after].some((config) => servedJobs(trace.jobs, config).length > 0)) return;
  const groups = few([...new Set(trace.jobs.map(groupName))].map((name) => `"${name}"`));
  throw new InputError(
    `running the jobs of "${trace.name}" (${groups}): no pool of ${files.before} or ${files.after} has their organization and tags. Give a trace of this deployment with --trace`,
  );
}

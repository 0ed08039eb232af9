/** The command line. Exit codes: 0 fine, 1 invalid input or failed check, 2 wrong usage. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { loadConfig } from '../lambda/adapters/config/load.ts';
import { ConfigError, formatProblem, type Problem } from '../lambda/adapters/config/problems.ts';
import { configJsonSchema } from '../lambda/adapters/config/settings.ts';
import { parseSnapshot, SnapshotError, snapshotToJson } from '../lambda/adapters/snapshot/schema.ts';
import { time } from '../lambda/adapters/time.ts';
import { explainPool } from '../lambda/app/explain.ts';
import { observe } from '../lambda/app/observe.ts';
import { planText } from '../lambda/app/text.ts';
import { connect } from '../lambda/connect.ts';
import type { EpochMs } from '../lambda/core/brands.ts';
import { type Deliberation, deliberate } from '../lambda/core/decide.ts';
import { snapshotAt } from '../lambda/core/later.ts';
import type { Snapshot } from '../lambda/core/snapshot.ts';
import { isoTime } from '../lambda/core/waiting.ts';
import { DEFAULT_CONFIG, InputError, type Surroundings, UsageError } from './surroundings.ts';
import { unreadLists } from './unread-lists.ts';

/** Runs one command line, without the program's name; returns the exit code. */
export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<number> {
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

function reportError(error: unknown, { err }: Surroundings): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    err(`error: ${error.message}\n`);
    return 2;
  }
  if (error instanceof ConfigError || error instanceof SnapshotError || error instanceof InputError) {
    err(`${error.message}\n`);
    return 1;
  }
  throw error;
}

function build(surroundings: Surroundings, exitWith: (code: number) => void): Command {
  const { out, err } = surroundings;
  const program = new Command('autoscaler')
    .description("Autoscaler for Coder's external provisioner daemons on ECS Fargate")
    .exitOverride()
    .configureOutput({ writeOut: out, writeErr: err });
  program
    .command('validate')
    .description('check a configuration file')
    .argument('[file]', 'the configuration', DEFAULT_CONFIG)
    .action((file: string) => validate(file, surroundings));
  program
    .command('snapshot')
    .description('look at coderd and ECS once and write down what was seen')
    .option('--config <file>', 'the configuration', DEFAULT_CONFIG)
    .option('--cluster <name>', 'the ECS cluster (or AUTOSCALER_CLUSTER)')
    .option('--out <file>', 'where to write the snapshot; - for standard output', 'snapshot.json')
    .action(async (options: LiveOptions & { readonly out: string }) =>
      exitWith(await takeSnapshot(options, surroundings)),
    );
  program
    .command('plan')
    .description('say what a tick would do, and why; changes nothing')
    .option('--config <file>', 'the configuration', DEFAULT_CONFIG)
    .option('--snapshot <file>', 'plan on this snapshot instead of looking; - for standard input')
    .option('--cluster <name>', 'the ECS cluster (or AUTOSCALER_CLUSTER)')
    .option(
      '--at <time>',
      'say what it would do at a later time, such as 2026-03-02T08:58:00Z, with pools, daemons and jobs as they are',
      parseTime,
    )
    .option('--json', 'print the plan as one JSON document', false)
    .option('--explain <pool>', 'tell the whole story of one pool')
    .action(async (options: PlanOptions) => exitWith(await plan(options, surroundings)));
  program
    .command('schema')
    .description('print the JSON Schema of the configuration')
    .action(() => out(`${JSON.stringify(configJsonSchema(), null, 2)}\n`));
  return program;
}

type LiveOptions = { readonly config: string; readonly cluster?: string };
type PlanOptions = LiveOptions & {
  readonly snapshot?: string;
  readonly at?: EpochMs;
  readonly json: boolean;
  readonly explain?: string;
};

function validate(file: string, { out, err }: Surroundings): void {
  const { config, warnings } = loadConfig(file);
  printWarnings(warnings, err);
  const names = config.pools.map(({ name }) => name).join(', ');
  out(`${file}: valid; ${config.pools.length} pool${config.pools.length === 1 ? '' : 's'}: ${names}\n`);
}

async function takeSnapshot(
  options: LiveOptions & { readonly out: string },
  surroundings: Surroundings,
): Promise<number> {
  const { snapshot } = await lookLive(options, surroundings);
  const text = `${JSON.stringify(snapshotToJson(snapshot), null, 2)}\n`;
  if (options.out === '-') surroundings.out(text);
  else writeText(options.out, text);
  const unread = unreadLists(snapshot);
  for (const line of unread) surroundings.err(`${line}\n`);
  if (options.out !== '-')
    surroundings.err(`wrote ${options.out}${unread.length > 0 ? ', with the lists above missing' : ''}\n`);
  return unread.length > 0 ? 1 : 0;
}

async function plan(options: PlanOptions, surroundings: Surroundings): Promise<number> {
  const { snapshot, config } =
    options.snapshot === undefined
      ? await lookLive(options, surroundings)
      : { snapshot: readSnapshot(options.snapshot), config: readConfig(options.config, surroundings) };
  const seen = options.at === undefined ? snapshot : laterThan(snapshot, options.at);
  const note = options.at === undefined || options.json ? '' : `${laterNote(snapshot, options.at)}\n\n`;
  surroundings.out(`${note}${render(deliberate(seen, config), seen, options)}\n`);
  return options.snapshot === undefined && unreadLists(snapshot).length > 0 ? 1 : 0;
}

/** Throws InvalidArgumentError, which commander tells with the option's name. */
function parseTime(text: string): EpochMs {
  const result = time.safeParse(text);
  if (result.success) return result.data;
  throw new InvalidArgumentError(
    'Write a time with its zone: 2026-03-02T08:58:00Z or 2026-03-02T09:58:00+01:00.',
  );
}

function laterThan(snapshot: Snapshot, at: EpochMs): Snapshot {
  if (at >= snapshot.takenAt) return snapshotAt(snapshot, at);
  throw new InputError(
    `planning at ${isoTime(at)}: the snapshot is of ${isoTime(snapshot.takenAt)}, and what was due before is not in it; give a later time`,
  );
}

function laterNote({ takenAt }: Snapshot, at: EpochMs): string {
  return `as if it were ${isoTime(at)}, with the pools, daemons and jobs of ${isoTime(takenAt)}; of each workspace only the next thing that coderd will do by itself is known`;
}

function render(deliberation: Deliberation, snapshot: Snapshot, { json, explain }: PlanOptions): string {
  if (explain === undefined)
    return json ? JSON.stringify(deliberation.plan, null, 2) : planText(deliberation.plan);
  if (json) throw new UsageError('--explain is a text for people; leave out --json');
  const story = explainPool(explain, deliberation, snapshot);
  if (story !== undefined) return story;
  const names = deliberation.plan.pools.map(({ name }) => name).join(', ');
  throw new InputError(`explaining pool "${explain}": there is no such pool; the configuration has ${names}`);
}

async function lookLive(options: LiveOptions, surroundings: Surroundings) {
  const { config, warnings, caBundle } = loadConfig(options.config);
  printWarnings(warnings, surroundings.err);
  const cluster = options.cluster ?? surroundings.environment.AUTOSCALER_CLUSTER;
  if (!cluster)
    throw new UsageError(
      'no ECS cluster given; add --cluster NAME (the stack prints it), or set AUTOSCALER_CLUSTER',
    );
  const connection = connect(config, cluster, caBundle);
  try {
    return { snapshot: await observe(connection.ports(), config), config };
  } finally {
    await connection.close();
  }
}

function readConfig(file: string, { err }: Surroundings) {
  const { config, warnings } = loadConfig(file);
  printWarnings(warnings, err);
  return config;
}

function printWarnings(warnings: readonly Problem[], err: (text: string) => void): void {
  for (const warning of warnings) err(`${formatProblem(warning)}\n`);
}

function readSnapshot(file: string): Snapshot {
  const text = readText(file);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const said = text.trim() === '' ? 'it is empty' : `it is not JSON (${(cause as Error).message})`;
    throw new InputError(`reading the snapshot ${file}: ${said}; write one with autoscaler snapshot`, {
      cause,
    });
  }
  return parseSnapshot(value);
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new InputError(
      `reading the snapshot ${file}: ${(cause as Error).message}; write one with autoscaler snapshot`,
      { cause },
    );
  }
}

function writeText(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw new InputError(`writing ${file}: ${(cause as Error).message}; give another file with --out`, {
      cause,
    });
  }
}

/**
 * Exit codes: 0 success, 1 invalid input or failed check, 2 wrong usage, 3 a crossed limit of `backtest --before`, or
 * an assumption that `prove` did not measure.
 */
import type { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Help, type Option } from 'commander';
import { ownValue } from '../lambda/decision/model/collections.ts';
import { plainLine } from '../lambda/explain/format.ts';
import { type CliEnvironment, type CommandContext, UsageError } from './shared/cli-environment.ts';
import { wrapLines } from './shared/plain-table.ts';

type AddCommand = (program: Command, context: CommandContext) => void;

const laboratory = () => import('../lab/commands.ts');

type Entry = {
  readonly load: () => Promise<AddCommand>;
  /** By command: what its own help shows to type after its name. */
  readonly examples: Readonly<Record<string, readonly [string, string]>>;
};

/** By group, in the order of the help. Only the requested command is loaded: `validate` has to be fast. */
const COMMANDS: Readonly<Record<string, readonly Entry[]>> = {
  'Set up:': [
    {
      load: async () => (await import('./setup/command.ts')).addSetupCommand,
      examples: { setup: ['--print', '--draft --url https://coder.example.com'] },
    },
    {
      load: async () => (await import('./validate.ts')).addValidateCommand,
      examples: { validate: ['', '--builds-per-day 500'] },
    },
    {
      load: async () => (await import('./synth.ts')).addSynthCommand,
      examples: { synth: ['', '--out dist/template'] },
    },
  ],
  'Look:': [
    {
      load: async () => (await import('./status/command.ts')).addStatusCommand,
      examples: { status: ['', '--json'] },
    },
    {
      load: async () => (await import('./watch/command.ts')).addWatchCommand,
      examples: { watch: ['', '--out page.html'] },
    },
    {
      load: async () => (await import('./plan.ts')).addPlanCommand,
      examples: { plan: ['--explain gpu', '--save snapshot.json'] },
    },
    {
      load: async () => (await import('./explain/command.ts')).addExplainCommand,
      examples: { explain: ['4d2c1a5e', '--dead --days 30'] },
    },
    {
      load: async () => (await import('./doctor/command.ts')).addDoctorCommand,
      examples: { doctor: ['', '--deep'] },
    },
  ],
  'Act:': [
    {
      load: async () => (await import('./overrides.ts')).addOverrideCommands,
      examples: {
        pause: ['gpu --why "a new image"', 'gpu --scale-in --for 2h --why "a demo"'],
        resume: ['gpu', 'gpu --json'],
        pin: ['gpu 5 --why "a course"', 'gpu 5 --at-least --for 8h --why "a course"'],
        unpin: ['gpu', 'gpu --json'],
      },
    },
    {
      load: async () => (await import('./keys/rotate.ts')).addKeysCommand,
      examples: { keys: ['rotate gpu', 'rotate gpu --json'] },
    },
    {
      load: async () => (await import('./prove/command.ts')).addProveCommand,
      examples: { prove: ['proving', 'proving --yes --out proved.json'] },
    },
  ],
  'What if:': [
    {
      load: async () => (await laboratory()).addTraceCommand(),
      examples: { trace: ['export', 'check trace.jsonl'] },
    },
    {
      load: async () => (await laboratory()).addBacktestCommand(),
      examples: {
        backtest: ['--trace trace.jsonl --budget 200', '--trace trace.jsonl --before before.yaml'],
      },
    },
  ],
};

/** Commands of earlier releases, and what to use in their place. */
const ENDED: Readonly<Record<string, string>> = {
  tune: '"autoscaler backtest --price-of-waiting" takes the same targets, and --help lists them',
  compare: 'use "autoscaler backtest --before BEFORE --config AFTER"',
  image: 'docs/upgrade.md, "An image with the providers of your templates", has a Dockerfile',
  sizes: 'AWS Compute Optimizer and Container Insights measure tasks: docs/cost.md, "What tasks use"',
  init: 'use "autoscaler setup --draft"',
  'explain-job': 'use "autoscaler explain JOB"',
  orphans: 'use "autoscaler explain --dead"',
  'keys list':
    '"autoscaler doctor" says what keeps an old key, and "coder provisioner list" which daemon has it',
  'keys check': 'use "autoscaler doctor"',
  snapshot: 'use "autoscaler plan --save FILE"',
  'plan --at': '"autoscaler plan" names what it forecasts: which pool starts, when, and for what',
  schema: 'use "autoscaler validate --schema"',
  'trace import': 'jq writes a trace of other systems: docs/backtest.md, "Traces of other systems"',
};

/** By name: importing the classes would load the modules that throw them. Their messages may have several lines. */
const INPUT_ERRORS: ReadonlySet<string> = new Set([
  'ConfigError',
  'SnapshotError',
  'TraceError',
  'InputError',
  'StackError',
  'PlainTemplateError',
]);

export async function runCli(args: readonly string[], given: CliEnvironment): Promise<number> {
  const cliEnvironment = withPlainOutput(given);
  let exitCode = 0;
  const ended = Object.keys(ENDED).find((name) => `${args.join(' ')} `.startsWith(`${name} `));
  if (ended !== undefined) {
    cliEnvironment.err(`error: "autoscaler ${ended}" has ended; ${ownValue(ENDED, ended)}\n`);
    return 2;
  }
  try {
    const program = await build(args, cliEnvironment, (code) => {
      exitCode = code;
    });
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    return reportError(error, cliEnvironment);
  }
}

function reportError(error: unknown, { err }: CliEnvironment): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    err(`error: ${error.message}\n`);
    return 2;
  }
  if (error instanceof Error && INPUT_ERRORS.has(error.name)) {
    err(`${error.message}\n`);
    return 1;
  }
  const missing = missingPackage(error);
  err(`error: ${missing === undefined ? sentenceOf(error) : needsPackage(missing)}\n`);
  return 1;
}

const needsPackage = (name: string): string =>
  `this command needs the package ${name}, which is not installed. Run "npm ci" in the clone`;

/** Of servers and of this machine. Their messages begin with what was done, or with the system's code. */
const EXPECTED_ERRORS: ReadonlySet<string> = new Set([
  'AwsCallError',
  'CoderdError',
  'EcsError',
  'KeysError',
  'NoAnswerError',
  'ParameterError',
  'SecretError',
]);

/** One line, whatever a server said. An unknown error names the place in the code, for a report. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return plainLine(String(error));
  if (EXPECTED_ERRORS.has(error.name) || 'syscall' in error) return plainLine(error.message);
  const at = /\n\s+at (?:.* \()?([^()\n]+)/.exec(error.stack ?? '')?.[1];
  const place =
    at === undefined ? '' : ` (${at.replace(/^.*\/(?=(?:cli|lambda|lab|infra|node_modules)\/)/, '')})`;
  return `${plainLine(`${error.name}: ${error.message}${place}`)}. This is an error of the command itself: report this line`;
}

/** The name of the package that an import did not find: `npm ci --omit=dev` leaves some out. */
export function missingPackage(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) return undefined;
  return /^Cannot find package '([^']+)'/.exec(error.message)?.[1];
}

/** With the requested command only, or with all of them for the help and for suggestions. */
async function build(
  [requested = '']: readonly string[],
  cliEnvironment: CliEnvironment,
  exitWith: (code: number) => void,
): Promise<Command> {
  const { out, err } = cliEnvironment;
  const program = new Command('autoscaler')
    .configureHelp(HELP)
    .description("Autoscaler for Coder's external provisioner daemons on ECS Fargate")
    .version(packageManifest().version, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({ writeOut: out, writeErr: err });
  const entries = Object.entries(COMMANDS).flatMap(([group, own]) => own.map((each) => ({ ...each, group })));
  const own = entries.filter(({ examples }) => Object.hasOwn(examples, requested));
  const isVersion = requested === '--version' || requested === '-V';
  for (const { group, load, examples } of own.length > 0 || isVersion ? own : entries) {
    program.commandsGroup(group);
    (await load())(program, { cliEnvironment, exitWith });
    for (const command of program.commands) addExamples(command, examples[command.name()] ?? []);
  }
  checkOptionsOf(program);
  return program.addHelpText('after', '\nOptions and examples: autoscaler plan --help. Version: --version');
}

function addExamples(command: Command, examples: readonly string[]): void {
  const lines = examples.map((words) => `  autoscaler ${command.name()} ${words}`.trimEnd());
  if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/**
 * Commander takes any word as the value of an option (`plan --explain --config x`), and the last value of an
 * option that is given twice. Throws UsageError for both; a variadic option is a list.
 */
function checkOptionsOf({ commands }: Command): void {
  for (const command of commands) {
    const given = new Set<Option>();
    // its types leave out what it inherits
    const events = command as unknown as EventEmitter;
    // before the option's own listener, which parses the value
    for (const option of command.options)
      events.prependListener(`option:${option.name()}`, (value: string | null | undefined) => {
        if (option.required && command.options.some(({ long }) => long === value))
          throw missingValue(option, value ?? '');
        if (given.has(option) && !option.variadic) throw givenTwice(option);
        given.add(option);
      });
    checkOptionsOf(command);
  }
}

const givenTwice = ({ long }: Option): UsageError =>
  new UsageError(`${long} is given twice, and takes one value. Keep one of them`);

/** `flags`: such as `--explain <pool-name>`. */
function missingValue({ long, flags }: Option, found: string): UsageError {
  const value = flags.slice(flags.indexOf('<') + 1, flags.lastIndexOf('>')).replace('-', ' ');
  return new UsageError(`${long} needs a value (${value}), but the option ${found} follows it`);
}

const { optionDescription, visibleCommands, visibleOptions } = new Help();

/** A list of commands has a line for each: its description up to the first `;` or `:`. */
const HELP: Partial<Help> = {
  optionDescription: describeOption,
  visibleOptions(command) {
    return command.parent === null ? [] : visibleOptions.call(this, command);
  },
  visibleCommands(command) {
    return visibleCommands.call(this, command).filter((each) => each.name() !== 'help');
  },
  subcommandTerm: (command) => `${command.name()} ${command.usage().replace('[options]', '').trim()}`.trim(),
  subcommandDescription: (command) => command.description().replace(/[;:].*/s, ''),
};

function describeOption(this: Help, option: Option): string {
  const description = optionDescription.call(this, option);
  return option.mandatory ? `${description} (required)` : description;
}

/** All but newlines and tabs. The ones for the direction of text make it look like another text. */
const CONTROL = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** The beginning of a command to type. A person may type it with npx, or with the path of a clone. */
const HINT = new RegExp(
  `(?<!by )\\b(?:npx )?autoscaler (?=(?:${Object.values(COMMANDS)
    .flatMap((entries) => entries.flatMap(({ examples }) => Object.keys(examples)))
    .join('|')})\\b)`,
  'g',
);

/** They are written as JSON writes them, so a JSON document keeps its meaning. */
function withPlainOutput({ out, err, command, ...rest }: CliEnvironment): CliEnvironment {
  // it was wrapped before, and is longer now
  const typedLine = (line: string): string => {
    const typed = command === undefined ? line : line.replaceAll(HINT, `${command} `);
    return typed === line ? line : wrapLines(typed, rest.columns);
  };
  // a document or a line of a trace stays as it is
  const typed = (text: string) => (text.startsWith('{') ? text : text.split('\n').map(typedLine).join('\n'));
  const { terminal }: { readonly terminal?: NodeJS.WritableStream & { readonly columns?: number } } = rest;
  return {
    ...rest,
    out: (text) => out(typed(plain(text))),
    // sentences only: tables and documents go to the other
    err: (text) => err(wrapLines(typed(plain(text)), terminal?.columns)),
  };
}

function plain(text: string): string {
  return text.replaceAll(CONTROL, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The package.json of this checkout, or of the published package. */
function packageManifest(): { readonly version: string } {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
}

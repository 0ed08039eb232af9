/** `autoscaler trace import`: makes a trace of a table of another system's jobs. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type CliEnvironment,
  type CommandContext,
  UsageError,
} from '../../../../cli/shared/cli-environment.ts';
import { parseTime } from '../../../../cli/shared/option-values.ts';
import { checkWritable, joined, writeWhole } from '../../../../cli/shared/whole-file.ts';
import { parseDuration } from '../../../../lambda/config/schema/durations.ts';
import { type EpochMs, isoTime } from '../../../../lambda/decision/model/brands.ts';
import { percentile } from '../../../../lambda/decision/model/collections.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { some } from '../../../../lambda/explain/format.ts';
import { readLines, shownFile } from '../../trace/file.ts';
import { DURATION_UNITS, ROLES, type Role, readCsv } from '../../trace/logs/csv.ts';
import { importLog } from '../../trace/logs/import.ts';
import { TIME_UNITS } from '../../trace/logs/times.ts';
import { writeTrace } from '../../trace/write.ts';
import { parseTimeZone } from './export.ts';
import { checkSummaryPlace } from './generate.ts';

type ImportOptions = {
  readonly columns: Readonly<Partial<Record<Role, string>>>;
  readonly times: (typeof TIME_UNITS)[number];
  readonly durations: (typeof DURATION_UNITS)[number];
  readonly timezone?: string;
  readonly group?: string;
  readonly tags?: ReadonlyMap<string, Tags>;
  readonly from?: EpochMs;
  readonly to?: EpochMs;
  readonly median?: number;
  readonly name?: string;
  readonly organization: string;
  readonly skipBad: boolean;
  readonly out: string;
  readonly json: boolean;
};

export function addTraceImportCommand(trace: Command, { cliEnvironment }: CommandContext): void {
  trace
    .command('import')
    .description("make a trace of a table (CSV) of another system's jobs, such as a CI or a cluster")
    .argument('<file>', 'table with a header; - for standard input')
    .option('--columns <role=column,…>', `columns: ${ROLES.join(', ')}`, parseColumns, {})
    .addOption(
      new Option('--times <unit>', 'times: dates, or seconds or milliseconds since 1970')
        .choices(TIME_UNITS)
        .default('iso'),
    )
    .addOption(new Option('--durations <unit>', 'unit of durations').choices(DURATION_UNITS).default('s'))
    .option(
      '--timezone <zone>',
      'time zone of hours and weekdays, and of times without a zone',
      parseTimeZone,
    )
    .option('--group <field>', 'column whose value becomes a tag of the same name')
    .option('--tags <group:tag=value,…>', 'tags of a group instead; repeat for each group to keep', addTags)
    .option('--from <time>', 'start of the period, such as 2026-03-02T00:00:00Z', parseTime)
    .option('--to <time>', 'end of the period', parseTime)
    .option('--median <duration>', 'scale all durations to this median, such as 60s', parseMedian)
    .option('--name <name>', "name of the trace (default: the file's)")
    .option('--organization <name>', 'coderd organization of the jobs', 'default')
    .option('--skip-bad', 'skip invalid lines and count them', false)
    .option('--out <file>', 'output file; - for standard output', '-')
    .option('--json', 'print the summary as one JSON document', false)
    .action((file: string, options: ImportOptions) => importTrace(file, options, cliEnvironment));
}

function importTrace(file: string, options: ImportOptions, { out, err }: CliEnvironment): void {
  checkSummaryPlace(options);
  checkOptions(options);
  if (options.out !== '-') checkWritable(options.out, [file]);
  const known = { ...options, file: shownFile(file) };
  const log = readCsv(readLines(file), { ...known, isScaled: options.median !== undefined });
  const { trace, skipped, remarks } = importLog(log, known);
  for (const remark of remarks) err(`${shownFile(file)}: warning: ${remark}\n`);
  if (options.out === '-') for (const text of joined(writeTrace(trace))) out(text);
  else writeWhole(options.out, writeTrace(trace));
  const { name, from, to, jobs } = trace;
  const median = percentile(
    jobs.map(({ seconds }) => seconds).sort((a, b) => a - b),
    0.5,
  );
  const summary = { version: 1, out: options.out, name, from: isoTime(from), to: isoTime(to) };
  if (options.json)
    out(`${JSON.stringify({ ...summary, jobs: jobs.length, medianSeconds: median, skipped }, null, 2)}\n`);
  else
    err(
      `${options.out === '-' ? '' : `wrote ${options.out}: `}${some(jobs.length, 'job')} from ${isoTime(from)} to ${isoTime(to)}, median ${median} s\n`,
    );
}

/** Options that would have no effect are mistakes. Throws UsageError. */
function checkOptions({ tags, group, from, to }: ImportOptions): void {
  if (tags !== undefined && group === undefined)
    throw new UsageError('--tags needs --group FIELD: the field that has the groups');
  if (from !== undefined && to !== undefined && from >= to)
    throw new UsageError(`--from ${isoTime(from)} is not before --to ${isoTime(to)}`);
}

/** Throws InvalidArgumentError; commander adds the option's name. */
function parseColumns(text: string, before: ImportOptions['columns']): ImportOptions['columns'] {
  const pairs = text.split(',').map((part) => {
    const [, name, column] = /^(\w+)=(.+)$/.exec(part) ?? [];
    const role = ROLES.find((each) => each === name);
    if (role !== undefined && column !== undefined) return [role, column] as const;
    throw new InvalidArgumentError(
      `Write what a column has, and its name, such as submitted=created_at. Known: ${ROLES.join(', ')}.`,
    );
  });
  return { ...before, ...Object.fromEntries(pairs) };
}

/** Throws InvalidArgumentError; commander adds the option's name. */
function addTags(text: string, before: ReadonlyMap<string, Tags> = new Map()): ReadonlyMap<string, Tags> {
  const colon = text.lastIndexOf(':');
  const pairs = text
    .slice(colon + 1)
    .split(',')
    .filter((part) => part !== '');
  const tags = pairs.map((part) => part.split('='));
  if (colon < 0 || tags.some(({ length }) => length !== 2))
    throw new InvalidArgumentError(
      'Write a group and its tags, such as gpu:size=large, or gpu: for no tags.',
    );
  return new Map([...before, [text.slice(0, colon), Object.fromEntries(tags)]]);
}

/** Seconds. Throws InvalidArgumentError; commander adds the option's name. */
function parseMedian(text: string): number {
  const ms = parseDuration(text) ?? 0;
  if (ms > 0) return ms / 1000;
  throw new InvalidArgumentError('Write a number above 0 with its unit, such as 60s or 5m.');
}

/**
 * `autoscaler trace export`: what a live coderd had to build, as a trace. Only reads, and writes
 * down nothing personal.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LONGEST_DAYS } from '../../backtest/trace/read.ts';
import { JOB_KINDS, type Trace } from '../../backtest/trace/trace.ts';
import { writeTrace } from '../../backtest/trace/write.ts';
import { timeZoneProblem } from '../../lambda/config/schema/time-zones.ts';
import { makeClients } from '../../lambda/connect.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { isoTime } from '../../lambda/decision/report/waiting.ts';
import { some } from '../../lambda/explain/format.ts';
import { type CliEnvironment, type CommandContext, UsageError } from '../shared/cli-environment.ts';
import { readConfig, withConfigOption } from '../shared/live.ts';
import { parseTime } from '../shared/time-option.ts';
import { checkWritable, writeWhole } from '../shared/whole-file.ts';
import type { Period } from './history.ts';
import { readTraceJobs } from './trace-jobs.ts';

type ExportOptions = {
  readonly config: string;
  readonly from?: EpochMs;
  readonly days: number;
  readonly to?: EpochMs;
  readonly timezone: string;
  readonly out: string;
};

const DAY_MS = 24 * 3_600_000;
/**
 * Nobody's job waits for it: a list of a whole year can take coderd a while, and its rate limit
 * holds for a minute.
 */
const WAITING = { patience: { silentMs: 120_000, retryMs: 90_000 }, wholeMs: 600_000 } as const;

/** `autoscaler trace export` */
export function addTraceExportCommand(trace: Command, { surroundings }: CommandContext): void {
  withConfigOption(trace.command('export'))
    .description("write down what coderd has had to build in the configuration's organizations")
    .addOption(
      new Option('--from <time>', 'the beginning, such as 2026-03-02T00:00:00Z')
        .argParser(parseTime)
        .conflicts('days'),
    )
    .option('--days <number>', 'instead: how many days up to the end', parseDays, 7)
    .option('--to <time>', 'the end (default: now)', parseTime)
    .option('--timezone <zone>', 'by whose clock the hours of the week are told', parseTimeZone, 'UTC')
    .option('--out <file>', 'where to write the trace; - for standard output', 'trace.jsonl')
    .action((options: ExportOptions) => exportTrace(options, surroundings));
}

async function exportTrace(options: ExportOptions, surroundings: CliEnvironment): Promise<void> {
  const { timezone, out } = options;
  const period = periodOf(options, surroundings.now());
  const { config, caBundle } = readConfig(options.config, surroundings);
  if (out !== '-') checkWritable(out, [options.config]);
  const tell = (line: string): void => surroundings.err(`${line}\n`);
  const clients = makeClients(config, caBundle, WAITING);
  try {
    const jobs = await readTraceJobs({ http: clients.coderd, tell }, config, period);
    const trace: Trace = { name: 'history', ...period, timezone, outages: [], startSeconds: undefined, jobs };
    const text = [...writeTrace(trace)].join('');
    if (out === '-') surroundings.out(text);
    else writeWhole(out, text);
    tell(`${out === '-' ? '' : `wrote ${out}: `}${summary(trace)}`);
  } finally {
    await clients.close();
  }
}

function periodOf({ from, days, to }: ExportOptions, now: EpochMs): Period {
  const end = to ?? now;
  const period = { from: from ?? plusMs(end, -days * DAY_MS), to: end };
  if (period.from >= period.to)
    throw new UsageError(`--from ${isoTime(period.from)} is not before the end, ${isoTime(period.to)}`);
  if (period.to - period.from > LONGEST_DAYS * DAY_MS)
    throw new UsageError(
      `--from ${isoTime(period.from)} is more than ${LONGEST_DAYS} days before the end, ${isoTime(period.to)}`,
    );
  return period;
}

function summary({ from, to, jobs }: Trace): string {
  const counts = JOB_KINDS.map((kind) => [kind, jobs.filter((job) => job.kind === kind).length] as const);
  const kinds = counts.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`);
  return `${some(jobs.length, 'job')} from ${isoTime(from)} to ${isoTime(to)} (${kinds.join(', ')})`;
}

/** Throws InvalidArgumentError, which commander tells with the option's name. */
function parseDays(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) > 0 && Number(text) <= LONGEST_DAYS) return Number(text);
  throw new InvalidArgumentError(`Write a whole number of days, 1 to ${LONGEST_DAYS}.`);
}

/** Throws InvalidArgumentError, which commander tells with the option's name. */
function parseTimeZone(text: string): string {
  const problem = timeZoneProblem(text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`It ${problem}.`);
}

/** `autoscaler trace export`: writes the past jobs of a live coderd, without personal data. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { whileWorking } from '../../../../cli/shared/activity.ts';
import { checkAwsSetup } from '../../../../cli/shared/aws-advice.ts';
import {
  type CliEnvironment,
  type CommandContext,
  UsageError,
} from '../../../../cli/shared/cli-environment.ts';
import { readConfig, withConfigOption } from '../../../../cli/shared/live-options.ts';
import { countTo } from '../../../../cli/shared/option-values.ts';
import { time } from '../../../../lambda/adapters/shared/time.ts';
import { timeZoneProblem } from '../../../../lambda/config/schema/names.ts';
import { makeClients } from '../../../../lambda/connect.ts';
import { type EpochMs, isoTime, plusMs } from '../../../../lambda/decision/model/brands.ts';
import { DAY_MS } from '../../../../lambda/decision/model/units.ts';
import { lengthLabel } from '../../report/parts/times.ts';
import { LONGEST_DAYS } from '../../trace/read.ts';
import type { Trace } from '../../trace/trace.ts';
import { checkSummaryPlace, deliver } from './deliver.ts';
import type { Period } from './history.ts';
import { readTraceJobs } from './trace-jobs.ts';
import { checkWritable } from './whole-file.ts';

type ExportOptions = {
  readonly config: string;
  readonly from?: EpochMs;
  readonly days: number;
  readonly to?: EpochMs;
  readonly timezone: string;
  readonly out: string;
  readonly json: boolean;
};

/** No job waits for it. coderd may take a while to list a year, and its rate limit holds for a minute. */
const WAITING = { patience: { silentMs: 120_000, retryMs: 90_000 }, wholeMs: 600_000 } as const;

export function addTraceExportCommand(trace: Command, { cliEnvironment }: CommandContext): void {
  withConfigOption(trace.command('export'))
    .description("write the past jobs of the configuration's organizations to a trace file")
    .addOption(
      new Option('--from <time>', 'start of the period, such as 2026-03-02T00:00:00Z')
        .argParser(parseTime)
        .conflicts('days'),
    )
    .option('--days <number>', 'length of the period in days, instead of --from', countTo(LONGEST_DAYS), 7)
    .option('--to <time>', 'end of the period (default: now)', parseTime)
    .option('--timezone <zone>', 'time zone for hours and weekdays', parseTimeZone, 'UTC')
    .option('--out <file>', 'output file; - for standard output', 'trace.jsonl')
    .option('--json', 'print the summary as one JSON document', false)
    .action((options: ExportOptions) => exportTrace(options, cliEnvironment));
}

async function exportTrace(options: ExportOptions, cliEnvironment: CliEnvironment): Promise<void> {
  const { timezone, out } = options;
  checkSummaryPlace(options);
  const wanted = periodOf(options, cliEnvironment.now());
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  if (out !== '-') checkWritable(out, [options.config]);
  const report = (line: string): void => cliEnvironment.err(`${line}\n`);
  const clients = makeClients(config, caBundle, WAITING);
  try {
    const { period, jobs } = await whileWorking('reading jobs of coderd', cliEnvironment, async (clear) => {
      await checkAwsSetup(clients.ecs);
      const tell = (line: string): void => {
        clear();
        report(line);
      };
      return readTraceJobs({ http: clients.coderd, tell }, config, wanted);
    });
    const trace: Trace = { name: 'history', ...period, timezone, outages: [], startSeconds: undefined, jobs };
    deliver(trace, options, { note: clippedText(trace, wanted) }, cliEnvironment);
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

/** Without jobs before the trace, its time may be shorter than the wanted one. */
function clippedText(trace: Trace, wanted: Period): string {
  const [length, asked] = [trace, wanted].map((period) => lengthLabel({ trace: period }));
  return length === asked ? '' : `; ${length} of builds in ${asked}: coderd has no earlier job`;
}

/** Throws InvalidArgumentError; commander adds the option's name. */
function parseTimeZone(text: string): string {
  const problem = timeZoneProblem(text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`It ${problem}.`);
}

function parseTime(text: string): EpochMs {
  const result = time.safeParse(text);
  if (result.success) return result.data;
  throw new InvalidArgumentError(
    'Write a time with its zone: 2026-03-02T08:58:00Z or 2026-03-02T09:58:00+01:00.',
  );
}

/** `autoscaler backtest --before`: what a change of the configuration does to cost and waits. */
import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CliEnvironment, InputError, UsageError } from '../../../../cli/shared/cli-environment.ts';
import { readConfig } from '../../../../cli/shared/live-options.ts';
import { countTo } from '../../../../cli/shared/option-values.ts';
import type { Deployment } from '../../../../lambda/config/rules/deployment.ts';
import { meanOf } from '../../../../lambda/decision/model/collections.ts';
import { changeOf } from '../../change/change.ts';
import { checkWritable, writeWhole } from '../trace/whole-file.ts';
import { cautionsOf } from './cautions.ts';
import { changeDocument, changeText, isCrossed, type Limits, markdownOf } from './change-screen.ts';
import { onThreads } from './progress.ts';
import { readSubjects, type Subject, type SubjectOptions } from './subject.ts';

export type ChangeOptions = Limits & { readonly before?: string; readonly seeds?: number };

type Options = ChangeOptions &
  SubjectOptions & {
    readonly before: string;
    readonly out?: string;
    readonly json: boolean;
    readonly region: string;
    readonly workers: number;
  };

/** They choose among other policies and prices, which a comparison of two configurations does not play. */
const OTHERS = ['against', 'valueOfMinute', 'priceOfWaiting', 'budget', 'meanWait', 'p95Wait'];
const MOST_SEEDS = 20;
const DEFAULT_SEEDS = 5;

export function withBefore(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--before <file>',
        'show what a change does: this configuration against that of --config; --out writes Markdown',
      ).conflicts(OTHERS),
    )
    .option('--max-cost-increase <percent>', 'exit with 3 if the cost of tasks rises by more', parsePercent)
    .option(
      '--max-wait-increase <percent>',
      'the same for the average and the p95 wait of people: of all, and of each tag set with 20 jobs or more',
      parsePercent,
    )
    .addOption(
      new Option('--fail-on <what>', 'the same for jobs that are lost, or lose their pool').choices([
        'unserved',
      ]),
    )
    .option(
      '--seeds <number>',
      `replays before and after, 1 to ${MOST_SEEDS}: more tell smaller changes from chance (default: ${DEFAULT_SEEDS})`,
      countTo(MOST_SEEDS),
    );
}

/** A share. Throws InvalidArgumentError; commander adds the option's name. */
function parsePercent(text: string): number {
  const [, percent] = /^(\d{1,6}(?:\.\d+)?)%$/.exec(text) ?? [];
  if (percent !== undefined) return Number(percent) / 100;
  throw new InvalidArgumentError('Write a percentage, such as 10%.');
}

/** Throws UsageError for an option that needs `--before`. */
export function checkBefore({
  before,
  maxCostIncrease,
  maxWaitIncrease,
  failOn,
  seeds,
}: ChangeOptions): void {
  if (before !== undefined || (maxCostIncrease ?? maxWaitIncrease ?? failOn ?? seeds) === undefined) return;
  throw new UsageError('--max-cost-increase, --max-wait-increase, --fail-on and --seeds need --before FILE');
}

/** Returns whether a limit is crossed. Throws UsageError, TraceError, ConfigError or InputError. */
export async function showChange(options: Options, cliEnvironment: CliEnvironment): Promise<boolean> {
  const { out: file, json } = options;
  const { columns, out, err } = cliEnvironment;
  const before = readBefore(options.before, cliEnvironment);
  const subjects = readSubjects(options, cliEnvironment);
  const { config: after, configFile } = subjects[0];
  if (file !== undefined) checkWritable(file, [options.before, ...(options.trace ?? []), configFile]);
  for (const subject of subjects)
    for (const caution of cautionsOf(subject)) err(`warning: after the change: ${caution}\n`);
  const seeds = Array.from({ length: options.seeds ?? DEFAULT_SEEDS }, (_, at) => options.seed + at);
  const given = { before, after, seeds, region: options.region };
  const changes = isDeepStrictEqual(before, after)
    ? undefined
    : await onThreads(options.workers, cliEnvironment, ({ workerPool, onProgress }) => {
        const onShare = shareOut(onProgress, subjects.length);
        const play = ({ trace }: Subject, at: number) =>
          changeOf({ ...given, trace, workerPool, onProgress: onShare(at) });
        return Promise.all(subjects.map(play));
      });
  const compared = {
    traces: subjects.map(({ trace }, at) => ({ trace, change: changes?.[at] })),
    ...{ limits: options, region: options.region },
  };
  const markdown = markdownOf(compared);
  const text = columns === undefined ? markdown : changeText(compared, columns);
  out(`${json ? JSON.stringify(changeDocument(compared)) : text}\n`);
  if (file !== undefined) {
    writeWhole(file, `${markdown}\n`);
    err(`wrote ${file}\n`);
  }
  return isCrossed(compared);
}

/** Of several parts that run at once, each with the progress of its own, 0 to 1. */
function shareOut(onProgress: (share: number, doing: string) => void, parts: number) {
  const done = Array.from({ length: parts }, () => 0);
  return (part: number) => (share: number, doing: string) => {
    done[part] = share;
    onProgress(meanOf(done), doing);
  };
}

function readBefore(file: string, cliEnvironment: CliEnvironment): Deployment {
  if (existsSync(file)) return readConfig(file, cliEnvironment).config;
  throw new InputError(
    `${file}: reading the configuration before the change: no such file. "git show main:autoscaler.yaml >before.yaml" writes that of a branch`,
  );
}

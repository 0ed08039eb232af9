/** The options of an override: for how long, by whom, why. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../lambda/config/schema/durations.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Override } from '../../lambda/decision/model/plan.ts';
import { isoTime } from '../../lambda/decision/report/waiting.ts';
import { overrideTextProblem } from '../../lambda/decision/settings/overrides.ts';
import type { CliEnvironment } from './cli-environment.ts';

export type OverrideOptions = {
  /** Milliseconds. */
  readonly for: number;
  readonly why: string;
  readonly by?: string;
};

const SHORTEST_MS = 60_000;
/** What is to last longer is a decision about the configuration. */
const LONGEST_MS = 30 * 24 * 3_600_000;

/** Adds `--for`, `--why` and `--by`. */
export function withOverrideOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--for <duration>', 'how long it holds: 1m to 720h')
        .argParser(parseLength)
        .default(3_600_000, '1h'),
    )
    .requiredOption('--why <text>', 'the reason, for whoever sees it', parseText)
    .option('--by <name>', 'who wants it (default: USER)', parseText);
}

/** When it ends, and who wants it why, as the tags hold it. */
export function detailsOf(
  { for: lengthMs, why, by }: OverrideOptions,
  { environment, now }: CliEnvironment,
): Pick<Override, 'until' | 'by' | 'why'> {
  return { until: untilOf(now(), lengthMs), why, by: by ?? fitted(environment.USER ?? environment.USERNAME) };
}

function untilOf(now: EpochMs, lengthMs: number): string {
  return isoTime(now + lengthMs);
}

/** A name of the machine's as far as a tag can hold it. */
function fitted(name = ''): string {
  const kept = [...name].map((character) => (overrideTextProblem(character) === undefined ? character : '-'));
  return kept.join('').slice(0, 100) || 'somebody';
}

/** Throws InvalidArgumentError, which commander tells with the option's name. */
function parseLength(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError('Write a whole number and its unit, s, m or h: 90m, 8h.');
  if (ms < SHORTEST_MS || ms > LONGEST_MS)
    throw new InvalidArgumentError(
      'Allowed: 1m to 720h (30 days); what is to last longer belongs into the configuration.',
    );
  return ms;
}

function parseText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty: whoever sees it has to know.');
  const problem = overrideTextProblem(text);
  if (problem !== undefined) throw new InvalidArgumentError(`It becomes a tag of AWS, but ${problem}.`);
  return text;
}

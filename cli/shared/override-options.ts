/** Options of the commands that set an override: duration, author and reason. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../lambda/config/schema/durations.ts';
import { type EpochMs, isoTime } from '../../lambda/decision/model/brands.ts';
import type { Override } from '../../lambda/decision/model/plan.ts';
import { overrideTextProblem } from '../../lambda/decision/settings/overrides.ts';
import type { CliEnvironment } from './cli-environment.ts';
import { type LiveOptions, withJsonOption, withLiveOptions } from './live-options.ts';

export type TargetOptions = LiveOptions & { readonly json: boolean };

export type OverrideOptions = {
  /** Milliseconds. */
  readonly for: number;
  readonly why: string;
  readonly by?: string;
};

const SHORTEST_MS = 60_000;
/** Longer changes belong into the configuration. */
const LONGEST_MS = 30 * 24 * 3_600_000;

/** Adds `--config`, `--cluster` and `--json`. */
export function withTargetOptions(command: Command): Command {
  return withJsonOption(withLiveOptions(command), 'the change');
}

/** Adds `--for`, `--why` and `--by`. */
export function withOverrideOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--for <duration>', 'duration of the override: 1m to 720h')
        .argParser(parseLength)
        .default(3_600_000, '1h'),
    )
    .requiredOption('--why <text>', 'the reason, shown to everyone', parseText)
    .option('--by <name>', 'who sets the override (default: USER)', parseText);
}

/** End, author and reason of the override, as its tags have them. */
export function detailsOf(
  { for: lengthMs, why, by }: OverrideOptions,
  { environment, now }: CliEnvironment,
): Pick<Override, 'until' | 'by' | 'why'> {
  return {
    until: untilOf(now(), lengthMs),
    why,
    by: by ?? tagName(environment.USER ?? environment.USERNAME),
  };
}

function untilOf(now: EpochMs, lengthMs: number): string {
  return isoTime(now + lengthMs);
}

/** The user's name, with `-` for characters that a tag does not allow. */
function tagName(name = ''): string {
  const kept = [...name].map((character) => (overrideTextProblem(character) === undefined ? character : '-'));
  return kept.join('').slice(0, 100) || 'somebody';
}

/** Throws InvalidArgumentError; commander adds the option's name. */
function parseLength(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError('Write a whole number and its unit, s, m or h: 90m, 8h.');
  if (ms < SHORTEST_MS || ms > LONGEST_MS)
    throw new InvalidArgumentError(
      'Allowed: 1m to 720h (30 days). Put longer changes into the configuration.',
    );
  return ms;
}

function parseText(text: string): string {
  if (text.trim() === '')
    throw new InvalidArgumentError('It is empty. Write a text that everyone understands.');
  const problem = overrideTextProblem(text);
  if (problem !== undefined) throw new InvalidArgumentError(`It becomes an AWS tag, but ${problem}.`);
  return text;
}

/** The options of `backtest`. Parsers throw InvalidArgumentError. */
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { countTo } from '../../../../cli/shared/option-values.ts';
import { BASELINES } from '../../policies/index.ts';
import { priceDate } from '../../replay/prices.ts';
import { MOST_DAYS } from '../trace/generate.ts';

/** Ids of policies in `BASELINES`. */
export function parseAgainst(text: string): readonly string[] {
  const known = BASELINES.map(({ id }) => id);
  if (text === 'all') return known;
  if (text === 'none') return [];
  const ids = text.split(',').map((id) => id.trim());
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return ids;
  throw new InvalidArgumentError(
    `There is no policy "${unknown}". Write all, none, or some of ${known.join(',')}.`,
  );
}

/** Dollars. */
export function parseValue(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a number of dollars, 0 or more, such as 0.75.');
}

function parseRegion(text: string): string {
  try {
    priceDate(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

const MOST_WORKERS = 64;

/** Adds `--trace`, `--scenario` and `--days`. */
export function withTraceOptions(command: Command): Command {
  return command
    .option(
      '--trace <file...>',
      'trace file, as written by autoscaler trace; - for standard input (required without --scenario). --before takes several',
    )
    .option(
      '--scenario <name>',
      'a fictional deployment with its own configuration (required without --trace)',
    )
    .option('--days <number>', 'days of the scenario (default: 7)', countTo(MOST_DAYS));
}

/** Adds `--workers`, `--region` and `--skip-bad`. */
export function withRunOptions(command: Command): Command {
  return command
    .option(
      '--workers <number>',
      'number of threads; does not change the figures',
      countTo(MOST_WORKERS),
      availableParallelism(),
    )
    .option('--region <name>', 'AWS Region of the Fargate prices', parseRegion, 'us-east-1')
    .option('--skip-bad', 'skip invalid lines of the trace and count them', false);
}

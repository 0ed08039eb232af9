/**
 * `autoscaler cold-cache`: what empty provider caches cost, from the stages of past builds. It only
 * reads coderd, on demand and at a limited rate.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { makeClients } from '../../lambda/connect.ts';
import { whileWorking } from '../shared/activity.ts';
import { checkAwsSetup } from '../shared/aws-advice.ts';
import type { CliEnvironment, CommandContext } from '../shared/cli-environment.ts';
import { readConfig, withConfigOption, withJsonOption } from '../shared/live-options.ts';
import { coldCacheDocument } from './document.ts';
import { readReport } from './read-report.ts';
import { coldCacheScreen } from './screen.ts';

type ColdCacheOptions = {
  readonly config: string;
  readonly days: number;
  readonly sample: number;
  readonly rate: number;
  readonly json: boolean;
};

/** coderd keeps the rows of daemons for so long, and without them no task is known. */
const MOST_DAYS = 7;
/** Longer than in a look, because no job waits for it. coderd's rate limit holds for a minute. */
const WAITING = { patience: { silentMs: 60_000, retryMs: 90_000 }, wholeMs: 600_000 } as const;

/** `autoscaler cold-cache` */
export function addColdCacheCommand(program: Command, { cliEnvironment }: CommandContext): void {
  const command = withConfigOption(program.command('cold-cache'))
    .description('estimate what empty provider caches cost: the first build of a task against later ones')
    .option('--days <number>', 'how far back, 1 to 7', between(1, MOST_DAYS), MOST_DAYS)
    .option('--sample <number>', 'the most builds to time, of each kind and template', between(8, 500), 100)
    .option('--rate <number>', 'requests to coderd a second', between(1, 50), 10);
  withJsonOption(command, 'the figures').action((options: ColdCacheOptions) =>
    reportColdCache(options, cliEnvironment),
  );
}

async function reportColdCache(options: ColdCacheOptions, cliEnvironment: CliEnvironment): Promise<void> {
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  const clients = makeClients(config, caBundle, WAITING);
  try {
    const report = await whileWorking('reading builds of coderd', cliEnvironment, async (clear) => {
      await checkAwsSetup(clients.ecs);
      const tell = (line: string): void => {
        clear();
        cliEnvironment.err(`${line}\n`);
      };
      const reader = { http: clients.coderd, pace: { perSecond: options.rate }, tell };
      return readReport(reader, config.pools, { ...options, now: cliEnvironment.now() });
    });
    const json = (): string => JSON.stringify(coldCacheDocument(report), null, 2);
    cliEnvironment.out(`${options.json ? json() : coldCacheScreen(report, cliEnvironment.columns)}\n`);
  } finally {
    await clients.close();
  }
}

/** Throws InvalidArgumentError; commander adds the option's name. */
function between(least: number, most: number) {
  return (text: string): number => {
    const number = Number(text);
    if (/^\d{1,4}$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Write a whole number, ${least} to ${most}.`);
  };
}

/** `autoscaler prove`: tries the assumptions about AWS on the person's own account, in one pool. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { Command } from 'commander';
import { loadConfig } from '../../lambda/config/load.ts';
import { makeClients } from '../../lambda/connect.ts';
import { isoTime } from '../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { dollarsOf, VIRGINIA } from '../../lambda/decision/settings/prices.ts';
import { timeText } from '../../lambda/explain/format.ts';
import { readTemplateTags } from '../adapters/templates.ts';
import { PATIENT } from '../shared/aws-advice.ts';
import {
  type CliEnvironment,
  type CommandContext,
  InputError,
  UsageError,
} from '../shared/cli-environment.ts';
import { lookLive, withTokenOfShell } from '../shared/live.ts';
import { type LiveOptions, repeated, withLiveOptions } from '../shared/live-options.ts';
import { wrapLines } from '../shared/plain-table.ts';
import { clusterOf } from '../shared/stack-cluster.ts';
import { PAUSE_MS } from './experiment.ts';
import { findPlace, type Place } from './preflight.ts';
import { rowsOf, rowsText } from './rows.ts';
import { type Tried, tryOut } from './run.ts';

type ProveOptions = LiveOptions & { readonly yes: boolean; readonly out?: string };

export function addProveCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withLiveOptions(program.command('prove'))
    .description(
      'try what is assumed of AWS on your account: ten minutes and some cents, in a pool of its own',
    )
    .argument('<pool>', 'a pool with a tag that no template has')
    .option('--yes', 'do not ask', false)
    .option('--out <file>', 'write the results as JSON, without secrets, for a report')
    .action(async (pool: string, options: ProveOptions) =>
      exitWith(await prove(pool, options, cliEnvironment)),
    );
}

/** Returns the exit code: 1 if an assumption is wrong, or if the experiment or its undoing did not end. */
async function prove(name: string, options: ProveOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const { config, caBundle } = loadConfig(options.config);
  if (!options.yes && cliEnvironment.ask === undefined)
    throw new UsageError(
      'it changes a pool, and no terminal can answer. Add --yes to start without a question',
    );
  const { out } = options;
  const cluster = await clusterOf(options, cliEnvironment, config);
  const clients = makeClients(config, caBundle);
  const coderd = withTokenOfShell(clients.coderd, cliEnvironment);
  const logs = new CloudWatchLogsClient({ requestHandler: PATIENT });
  const resume = ['autoscaler', 'resume', name, ...repeated(options)].join(' ');
  const find = async (): Promise<Place> => {
    const { snapshot } = await lookLive({ ...options, cluster }, cliEnvironment);
    const templates = await readTemplateTags(coderd, AbortSignal.timeout(TEMPLATES_MS));
    return findPlace(name, { config, snapshot, templates });
  };
  try {
    if (!(await isWanted((await find()).pool, options, cliEnvironment))) return 0;
    if (out !== undefined) save(out, () => appendFileSync(out, ''));
    // somebody may have pushed a template meanwhile
    const servers = { client: clients.ecs, coderd, logs, cluster, resume };
    return print(await tryOut(await find(), servers, cliEnvironment), options, cliEnvironment);
  } finally {
    logs.destroy();
    await clients.close();
  }
}

const TEMPLATES_MS = 30_000;
const TASK_HOURS = 2 / 6;

async function isWanted(
  pool: PoolConfig,
  { yes }: ProveOptions,
  { err, ask, now }: CliEnvironment,
): Promise<boolean> {
  const dollars = dollarsOf(pool, VIRGINIA) * TASK_HOURS + 2 * pool.dollarsPerLaunch;
  const ends = timeText(isoTime(now() + PAUSE_MS));
  err(`This tries what the autoscaler assumes of AWS, in pool "${pool.name}".
  It pauses the pool, starts two tasks, pushes a template version whose import sleeps, lowers the
  desired count, and sends drain requests. Afterwards, or if you stop it, it undoes all that.
  It takes about 10 minutes and costs about $${dollars.toFixed(2)}.
  If it is killed, the pause ends at ${ends}, and the autoscaler takes the tasks away.
  coderd keeps the template version, which belongs to no template. No workspace can use it.
`);
  if (yes || /^y(?:es)?$/i.test((await ask?.('Start? [y/N] ')) ?? '')) return true;
  err('Nothing was changed\n');
  return false;
}

function print(
  { found, stopped, left }: Tried,
  { out: file }: ProveOptions,
  { out, columns, now }: CliEnvironment,
): number {
  const rows = rowsOf(found, stopped);
  const undone =
    'Undone: the pause, the desired count and the build. autoscaler status shows whether its tasks have gone';
  const ending = left.length === 0 ? undone : ['Not undone:', ...left].join('\n  ');
  out(`${wrapLines(`${rowsText(rows)}\n${ending}`, columns)}\n`);
  const document = { version: 1, at: isoTime(now()), rows, stopped: stopped ?? null, left };
  // errors of AWS name the account
  const text = JSON.stringify(document, null, 2).replaceAll(/(?<!\d)\d{12}(?!\d)/g, 'ACCOUNT');
  if (file !== undefined) save(file, () => writeFileSync(file, `${text}\n`));
  return stopped !== undefined || left.length > 0 || rows.some(({ result }) => result === 'not') ? 1 : 0;
}

/** Throws InputError. */
function save(file: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    throw new InputError(`writing ${file}: ${messageOf(cause)}. Give another file with --out`, { cause });
  }
}

/** `autoscaler prove`: tries the assumptions about AWS on the person's own account, in one pool. */
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { Command } from 'commander';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { loadConfig } from '../../lambda/config/load.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { makeClients } from '../../lambda/connect.ts';
import { isoTime } from '../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { dollarsOf, VIRGINIA } from '../../lambda/decision/settings/prices.ts';
import { timeText } from '../../lambda/explain/format.ts';
import { tryWriting, writeFileWhole } from '../../lambda/shared/whole-file.ts';
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
import { shellLine } from '../shared/shell-words.ts';
import { clusterOf } from '../shared/stack-cluster.ts';
import { Bench } from './bench/bench.ts';
import { findPlace, type Place } from './bench/preflight.ts';
import { type Row, rowsOf, rowsText } from './bench/rows.ts';
import { type PoolTasks, readPoolTasks } from './bench/tasks.ts';
import { experiment } from './experiment.ts';
import { PAUSE_MS } from './steps/start.ts';

/** Not measured is not ok. */
const UNMEASURED = 3;

type ProveOptions = LiveOptions & { readonly yes: boolean; readonly out?: string };

export function addProveCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withLiveOptions(program.command('prove'))
    .description(
      'try what is assumed of AWS on your account, in a pool of its own: 15 to 20 minutes, some cents',
    )
    .argument('<pool>', 'a pool with a tag that no template has')
    .option('--yes', 'do not ask', false)
    .option('--out <file>', 'write the results as JSON, without secrets, for a report')
    .action(async (pool: string, options: ProveOptions) =>
      exitWith(await prove(pool, options, cliEnvironment)),
    );
}

/**
 * Returns the exit code: 1 if an assumption is wrong, or if the experiment or its undoing did not end; 3 if a row
 * was not measured.
 */
async function prove(name: string, options: ProveOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const { config, caBundle } = loadConfig(options.config);
  const { out: file } = options;
  if (!options.yes && cliEnvironment.ask === undefined)
    throw new UsageError('prove changes a pool, and cannot ask here. Add --yes to start without a question');
  const cluster = await clusterOf(options, cliEnvironment, config);
  const { ecs: client, close, ...clients } = makeClients(config, caBundle);
  const coderd = withTokenOfShell(clients.coderd, cliEnvironment);
  const logs = new CloudWatchLogsClient({ requestHandler: PATIENT });
  const find = async (): Promise<Place> => {
    const { snapshot } = await lookLive({ ...options, cluster }, cliEnvironment);
    const templates = await readTemplateTags(coderd, AbortSignal.timeout(30_000));
    return findPlace(name, config, snapshot, templates);
  };
  try {
    if (!(await isWanted((await find()).pool, options.yes, cliEnvironment))) return 0;
    if (file !== undefined) save(file, () => tryWriting(file));
    const resume = shellLine(['autoscaler', 'resume', name, ...repeated(options)]);
    // somebody may have pushed a template meanwhile
    const servers = { client, coderd, logs, resume, ecs: new EcsAdapter(client, cluster) };
    const place = await find();
    const tasks = await readPoolTasks(client, place);
    const bench = new Bench({ ...place, ...servers, ...tasks }, cliEnvironment);
    return report({ ...(await bench.run(experiment)), ...tasks, config }, options, cliEnvironment);
  } finally {
    logs.destroy();
    await close();
  }
}

async function isWanted(pool: PoolConfig, yes: boolean, { err, ask, now }: CliEnvironment) {
  // two tasks, 20 minutes each
  const dollars = (2 * dollarsOf(pool, VIRGINIA)) / 3 + 2 * pool.dollarsPerLaunch;
  const ends = timeText(isoTime(now() + PAUSE_MS));
  err(`This tries what the autoscaler assumes of AWS, in pool "${pool.name}".
  It pauses the pool and starts two tasks. A build that sleeps runs in one of them: the import of a template version.
  It lowers the desired count, sends drain requests, and starts a rolling deployment, which ends with the tasks.
  At the end it undoes all that, also after an error or Ctrl-C.
  It takes 15 to 20 minutes and costs about $${dollars.toFixed(2)}.
  If it is killed, the pause ends at ${ends}, and the autoscaler then removes the tasks.
  coderd keeps the template version, which belongs to no template. No workspace can use it.
`);
  if (yes || /^y(?:es)?$/i.test((await ask?.('Start? [y/N] ')) ?? '')) return true;
  err('Nothing was changed\n');
  return false;
}

type Tried = Awaited<ReturnType<Bench['run']>> & PoolTasks & { readonly config: Deployment };

function report(
  { found, stopped, left, isBound, config }: Tried,
  { out: file }: ProveOptions,
  terminal: CliEnvironment,
) {
  const rows = rowsOf({ found, stopped, isBound });
  const undone = 'All changes are undone. autoscaler status shows whether its tasks have gone';
  const ending = left.length === 0 ? undone : ['Not undone:', ...left].join('\n  ');
  const text = [rowsText(rows), ...bindingAdvice(rows, config), ending].join('\n');
  terminal.out(`${wrapLines(text, terminal.columns)}\n`);
  const document = { version: 1, at: isoTime(terminal.now()), rows, stopped: stopped ?? null, left };
  // errors of AWS name the account
  const json = JSON.stringify(document, null, 2).replaceAll(/(?<!\d)\d{12}(?!\d)/g, 'ACCOUNT');
  if (file !== undefined) save(file, () => writeFileWhole(file, `${json}\n`));
  const has = (wanted: string): boolean => rows.some(({ result }) => result === wanted);
  if (stopped !== undefined || left.length > 0 || has('not')) return 1;
  return has('not measured') ? UNMEASURED : 0;
}

/** How to turn `bindTaskRoles` on, if it is worth it and AWS accepts it, or how to know. */
function bindingAdvice(rows: readonly Row[], { aws, pools }: Deployment): readonly string[] {
  if (aws.bindTaskRoles !== undefined || pools.length < 2) return [];
  const row = rows.find(({ id }) => id === 'bound-role');
  if (row?.result === 'ok')
    return [
      'AWS accepts bound task roles. To bind those of all pools, write aws: { bindTaskRoles: true } and deploy',
    ];
  if (row !== undefined) return [];
  return [
    'Bound task roles (aws.bindTaskRoles) were not tried. To try them, write bindTaskRole: true in this pool, deploy, and run this again',
  ];
}

/** Throws InputError. */
function save(file: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    throw new InputError(`writing ${file}: ${messageOf(cause)}. Give another file with --out`, { cause });
  }
}

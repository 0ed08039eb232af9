import { type Command, InvalidArgumentError } from 'commander';
import { deliberate } from '../../lambda/decision/decide.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { LookMemory } from '../../lambda/look/look-memory.ts';
import { tryWriting, writeFileWhole } from '../../lambda/shared/whole-file.ts';
import { whileWorking } from '../shared/activity.ts';
import {
  type CliEnvironment,
  type CommandContext,
  InputError,
  UsageError,
} from '../shared/cli-environment.ts';
import { lookLive, unreadLists } from '../shared/live.ts';
import { type LiveOptions, readConfig, withLiveOptions } from '../shared/live-options.ts';
import { clusterOf } from '../shared/stack-cluster.ts';
import { frameOf, type Watched } from './frame.ts';
import { serveWatch, type WatchServer } from './server.ts';
import { stillPage } from './still.ts';
import { WatchedLog, type WatchedLogOptions } from './watched-log.ts';

type WatchOptions = LiveOptions & { readonly port: number };
type CommandOptions = WatchOptions & { readonly out?: string; readonly names?: true };

/** A look reads coderd and AWS, so more would cost the function's own share of requests. */
const EVERY_MS = 10_000;

/** `autoscaler watch`: runs until Ctrl-C; with `--out` it ends once it has written the file. */
export function addWatchCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withLiveOptions(program.command('watch'))
    .description('show pools, tasks, jobs and the last day on a page of your browser; changes nothing')
    .option('--port <number>', 'port on 127.0.0.1; 0: any free one', parsePort, 8790)
    .option('--out <file>', 'write the page as it is now into one file without script, and end')
    .option('--names', 'with --out: name owners, workspaces and authors of overrides')
    .addHelpText(
      'after',
      "\nOpening the page runs one query of Logs Insights on the last day of the function's log.\nAWS charges $0.005 for each GB that it reads.",
    )
    .action(async (options: CommandOptions) => {
      if (options.out !== undefined)
        return exitWith(await writeStill({ ...options, out: options.out }, cliEnvironment));
      if (options.names)
        throw new UsageError('--names belongs to --out FILE: the page of a browser has names');
      const server = await watch(options, cliEnvironment);
      const every = `a look every ${EVERY_MS / 1000} s`;
      cliEnvironment.out(`${server.url} shows this deployment, ${every}. Ctrl-C ends it\n`);
      await new Promise<void>((resolve) => cliEnvironment.onInterrupt?.(resolve));
      await server.close();
    });
}

/** Throws InputError if the port is taken. */
export async function watch(
  options: WatchOptions,
  cliEnvironment: CliEnvironment,
  everyMs = EVERY_MS,
): Promise<WatchServer> {
  const located = await locate(options, cliEnvironment);
  const kept = keep(cliEnvironment);
  // the page shows what is wrong: warnings about the file and about lists are no news every ten seconds
  const quiet = { ...cliEnvironment, err: () => {} };
  const look = async () => frameOf(await lookAt(located, quiet, kept));
  return serveWatch({ ...options, everyMs, look }).catch((cause) => {
    const why = `serving the page on port ${options.port}: ${messageOf(cause)}`;
    throw new InputError(`${why}. Give another with --port`, { cause });
  });
}

/** Before a page opens: a look would fail, or ask for the cluster again, each ten seconds. */
async function locate(options: WatchOptions, cliEnvironment: CliEnvironment): Promise<WatchOptions> {
  const { config } = readConfig(options.config, cliEnvironment);
  return { ...options, cluster: await clusterOf(options, cliEnvironment, config) };
}

/** The file is whole, or not written. The exit code is 1 if a list could not be read. Throws InputError. */
async function writeStill(
  { out, names, ...options }: CommandOptions & { readonly out: string },
  cliEnvironment: CliEnvironment,
): Promise<number> {
  const areNamed = names === true;
  const inFile = (write: () => void): void => {
    try {
      write();
    } catch (cause) {
      throw new InputError(`writing the page: ${messageOf(cause)}. Give another file with --out`, { cause });
    }
  };
  inFile(() => tryWriting(out));
  const kept = keep(cliEnvironment);
  const located = await locate(options, cliEnvironment);
  const watched = await lookAt(located, cliEnvironment, kept);
  await whileWorking('reading the last day', cliEnvironment, () => kept.log.dayIsRead());
  const { snapshot, deliberation, log } = watched;
  const frame = frameOf({ ...watched, note: kept.log.note });
  const page = stillPage({ frame, plan: deliberation.plan, lastLook: log.lastLook, areNamed });
  inFile(() => writeFileWhole(out, page));
  const people = areNamed ? 'with the names of owners' : 'without names of people';
  cliEnvironment.out(`wrote ${out}: one file without script, ${people}\n`);
  return unreadLists(snapshot).length > 0 ? 1 : 0;
}

/** `memory`: a mismatch of two lists is told once looks have seen it for as long as the function waits too. */
type Kept = { readonly log: WatchedLog; readonly memory: LookMemory };

const keep = (options: WatchedLogOptions): Kept => ({
  log: new WatchedLog(options),
  memory: new LookMemory(),
});

async function lookAt(
  options: LiveOptions,
  cliEnvironment: CliEnvironment,
  { log, memory }: Kept,
): Promise<Watched> {
  const { snapshot: seen, config } = await lookLive(options, cliEnvironment);
  const snapshot = { ...seen, remembered: memory.recall(seen.takenAt) };
  const { changes, history, note, lastLook } = await log.read(snapshot, config, cliEnvironment.now());
  const unread = { kind: 'unknown', why: 'the page does not show it' } as const;
  const deliberation = deliberate(snapshot, config);
  const { mismatches, heartbeats, memories: pools } = deliberation;
  memory.add({ now: snapshot.takenAt, mismatches, heartbeats, pools, refused: [] });
  return { snapshot, deliberation, config, changes, history, note, log: { lastLook, waits: unread } };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== '') return port;
  throw new InvalidArgumentError('it must be a whole number from 0 to 65535');
}

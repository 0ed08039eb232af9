import { type Command, InvalidArgumentError } from 'commander';
import { deliberate } from '../../lambda/decision/decide.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { LookMemory } from '../../lambda/look/look-memory.ts';
import { type CliEnvironment, type CommandContext, InputError } from '../shared/cli-environment.ts';
import { lookLive } from '../shared/live.ts';
import { type LiveOptions, readConfig, withLiveOptions } from '../shared/live-options.ts';
import { clusterOf } from '../shared/stack-cluster.ts';
import { frameOf, type WatchFrame } from './frame.ts';
import { serveWatch, type WatchServer } from './server.ts';
import { WatchedLog } from './watched-log.ts';

type WatchOptions = LiveOptions & { readonly port: number };

/** A look reads coderd and AWS, so more would cost the function's own share of requests. */
const EVERY_MS = 10_000;

/** `autoscaler watch`: runs until Ctrl-C. */
export function addWatchCommand(program: Command, { cliEnvironment }: CommandContext): void {
  withLiveOptions(program.command('watch'))
    .description('show pools, tasks and jobs on a page of your browser; changes nothing')
    .option('--port <number>', 'port on 127.0.0.1; 0: any free one', parsePort, 8790)
    .action(async (options: WatchOptions) => {
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
  // before a page opens: a look would fail, or ask for the cluster again, each ten seconds
  const { config } = readConfig(options.config, cliEnvironment);
  const located = { ...options, cluster: await clusterOf(options, cliEnvironment, config) };
  const kept = { log: new WatchedLog(cliEnvironment), memory: new LookMemory() };
  const look = () => lookAt(located, cliEnvironment, kept);
  return serveWatch({ ...options, everyMs, look }).catch((cause) => {
    const why = `serving the page on port ${options.port}: ${messageOf(cause)}`;
    throw new InputError(`${why}. Give another with --port`, { cause });
  });
}

/** `memory`: a mismatch of two lists is told once looks have seen it for as long as the function waits too. */
type Kept = { readonly log: WatchedLog; readonly memory: LookMemory };

async function lookAt(
  options: LiveOptions,
  cliEnvironment: CliEnvironment,
  { log, memory }: Kept,
): Promise<WatchFrame> {
  // the page shows what is wrong: warnings about the file and about lists are no news every ten seconds
  const { snapshot: seen, config } = await lookLive(options, { ...cliEnvironment, err: () => {} });
  const snapshot = { ...seen, remembered: memory.recall(seen.takenAt) };
  const { changes, history, note, lastLook } = await log.read(snapshot, config, cliEnvironment.now());
  const unread = { kind: 'unknown', why: 'the page does not show it' } as const;
  const deliberation = deliberate(snapshot, config);
  const { mismatches, heartbeats, memories: pools } = deliberation;
  memory.add({ now: snapshot.takenAt, mismatches, heartbeats, pools, refused: [] });
  return frameOf({
    snapshot,
    deliberation,
    config,
    changes,
    history,
    note,
    log: { lastLook, waits: unread },
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== '') return port;
  throw new InvalidArgumentError('it must be a whole number from 0 to 65535');
}

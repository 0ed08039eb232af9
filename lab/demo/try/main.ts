/**
 * `npm run try`: coderd, ECS and the real function keep running until Ctrl-C, for commands in a
 * second terminal. Time is real; only tasks start faster than on Fargate.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { runningTry } from '../../../cli/shared/running-try.ts';
import { cloneCommand, quoted } from '../../../cli/shared/shell-words.ts';
import type { WatchServer } from '../../../cli/watch/server.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { some } from '../../../lambda/explain/format.ts';
import { wholeNumber } from '../../world/base/whole-number.ts';
import { WRONG_ECS, type WrongEcs } from '../../world/ecs/protection.ts';
import { exportLines } from '../function/environment.ts';
import { openPage } from '../function/page.ts';
import { changeEvent, eventText, paintFor, type ScreenEvent } from '../screen/event.ts';
import { FolderError, type RunningTry, startBeforeSetup, startDeployment } from './deployment.ts';

/** Where the commands of a clone find it by themselves. */
const FOUND = join('dist', 'try');
const MOST_HOURS = 24;
const PARENT_CHECK_MS = 500;
const WATCH_EVERY_MS = 2_000;
const COMMANDS = ['status', 'plan --explain default', 'pin gpu 5 --for 10m --why "a demonstration"'];
const SETUP_COMMANDS = ['setup --print', 'setup'];

type TryOptions = {
  readonly out: string;
  readonly hours: number;
  readonly seed: number;
  readonly beforeSetup: boolean;
  readonly prove?: WrongEcs | 'right';
};

const program = new Command('try')
  .description('keep an embedded coderd and ECS running for the autoscaler command, until Ctrl-C')
  .option('--out <folder>', 'folder for the configuration and the environment', FOUND)
  .option('--hours <number>', `hours of builds before the start, at most ${MOST_HOURS}`, parseHours, 2)
  .option('--before-setup', 'nothing is deployed yet, to try autoscaler setup', false)
  .addOption(
    new Option('--prove [wrong]', 'add a pool for autoscaler prove, in an ECS that does this wrong')
      .choices(['right', ...WRONG_ECS])
      .preset('right'),
  )
  .option('--seed <number>', 'seed of the random builds', wholeNumber, 1)
  .parse();
const { out, hours, seed, beforeSetup, prove } = program.opts<TryOptions>();

const stream = process.stdout;
const paint = paintFor(stream);
const say = (line: string): void => void stream.write(`${line}\n`);
const show = (event: ScreenEvent): void => {
  const time = new Date().toISOString().slice(11, 19);
  say(eventText({ time, event, paint, columns: stream.columns }));
};
let deployment: RunningTry | undefined;
let page: WatchServer | undefined;
let isEnding = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
// a reader such as `head` may close the pipe early
stream.on('error', end);
// a signal to npm ends npm and its shell only
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) end();
}, PARENT_CHECK_MS).unref();

const envFile = join(out, 'env');
if (Object.keys(runningTry(['status'], {}, envFile)).length > 0)
  program.error(
    `error: npm run try runs in this folder already (${envFile}). End it with Ctrl-C, or give another folder with --out`,
  );
const past = beforeSetup ? '3 days' : some(hours, 'hour');
say(`Starting a simulated coderd and ECS, with ${past} of builds …`);
deployment = await start();
mkdirSync(out, { recursive: true });
writeFileSync(envFile, exportLines(deployment.environment));
if (!beforeSetup)
  page = await openPage({
    environment: deployment.environment,
    now: () => Date.now() as EpochMs,
    everyMs: WATCH_EVERY_MS,
  });
say(introduction(deployment));

function start(): Promise<RunningTry> {
  return (beforeSetup ? startBeforeSetup : startDeployment)({
    folder: out,
    hours,
    seed,
    prove,
    onEvent: (text) => show({ text }),
    onChange: (change) => show(changeEvent(change)),
  }).catch(async (error: unknown) => {
    // Ctrl-C also ends a running synthesis: let the signal end this process first
    await setImmediate();
    if (error instanceof FolderError) program.error(error.message);
    throw error;
  });
}

function introduction({ jobs }: RunningTry): string {
  return [
    `It runs: ${some(jobs, 'job')} so far. Times are UTC. Stop with Ctrl-C.`,
    '',
    ...(page === undefined ? [] : [`See it in your browser: ${page.url}`, '']),
    ...(out === FOUND
      ? ['In a second terminal, in this folder, try for example:']
      : [
          'In a second terminal, in this folder, set the variables, and try for example:',
          '',
          `  . ${quoted(shown(envFile))}`,
        ]),
    '',
    ...(beforeSetup ? SETUP_COMMANDS : [...COMMANDS, ...(prove === undefined ? [] : ['prove proving'])]).map(
      (command) => `  ${cloneCommand()} ${command}`,
    ),
    '',
    'docs/quickstart.md explains what you see. Events and changes follow here:',
    '',
  ].join('\n');
}

/** Ends everything. A second signal, or one during the start, ends the process at once. */
function end(): void {
  if (isEnding || deployment === undefined) process.exit();
  isEnding = true;
  rmSync(envFile, { force: true });
  Promise.all([deployment.close(), page?.close()]).then(
    () => say('\nStopped.'),
    () => process.exit(1),
  );
}

/** A path that a shell finds from here: `.` searches PATH for a name without a slash. */
function shown(file: string): string {
  const path = relative('.', file);
  if (path.startsWith('..')) return file;
  return path.includes('/') ? path : `./${path}`;
}

function parseHours(text: string): number {
  const number = wholeNumber(text);
  if (number <= MOST_HOURS) return number;
  throw new InvalidArgumentError(`it must be at most ${MOST_HOURS}`);
}

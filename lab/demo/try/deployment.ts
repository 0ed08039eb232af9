/** A running deployment: a served world with a past, and the function on its schedule. Or the world before it. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changesIn, type LoggedChange } from '../../../cli/logs/logged-changes.ts';
import { loadConfig } from '../../../lambda/config/load.ts';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import { DAY_MS, HOUR_MS } from '../../../lambda/decision/model/units.ts';
import { lookEvent } from '../../../lambda/look/look-event.ts';
import { waitLine } from '../../../lambda/look/waits/wait-line.ts';
import { Random } from '../../world/base/random.ts';
import { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import type { WrongEcs } from '../../world/ecs/protection.ts';
import { InProcessFunction } from '../../world/in-process/function.ts';
import { serveWorld } from '../../world/serve.ts';
import { synthesizeStack } from '../../world/synthesized-stack.ts';
import { World } from '../../world/world.ts';
import { environmentOf, functionEnvironment } from '../function/environment.ts';
import { RunningFunction } from '../function/running-function.ts';
import { addScheduledWorkspaces, planBuilds, planDeath } from './builds.ts';
import { POOLS, PROVE, tryConfig } from './pools.ts';

export type DeploymentOptions = {
  readonly folder: string;
  /** Hours of builds before the start. */
  readonly hours: number;
  readonly seed: number;
  /** Adds a pool for `autoscaler prove`, in an ECS that does this wrong, or nothing. @default no such pool */
  readonly prove?: WrongEcs | 'right' | undefined;
  readonly onEvent: (line: string) => void;
  readonly onChange: (change: LoggedChange) => void;
};

export type RunningTry = {
  /** The variables for commands in another terminal. */
  readonly environment: Readonly<Record<string, string>>;
  readonly jobs: number;
  readonly close: () => Promise<void>;
};

export class FolderError extends Error {
  override readonly name = 'FolderError';
}

/** Looks of the past are rarer, which saves most of the time that it takes. */
const PAST_LOOKS_MS = 30_000;
/** ECS lists a stopped task for an hour, and the function logs its builds when it begins. */
const DIED_BEFORE_MS = 20 * 60_000;
/** How often due events of the world run if no request comes. */
const ADVANCE_MS = 200;
/** More often than in production, to show the effect of a command sooner. */
const INVOKE_MS = 5_000;

/** Long enough for the builds of a usual day. */
const BEFORE_SETUP_MS = 3 * DAY_MS;
const BOOTSTRAP = '/cdk-bootstrap/hnb659fds/version';

const now = (): EpochMs => Date.now() as EpochMs;

/** Starts everything. It runs until `close`. */
export async function startDeployment(options: DeploymentOptions): Promise<RunningTry> {
  const { folder, seed } = options;
  const world = newWorld(options);
  let announce = (_: string): void => {};
  planBuilds({ world, random: new Random(seed), announce: (line) => announce(line) });
  planDeath(world, options.hours * HOUR_MS - DIED_BEFORE_MS);
  const served = await serveWorld(world, { clock: now });
  const config = tryConfig(served.coderdUrl, poolsOf(options));
  const configFile = writeConfig(folder, config);
  const stack = synthesizeStack(config, join(folder, 'cdk.out'));
  await passTime(world, {
    config: { ...loadConfig(configFile).config, looks: { everyMs: PAST_LOOKS_MS } },
    seed,
    until: now(),
    onError: (cause) => options.onEvent(messageOf(cause)),
  });
  announce = options.onEvent;
  world.ecs.tellsScaleIn = true;
  if (options.prove !== 'right') world.ecs.wrong = options.prove;
  const running = new RunningFunction(stack, {
    environment: functionEnvironment(world, served),
    onLine: (line) => {
      world.logs.put(world.logGroupName, line);
      for (const change of changesIn(line)) options.onChange(change);
    },
  });
  const stop = keepRunning(world, running, options.onEvent);
  return {
    environment: environmentOf(world, served, configFile),
    jobs: world.coderd.jobs().length,
    close: async () => {
      stop();
      await Promise.all([running.close(), served.close()]);
    },
  };
}

const poolsOf = ({ prove }: DeploymentOptions) => (prove === undefined ? POOLS : [...POOLS, PROVE]);

function newWorld(options: DeploymentOptions): World {
  const { hours, seed } = options;
  const world = new World({
    start: plusMs(now(), -hours * HOUR_MS),
    seed,
    pools: poolsOf(options),
    latencies: { boot: [3_000, 7_000], stop: [2_000, 6_000], healthyMs: 10_000 },
    // none: a script that pauses a pool and resumes it at once has to read the new tags
    readLagMs: 0,
  });
  // a new account has 6 vCPUs, and this team has asked for more
  for (const code of world.account.quotas.keys()) world.account.quotas.set(code, 200);
  addScheduledWorkspaces(world);
  return world;
}

function writeConfig(folder: string, config: string): string {
  const file = join(folder, 'autoscaler.yaml');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, config);
  } catch (cause) {
    throw new FolderError(`writing ${file}: ${messageOf(cause)}. Give another folder with --out`, { cause });
  }
  return file;
}

/** Lets the world's time pass and invokes the function on its schedule. Returns how to stop both. */
function keepRunning(world: World, running: RunningFunction, onEvent: (line: string) => void): () => void {
  let isClosed = false;
  const invoke = () =>
    running.invokeUnlessRunning((error) => {
      if (!isClosed) onEvent(`the invocation failed: ${messageOf(error)}`);
    });
  void invoke();
  const timers = [
    setInterval(() => world.timeline.advanceTo(now()), ADVANCE_MS),
    setInterval(invoke, INVOKE_MS),
  ];
  return () => {
    isClosed = true;
    for (const timer of timers) clearInterval(timer);
  };
}

type PastOptions = {
  readonly config: Config;
  readonly seed: number;
  readonly until: EpochMs;
  readonly onError: (error: unknown) => void;
};

async function passTime(world: World, { config, seed, until, onError }: PastOptions): Promise<void> {
  const scheduler = new VirtualScheduler(world.timeline);
  const autoscaler = new InProcessFunction({
    world,
    scheduler,
    config: () => config,
    random: new Random(seed),
    isPromising: true,
    onLook: (result, durationMs, { waits, missed }) => {
      log(world, { message: 'look', ...lookEvent({ result, calls: {}, durationMs }, missed) });
      for (const wait of waits) log(world, { message: 'wait', ...waitLine(wait) });
    },
    onInvoked: ({ error }) => {
      if (error !== undefined) onError(error);
    },
  });
  void autoscaler.run();
  await scheduler.advanceTo(until);
}

/** Logs looks and starts of jobs as the function does. */
function log({ logs, logGroupName, stackName }: World, event: object): void {
  logs.put(logGroupName, JSON.stringify({ level: 'INFO', service: stackName, ...event }));
}

/** A configuration of an earlier world names a coderd that has ended. Any other file stays. */
function removeFormer(file: string): void {
  const isFormer = existsSync(file) && /url: ["']?http:\/\/127\.0\.0\.1:/.test(readFileSync(file, 'utf8'));
  if (isFormer) rmSync(file);
}

/** Before anything is deployed: coderd has its own provisioners, AWS neither secrets nor a stack. */
export async function startBeforeSetup({ folder, seed, onEvent }: DeploymentOptions): Promise<RunningTry> {
  const file = join(folder, 'autoscaler.yaml');
  removeFormer(file);
  const start = plusMs(now(), -BEFORE_SETUP_MS);
  const world = new World({ start, seed, pools: [], organizations: ['default', 'data'], readLagMs: 0 });
  world.secrets.forget(world.tokenSecretName);
  world.parameters.put(BOOTSTRAP, '28');
  world.coderd.addBuiltInDaemons(3);
  let announce = (_: string): void => {};
  addScheduledWorkspaces(world);
  planBuilds({ world, random: new Random(seed), announce: (line) => announce(line) });
  world.timeline.advanceTo(now());
  announce = onEvent;
  const served = await serveWorld(world, { clock: now });
  const timer = setInterval(() => world.timeline.advanceTo(now()), ADVANCE_MS);
  const environment = environmentOf(world, served, file);
  const owner = world.coderd.addToken({
    canRead: 'all',
    isOwner: true,
    user: world.coderd.addUser({ username: 'olivia' }),
  });
  return {
    environment: { ...environment, CODER_SESSION_TOKEN: owner },
    jobs: world.coderd.jobs().length,
    close: async () => {
      clearInterval(timer);
      await served.close();
    },
  };
}

/** Tasks as deployed: each runs the real guard.sh as a process, against a loopback server. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Timeline } from '../base/timeline.ts';
import type { ContainerHost, StartContainer } from '../ecs/parts/container.ts';
import type { ProvisionerTaskOptions } from '../provisioner-task.ts';
import { Daemon, type DaemonOptions, type DaemonProcess } from '../task/daemon.ts';
import { GuardProcess, SIGNALLED } from './guard-process.ts';
import { type ServedTask, type TaskDaemon, TaskServer } from './task-server.ts';

export type GuardedTasksOptions = {
  /** The current time. The world advances to it before anything that a process does. */
  readonly clock: () => EpochMs;
  /** How much faster world time runs than real time; the guard's intervals are divided by it. */
  readonly speed: number;
  /** The file for the guards' output; it is overwritten. */
  readonly logFile: string;
  /** Starts the daemon of a task of `pool`. @default a simulated one */
  readonly startDaemon?: StartDaemon;
};

type StartDaemon = (options: DaemonOptions, pool: string) => DaemonProcess;

export type GuardFigures = {
  readonly started: number;
  readonly exited: number;
  readonly killed: number;
};

type Running = { readonly container: GuardProcess; readonly served: ServedTask; readonly timeline: Timeline };

const GUARD = readFileSync(new URL('../../../guard/guard.sh', import.meta.url), 'utf8');
const CODER = fileURLToPath(new URL('coder.sh', import.meta.url));
/** These intervals depend on the machine, not on the world's time. */
const UNSCALED = new Set(['CALL', 'SETTLE']);

export class GuardedTasks {
  readonly #options: GuardedTasksOptions;
  readonly #intervals: Readonly<Record<string, string>>;
  readonly #log: number;
  readonly #server = new TaskServer({ find: (taskId) => this.#find(taskId) });
  readonly #running = new Map<string, Running>();
  #url = '';
  #started = 0;
  #killed = 0;

  constructor(options: GuardedTasksOptions) {
    this.#options = options;
    this.#intervals = scaledIntervals(GUARD, options.speed);
    mkdirSync(dirname(options.logFile), { recursive: true });
    this.#log = openSync(options.logFile, 'w');
  }

  /** Call it before the first task starts. The machine must have what guard.sh needs. */
  async open(): Promise<void> {
    this.#url = await this.#server.open();
  }

  readonly task = (options: ProvisionerTaskOptions): StartContainer => {
    const { startDaemon = (daemon) => new Daemon(daemon) } = this.#options;
    return (host) => {
      const { timeline } = options;
      const container = new GuardProcess({
        host,
        command: ['sh', '-c', GUARD, 'guard', CODER, 'provisioner', 'start'],
        environment: this.#environment(host, options),
        log: this.#log,
        onEnd: () => {
          this.#move(timeline);
          this.#forget(host.taskId);
        },
      });
      const served = { host, ...daemonControls(container, options, { taskId: host.taskId, startDaemon }) };
      this.#running.set(host.taskId, { container, served, timeline });
      this.#started++;
      return container;
    };
  };

  figures(): GuardFigures {
    return {
      started: this.#started,
      exited: this.#started - this.#running.size - this.#killed,
      killed: this.#killed,
    };
  }

  /** Kills all running guards at once; also usable in a process that is about to exit. */
  kill(): void {
    for (const { container } of this.#running.values()) container.kill();
  }

  async close(): Promise<void> {
    this.kill();
    await Promise.all([...this.#running.values()].map(({ container }) => container.ended));
    this.#server.close();
    closeSync(this.#log);
  }

  #find(taskId: string): ServedTask | undefined {
    const running = this.#running.get(taskId);
    if (running !== undefined) this.#move(running.timeline);
    return running?.served;
  }

  #move(timeline: Timeline): void {
    timeline.advanceTo(this.#options.clock());
  }

  #forget(taskId: string): void {
    if (this.#running.get(taskId)?.container.wasKilled) this.#killed++;
    this.#running.delete(taskId);
  }

  /** The environment that the task definition and Fargate set, and the guard's intervals. */
  #environment(
    { taskId }: ContainerHost,
    { pool, variables }: ProvisionerTaskOptions,
  ): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      ECS_AGENT_URI: `${this.#url}/api/${taskId}`,
      ECS_CONTAINER_METADATA_URI_V4: `${this.#url}/v4/${taskId}`,
      AUTOSCALER_POOL: pool,
      CODER_URL: this.#url,
      ...variables(),
      ...this.#intervals,
    };
  }
}

/** Kills all guards when this process ends in any way except by SIGKILL. */
export function killAtExit(tasks: GuardedTasks): void {
  process.once('exit', () => tasks.kill());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(SIGNALLED + constants.signals[signal]));
}

function daemonControls(
  container: GuardProcess,
  options: ProvisionerTaskOptions,
  { taskId, startDaemon }: { readonly taskId: string; readonly startDaemon: StartDaemon },
): Omit<ServedTask, 'host'> {
  const { timeline, random, server, version, pool, latencies, onKilledJob = () => {} } = options;
  const start = (daemon: TaskDaemon, onExit: (code: number) => void) =>
    startDaemon(
      {
        ...daemon,
        timeline,
        random,
        server,
        connect: latencies.connect,
        version,
        onExit,
        onKilledJob: (job) => onKilledJob(job, taskId),
      },
      pool,
    );
  return {
    runDaemon: (daemon, onExit) => container.runDaemon(start(daemon, onExit)),
    terminateDaemon: () => container.terminateDaemon(),
    loseDaemon: () => container.loseDaemon(),
  };
}

/** The guard's intervals in an environment, each with its default divided by the speed. */
function scaledIntervals(guard: string, speed: number): Record<string, string> {
  const defaults = guard.matchAll(/\$\{(AUTOSCALER_TEST_([A-Z_]+)_MS):-(\d+)\}/g);
  return Object.fromEntries(
    [...defaults].flatMap(([, variable = '', interval = '', ms]) =>
      UNSCALED.has(interval) ? [] : [[variable, `${Math.round(Number(ms) / speed)}`]],
    ),
  );
}

type Requirement = { readonly command: readonly [string, ...string[]]; readonly install: string };

/** The tools that guard.sh runs. Each command succeeds if its tool exists. Coder's image has all of them. */
const REQUIREMENTS: readonly Requirement[] = [
  { command: ['sh', '-c', 'true'], install: 'a POSIX shell as "sh", for example dash' },
  { command: ['curl', '--version'], install: 'curl' },
  {
    command: ['date', '-u', '-d', '2026-03-02 09:00:00', '+%s'],
    install: 'a "date" that knows -d: GNU coreutils or busybox',
  },
];

/** The tools to install before guard.sh can run on this machine; empty if none is missing. */
export function missingForGuard(path = process.env.PATH ?? ''): readonly string[] {
  return REQUIREMENTS.filter(({ command: [file, ...rest] }) => {
    const { status } = spawnSync(file, rest, { env: { PATH: path }, stdio: 'ignore' });
    return status !== 0;
  }).map(({ install }) => install);
}

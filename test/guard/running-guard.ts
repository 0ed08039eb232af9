/**
 * The real guard.sh as a task runs it: as text, under one of the shells, with a script in place of
 * coder as its daemon.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, it } from 'vitest';
import * as z from 'zod';
import { rows } from '../support/runs.ts';
import { AgentEndpoint, TASK_ID, Trace } from './agent-endpoint.ts';

const SCRIPT_FILE = new URL('../../guard/guard.sh', import.meta.url).pathname;
const SCRIPT = readFileSync(SCRIPT_FILE, 'utf8');
/** The script in place of coder. */
export const STAND_IN = new URL('coder.sh', import.meta.url).pathname;
export const SECRET = 'key-that-nobody-may-read';

const SHELLS = [
  { name: 'dash', command: ['dash'], path: '/usr/bin:/bin' },
  {
    name: 'busybox',
    command: ['busybox', 'sh'],
    path: toolsOf('busybox', 'date', 'head', 'printf', 'sleep', 'timeout', 'tr'),
  },
  // in POSIX mode, as Amazon Linux and UBI have it
  { name: 'bash', command: ['sh'], path: `${toolsOf('bash', 'sh')}:/usr/bin:/bin` },
];

/** The tools that the tests of the guard need and this machine lacks. */
export const MISSING = ['dash', 'busybox', 'bash', 'shellcheck', 'curl'].filter(
  (tool) => spawnSync('sh', ['-c', 'command -v "$1"', 'sh', tool]).status !== 0,
);

/**
 * The shells for the tests of the guard. They need /proc, and a `date` that parses dates. CI uses
 * all shells, `npm run check` that of Debian.
 */
export const GUARD_SHELLS = rows(SHELLS, 1).map((shell) => ({
  ...shell,
  isMissing: process.platform !== 'linux' || MISSING.includes(shell.name) || MISSING.includes('curl'),
}));

export type Shell = (typeof SHELLS)[number];

export type GuardOptions = {
  readonly shell: Shell;
  /** Intervals by their names in guard.sh, such as LOOK, RENEW, LEASE_WITHIN and BLIND. */
  readonly intervalsMs?: Readonly<Record<string, number | string>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** A script that runs before the guard in its shell, to replace a command by a function. */
  readonly prelude?: string;
  readonly daemon?: readonly string[];
  /** The command to run in place of the shell with the prelude and guard.sh. */
  readonly entryPoint?: readonly string[];
  /** A command that starts the guard and becomes its parent. */
  readonly under?: readonly string[];
  readonly prepare?: (agent: AgentEndpoint) => void;
};

/**
 * A prelude in which the uptime stands still, but for the seconds of `passTime`. A `read` at the end of
 * its input must fail. A trap that forks would be caught by the end of
 * its own child.
 */
export const TIME_THAT_STANDS = `read() {
  command read "$@" || return
  [ $# -lt 5 ] || return 0
  now=$((1000 + $(cat "$STAND_IN/passed" 2>/dev/null || echo 0))).00
}
`;

/** A prelude that ends the keeper when it checks whether the main process runs, after `breakKeeper`. */
export const KEEPER_THAT_ENDS = `kill() {
  [ "$1 $2" != "-$wake $$" ] || [ ! -f "$STAND_IN/break" ] || { echo "keeper ends"; exit 2; }
  command kill "$@"
}
`;

/** A prelude that makes the guard's log a pipe. Nothing reads it, and `fillLog` fills it. */
export const LOG_THAT_NOBODY_READS = `mkfifo "$STAND_IN/log"
exec 2<>"$STAND_IN/log"
`;

const lineSchema = z
  .strictObject({
    level: z.literal('info'),
    message: z.literal('guard'),
    state: z.string(),
    why: z.string().regex(/^[\w-]+$/),
    // the task of the template is of the pool cpu
    daemon: z.enum(['', `gpu-${TASK_ID}`, `cpu-${TASK_ID}`]),
  })
  .refine(({ daemon, state }) => daemon !== '' || state === 'leasing' || state === 'ended');

export type StartGuard = (options: GuardOptions) => Promise<RunningGuard>;

/** Not what a shell says of a daemon that is missing, or of a process that a test has ended. */
const isOfGuard = (noise: string): boolean => !/no-such-coder: |: Terminated$/.test(noise);

/** A test with guards, which log nothing but JSON. They end with the test, and tests may run in parallel. */
export const guardTest = it.extend<{
  readonly start: StartGuard;
  /** Also waits until the daemon has started. */
  readonly working: StartGuard;
}>({
  start: async ({ onTestFailed }, use) => {
    const started: RunningGuard[] = [];
    onTestFailed(() => console.error(started.map((guard) => guard.output).join('\n\n')));
    await use(async (options) => {
      const guard = await RunningGuard.start(options);
      started.push(guard);
      return guard;
    });
    const noise = started.flatMap(({ trace }) => trace.having('noise').filter(isOfGuard));
    await Promise.all(started.map((guard) => guard.cleanUp()));
    expect(noise).toEqual([]);
  },
  working: async ({ start }, use) => {
    await use(async (options) => {
      const guard = await start(options);
      await guard.trace.until('daemon: started');
      await guard.trace.until('guard: working');
      return guard;
    });
  },
});

export class RunningGuard {
  readonly trace: Trace;
  readonly agent: AgentEndpoint;
  readonly process: ChildProcess;
  readonly #folder = mkdtempSync(join(tmpdir(), 'guard-'));

  private constructor(options: GuardOptions, trace: Trace, agent: AgentEndpoint) {
    this.trace = trace;
    this.agent = agent;
    this.process = this.#spawn(options);
    this.process.on('exit', (code, signal) => trace.note(`exit ${code ?? signal}`));
    this.process.on('close', () => trace.note('all gone'));
    this.#read('stdout', (line) => `daemon: ${line}`);
    this.#read('stderr', describeLine);
  }

  static async start(options: GuardOptions): Promise<RunningGuard> {
    const trace = new Trace();
    const agent = await AgentEndpoint.start(trace);
    options.prepare?.(agent);
    return new RunningGuard(options, trace, agent);
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  /** Gives the daemon a job. It runs until `finishJob`. */
  giveJob(): void {
    this.#tell('job');
  }

  finishJob(): void {
    rmSync(join(this.#folder, 'job'));
  }

  crashDaemon(code: number): void {
    this.#tell('crash', `${code}`);
  }

  /** Has an effect only with a prelude that reads it. */
  breakKeeper(): void {
    this.#tell('break');
  }

  /** Has an effect only with a prelude that reads it. */
  stepClock(seconds: number): void {
    this.#tell('step', `${seconds}`);
  }

  /** Signals all that the guard has started except for the daemon; `all`: their own children too. */
  signalHelpers(signal: NodeJS.Signals, which: 'children' | 'all'): void {
    const children = childrenOf(this.process.pid).filter((pid) => pid !== this.daemonPid);
    const pids = which === 'all' ? children.concat(children.flatMap(childrenOf)) : children;
    spawnSync('kill', ['-s', signal.slice(3), ...pids.map(String)]);
  }

  get daemonPid(): number {
    return Number(this.trace.having('daemon: started')[0]?.split(' ')[2]);
  }

  isDaemonAlive(): boolean {
    return existsSync(`/proc/${this.daemonPid}`);
  }

  /** The most memory that one of the guard's shells has used, in MiB. */
  readonly peakMib = (): number => {
    const shells = [this.process.pid, ...childrenOf(this.process.pid)].filter(
      (pid) => pid !== this.daemonPid,
    );
    return Math.max(...shells.map(peakMibOf));
  };

  /** Everything written by the guard and its daemon. */
  get output(): string {
    return this.trace.events.join('\n');
  }

  /** Has an effect only with a prelude that reads it. */
  passTime(seconds: number): void {
    this.#tell('passed', `${seconds}`);
  }

  /** Has an effect only with `LOG_THAT_NOBODY_READS`. A further line then blocks its writer. */
  fillLog(): void {
    const log = openSync(join(this.#folder, 'log'), constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      while (true) writeSync(log, '\n'.repeat(4_096));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    } finally {
      closeSync(log);
    }
  }

  /** Replaces the file in one step, because the guard may read it at any time. */
  #tell(name: string, text = ''): void {
    const file = join(this.#folder, name);
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }

  #spawn({
    shell,
    intervalsMs,
    environment,
    prelude = '',
    daemon = [STAND_IN, 'provisioner', 'start'],
    entryPoint = [...shell.command, '-c', prelude + SCRIPT, 'guard'],
    under = [],
  }: GuardOptions): ChildProcess {
    const [command = 'sh', ...args] = [...under, ...entryPoint, ...daemon];
    return spawn(command, args, {
      // its own process group: a guard that signals its group must fail the test, not end it
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${shell.path}:${process.env.PATH}`,
        ECS_AGENT_URI: `${this.agent.url}/agent`,
        ECS_CONTAINER_METADATA_URI_V4: `${this.agent.url}/v4`,
        AUTOSCALER_POOL: 'gpu',
        CODER_URL: 'https://coder.example.com',
        CODER_PROVISIONER_DAEMON_KEY: SECRET,
        STAND_IN: this.#folder,
        ...inTests({ LOOK: 30, RETRY: 30, SETTLE: 100, TOLD: 10, ...intervalsMs }),
        ...environment,
      },
    });
  }

  #read(stream: 'stdout' | 'stderr', describe: (line: string) => string): void {
    const input = this.process[stream];
    if (input) createInterface({ input }).on('line', (line) => this.trace.note(describe(line)));
  }

  async cleanUp(): Promise<void> {
    this.#killAll();
    rmSync(this.#folder, { recursive: true, force: true });
    this.agent.stop();
    await this.trace.until('all gone');
  }

  #killAll(): void {
    if (this.trace.events.includes('all gone')) return; // its id may be another's by now
    try {
      if (this.process.pid !== undefined) process.kill(-this.process.pid, 'SIGKILL');
    } catch {
      // the process group has ended
    }
  }
}

/** The children of a process, including zombies. */
export function childrenOf(parent: number | undefined): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined; // it has gone meanwhile
  }
}

/** 0 if the process has gone. */
function peakMibOf(pid: number | undefined): number {
  const file = `/proc/${pid}/status`;
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(existsSync(file) ? readFileSync(file, 'utf8') : '') ?? [];
  return Number(kib ?? 0) / 1024;
}

/** A line of the guard's log. Any other output becomes `noise`. */
function describeLine(text: string): string {
  try {
    const { state, why } = lineSchema.parse(JSON.parse(text));
    return `guard: ${state} ${why}`;
  } catch {
    return `noise: ${text}`;
  }
}

function inTests(intervalsMs: Readonly<Record<string, number | string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(intervalsMs).map(([name, ms]) => [`AUTOSCALER_TEST_${name}_MS`, `${ms}`]),
  );
}

/**
 * A folder with links of these names to one program. Coder's image has only busybox's tools. bash
 * runs as `sh`.
 */
function toolsOf(program: string, ...names: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), `${program}-`));
  const file = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).stdout.trim();
  if (file !== '') for (const name of names) symlinkSync(file, join(folder, name));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}

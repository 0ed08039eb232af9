/**
 * A container whose main process is the real guard.sh. It leads a process group of its own, which stands for the container's
 * processes: when it ends, so do the others. Its daemon is coder.sh for the guard, and for the world
 * simulator/task/daemon.ts, or what `startDaemon` of the guarded tasks starts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Container, ContainerHost } from '../ecs/parts/container.ts';
import type { DaemonProcess } from '../task/daemon.ts';

export type GuardProcessOptions = {
  readonly host: ContainerHost;
  /** The command of the task definition. */
  readonly command: readonly [file: string, ...rest: readonly string[]];
  /** All of it. */
  readonly environment: Readonly<Record<string, string>>;
  /** A file descriptor: what the processes write goes there. */
  readonly log: number;
  /** The process and its group have ended; before the world hears of it. */
  readonly onEnd: () => void;
};

/** As a shell says that its command could not be run. */
const CANNOT_RUN = 126;
/** A shell adds the signal's number to it. */
export const SIGNALLED = 128;

export class GuardProcess implements Container {
  /** Resolves once the process has ended. */
  readonly ended: Promise<void>;
  readonly #process: ChildProcess;
  #daemon: DaemonProcess | undefined;
  #toldToTerminate = false;
  #killed = false;

  constructor({ host, command: [file, ...rest], environment, log, onEnd }: GuardProcessOptions) {
    this.#process = spawn(file, rest, { detached: true, env: environment, stdio: ['ignore', log, log] });
    this.ended = new Promise((resolve) => {
      const end = (code: number): void => {
        this.#killGroup();
        onEnd();
        if (!this.#killed) host.exit(code);
        this.#daemon?.kill();
        resolve();
      };
      this.#process.once('exit', (code, signal) =>
        end(code ?? SIGNALLED + constants.signals[signal ?? 'SIGKILL']),
      );
      this.#process.once('error', () => end(CANNOT_RUN));
    });
  }

  get wasKilled(): boolean {
    return this.#killed;
  }

  isBusy(): boolean {
    return this.#daemon?.isBusy ?? false;
  }

  terminate(): void {
    this.#process.kill('SIGTERM');
  }

  kill(): void {
    this.#killed = true;
    this.#killGroup();
    this.#daemon?.kill();
  }

  /** The guard has started its daemon; it may have been told to terminate before it got here. */
  runDaemon(daemon: DaemonProcess): void {
    this.#daemon = daemon;
    if (this.#toldToTerminate) daemon.terminate();
  }

  /** The guard has sent SIGTERM to its daemon. */
  terminateDaemon(): void {
    this.#toldToTerminate = true;
    this.#daemon?.terminate();
  }

  /** The daemon's process is gone; nothing happens if the daemon has exited before. */
  loseDaemon(): void {
    this.#daemon?.kill();
  }

  #killGroup(): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // nobody is left in the group
    }
  }
}

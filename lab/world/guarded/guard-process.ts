/**
 * A container whose main process is the real guard.sh. Its process group stands for the container's processes: when
 * it ends, the others end too. Its daemon is coder.sh for the guard, and lab/world/task/daemon.ts for the world.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Container, ContainerHost } from '../ecs/parts/container.ts';
import type { DaemonProcess } from '../task/daemon.ts';

type GuardProcessOptions = {
  readonly host: ContainerHost;
  readonly command: readonly [file: string, ...rest: readonly string[]];
  readonly environment: Readonly<Record<string, string>>;
  readonly log: number;
  /** Called when the process and its group have ended, before the world is told. */
  readonly onEnd: () => void;
};

const CANNOT_RUN = 126;
/** The exit code of a shell after a signal is this plus the signal's number. */
export const SIGNALLED = 128;

export class GuardProcess implements Container {
  /** Resolves once the process has ended and its output is read. */
  readonly ended: Promise<void>;
  readonly #process: ChildProcess;
  #daemon: DaemonProcess | undefined;
  #toldToTerminate = false;
  #killed = false;

  constructor({ host, command: [file, ...rest], environment, log, onEnd }: GuardProcessOptions) {
    this.#process = spawn(file, rest, {
      detached: true,
      env: environment,
      stdio: ['ignore', log, log],
    });
    this.ended = new Promise((resolve) => {
      const end = (code: number): void => {
        this.#killGroup();
        onEnd();
        if (!this.#killed) host.exit(code);
        this.#daemon?.kill();
      };
      this.#process.once('close', () => resolve());
      this.#process.once('exit', (code, signal) =>
        end(code ?? SIGNALLED + constants.signals[signal ?? 'SIGKILL']),
      );
      this.#process.once('error', () => {
        end(CANNOT_RUN);
        resolve();
      });
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

  runDaemon(daemon: DaemonProcess): void {
    this.#daemon = daemon;
    if (this.#toldToTerminate) daemon.terminate();
  }

  terminateDaemon(): void {
    this.#toldToTerminate = true;
    this.#daemon?.terminate();
  }

  /** The daemon's process is gone. Does nothing if the daemon has exited before. */
  loseDaemon(): void {
    this.#daemon?.kill();
  }

  #killGroup(): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // No process is left in the group.
    }
  }
}

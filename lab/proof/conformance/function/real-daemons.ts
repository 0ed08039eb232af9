/** Starts, terminates and kills the daemons of tasks through the control port, and polls for exits. */
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import type { Planned } from '../../../world/base/timeline.ts';
import type { DaemonOptions, DaemonProcess } from '../../../world/task/daemon.ts';
import type { ControlPort, DaemonState } from '../stage/control-port.ts';

export type RealDaemonsOptions = {
  readonly control: Pick<ControlPort, 'start' | 'signal' | 'list'>;
  readonly tagsOf: (pool: string) => Tags;
  readonly onError: (error: unknown) => void;
};

export class RealDaemons {
  readonly #options: RealDaemonsOptions;
  readonly #live = new Map<string, RealDaemon>();
  #killed: readonly string[] = [];

  constructor(options: RealDaemonsOptions) {
    this.#options = options;
  }

  /** Names of daemons that were killed before they had exited. */
  get killed(): readonly string[] {
    return this.#killed;
  }

  /** `startDaemon` of the guarded tasks. It connects after the delay of the world's latencies. */
  readonly start = (options: DaemonOptions, pool: string): DaemonProcess => {
    const { name } = options;
    const daemon = new RealDaemon(options, {
      control: this.#options.control,
      tags: this.#options.tagsOf(pool),
      onKilled: () => {
        this.#killed = [...this.#killed, name];
      },
      onError: this.#options.onError,
    });
    this.#live.set(name, daemon);
    return daemon;
  };

  async poll(): Promise<void> {
    if (this.#live.size === 0) return;
    for (const state of await this.#options.control.list()) this.#live.get(state.name)?.see(state);
    for (const [name, daemon] of this.#live) if (daemon.isGone) this.#live.delete(name);
  }
}

type RealDaemonParts = Pick<RealDaemonsOptions, 'control' | 'onError'> & {
  readonly tags: Tags;
  readonly onKilled: () => void;
};

class RealDaemon implements DaemonProcess {
  /** Unknown and unneeded: the world chooses the tasks to stop at random. */
  readonly isBusy = false;
  readonly #options: DaemonOptions;
  readonly #parts: RealDaemonParts;
  #dialling: Planned | undefined;
  #gone = false;
  /** Requests are sent in order: a signal before the start would find no daemon. */
  #sent: Promise<void> = Promise.resolve();

  constructor(options: DaemonOptions, parts: RealDaemonParts) {
    this.#options = options;
    this.#parts = parts;
    const { timeline, random, connect, name } = options;
    this.#dialling = timeline.after(random.whole(...connect), () => {
      this.#dialling = undefined;
      this.#send(() => parts.control.start(name, parts.tags));
    });
  }

  get isGone(): boolean {
    return this.#gone;
  }

  terminate(): void {
    if (this.#gone) return;
    if (this.#dialling === undefined)
      this.#send(() => this.#parts.control.signal(this.#options.name, 'terminate'));
    else this.#exit(0);
  }

  kill(): void {
    if (this.#gone) return;
    this.#gone = true;
    if (this.#dialling === undefined) {
      this.#parts.onKilled();
      this.#send(() => this.#parts.control.signal(this.#options.name, 'kill'));
    }
    this.#dialling?.cancel();
  }

  see({ state, exitCode }: DaemonState): void {
    if (state === 'exited' && !this.#gone) this.#exit(exitCode ?? 0);
  }

  #exit(code: number): void {
    this.#gone = true;
    this.#dialling?.cancel();
    this.#options.onExit(code);
  }

  /** If the control port fails, the daemon exits with 1, as one does that cannot reach coderd. */
  #send(request: () => Promise<void>): void {
    this.#sent = this.#sent.then(request).catch((error: unknown) => {
      this.#parts.onError(error);
      if (!this.#gone) this.#exit(1);
    });
  }
}

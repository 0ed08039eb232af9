/** The tasks of a pool without ECS: one daemon for each waiting job, until it has been idle. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Random } from '../../simulator/base/random.ts';
import type { CoderdModel } from '../../simulator/coderd/model.ts';
import { Daemon } from '../../simulator/task/daemon.ts';
import type { ColdWorldOptions } from './options.ts';

export const POOL = 'cpu';
const [SECOND_MS, MINUTE_MS] = [1_000, 60_000];

type TasksOptions = Pick<ColdWorldOptions, 'idleMinutes' | 'staying'> & {
  readonly model: CoderdModel;
  readonly random: Random;
  readonly key: string;
};

type Task = { readonly daemon: Daemon; idleSince: EpochMs | undefined };

export class Tasks {
  readonly #options: TasksOptions;
  readonly #tasks = new Set<Task>();

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  scale(): void {
    const { model, staying = 0, idleMinutes = 10 } = this.#options;
    if (this.#tasks.size === staying && model.openJobs().size === 0) return;
    const now = model.timeline.now();
    const starting = [...this.#tasks].filter(({ daemon }) => !daemon.isConnected).length;
    const waiting = [...model.openJobs()].filter(({ status }) => status === 'pending').length;
    for (let n = starting; n < waiting || this.#tasks.size < staying; n++) this.#start();
    for (const task of this.#tasks) {
      task.idleSince = task.daemon.isConnected && !task.daemon.isBusy ? (task.idleSince ?? now) : undefined;
      const isDone = task.idleSince !== undefined && now - task.idleSince >= idleMinutes * MINUTE_MS;
      if (isDone && this.#tasks.size > staying) this.#stop(task);
    }
  }

  #start(): void {
    const { model, random, key } = this.#options;
    const daemon = new Daemon({
      ...{ timeline: model.timeline, random, server: model, credential: { key } },
      connect: [30 * SECOND_MS, 60 * SECOND_MS],
      name: `${POOL}-${random.hex(32)}`,
      version: model.version.text,
      onExit: () => {},
      onKilledJob: () => {},
    });
    this.#tasks.add({ daemon, idleSince: undefined });
  }

  #stop(task: Task): void {
    task.daemon.terminate();
    this.#tasks.delete(task);
  }
}

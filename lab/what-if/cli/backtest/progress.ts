/** Runs a long command on threads, and shows its progress. */
import { SingleBar } from 'cli-progress';
import { type CliEnvironment, InputError } from '../../../../cli/shared/cli-environment.ts';
import { ageText } from '../../../../lambda/explain/format.ts';
import { startWorkerPool, type WorkerPool, WorkerPoolError } from '../../search/worker-pool.ts';

type ProgressBar = {
  /** `share`: 0 to 1. */
  readonly show: (share: number, doing: string) => void;
  readonly end: () => void;
};

const STEPS = 1000;

/** Without a terminal, the progress is a line from time to time, so that a log shows that it goes on. */
const LINE_EVERY_MS = 10_000;

type Output = {
  readonly terminal?: NodeJS.WritableStream | undefined;
  readonly err: (text: string) => void;
  readonly now: () => number;
};

/** Starts a progress bar on a terminal, or lines on standard error. */
export function showProgress(output: Output): ProgressBar {
  const { terminal, now } = output;
  const startedAt = now();
  const left = (share: number): string => {
    const seconds = ((now() - startedAt) * (1 - share)) / share / 1000;
    return share <= 0 ? '' : `, about ${ageText(Math.ceil(seconds))} left`;
  };
  return terminal === undefined ? progressLines(output, left) : progressBar(terminal, left);
}

/** The time left, from the share that is done: `, about 30 s left`; nothing at the beginning. */
type TimeLeft = (share: number) => string;

function progressLines({ err, now }: Output, left: TimeLeft): ProgressBar {
  let lastAt = now();
  const show = (share: number, doing: string): void => {
    const at = now();
    if (at - lastAt < LINE_EVERY_MS || share <= 0) return;
    lastAt = at;
    err(`${Math.floor(share * 100)} %${left(share)} (${doing})\n`);
  };
  return { show, end: () => {} };
}

function progressBar(terminal: NodeJS.WritableStream, left: TimeLeft): ProgressBar {
  const bar = new SingleBar({
    stream: terminal,
    format: '{bar} {percentage} %{left} ({doing})',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 30,
    clearOnComplete: true,
    // otherwise Ctrl-C stops only the bar, and the terminal no longer wraps lines
    gracefulExit: false,
    linewrap: true,
  });
  bar.start(STEPS, 0, { left: '', doing: 'starting' });
  return {
    show: (share, doing) => bar.update(Math.floor(share * STEPS), { left: left(share), doing }),
    end: () => bar.stop(),
  };
}

type Threads = { readonly workerPool: WorkerPool; readonly onProgress: ProgressBar['show'] };

/** Runs `work` with threads, and shows its progress. Throws InputError if a thread fails. */
export async function onThreads<T>(
  workers: number,
  cliEnvironment: CliEnvironment,
  work: (threads: Threads) => Promise<T>,
): Promise<T> {
  const workerPool = startWorkerPool(workers);
  const progress = showProgress(cliEnvironment);
  try {
    return await work({ workerPool, onProgress: progress.show });
  } catch (error) {
    throw error instanceof WorkerPoolError ? new InputError(error.message, { cause: error }) : error;
  } finally {
    progress.end();
    await workerPool.close();
  }
}

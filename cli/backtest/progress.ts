/** Shows the progress of a long command as a bar on a terminal. */
import { SingleBar } from 'cli-progress';

export type ProgressBar = {
  /** `share`: 0 to 1. */
  readonly show: (share: number, doing: string) => void;
  readonly end: () => void;
};

const STEPS = 1000;

/** Starts a progress bar. Without a terminal it shows nothing. */
export function showProgress(terminal: NodeJS.WritableStream | undefined): ProgressBar {
  if (terminal === undefined) return { show: () => {}, end: () => {} };
  const bar = new SingleBar({
    stream: terminal,
    format: '{bar} {percentage} %, {eta_formatted} left ({doing})',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 30,
    etaBuffer: 100,
    clearOnComplete: true,
    // otherwise Ctrl-C stops only the bar, and the terminal no longer wraps lines
    gracefulExit: false,
    linewrap: true,
  });
  bar.start(STEPS, 0, { doing: 'starting' });
  return {
    show: (share, doing) => bar.update(Math.floor(share * STEPS), { doing }),
    end: () => bar.stop(),
  };
}

/** How far a long command is: a bar, where there is a terminal. */
import { SingleBar } from 'cli-progress';

export type Progress = {
  /** `share`: 0 to 1. */
  readonly show: (share: number, doing: string) => void;
  readonly end: () => void;
};

const STEPS = 1000;

/** Without a terminal nothing is shown. */
export function showProgress(terminal: NodeJS.WritableStream | undefined): Progress {
  if (terminal === undefined) return { show: () => {}, end: () => {} };
  const bar = new SingleBar({
    stream: terminal,
    format: '{bar} {percentage} %, {eta_formatted} left ({doing})',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 30,
    etaBuffer: 100,
    clearOnComplete: true,
    // whoever presses Ctrl-C wants an end: without this it would end the bar alone, and lines would
    // not wrap afterwards
    gracefulExit: false,
    linewrap: true,
  });
  bar.start(STEPS, 0, { doing: 'starting' });
  return {
    show: (share, doing) => bar.update(Math.floor(share * STEPS), { doing }),
    end: () => bar.stop(),
  };
}

/** `autoscaler validate` with a warm cache of modules, beside a Node process that does nothing. */
import { execFileSync } from 'node:child_process';
import { median } from './statistics.ts';

export type CliStartFigures = {
  readonly validateMs: number;
  /** The reference: median of new processes that run `node -e 0`. */
  readonly emptyMs: number;
  readonly ratio: number;
};

const RUNS = 15;

/** Validates this configuration file again and again. */
export function measureCliStart(configFile: string): CliStartFigures {
  const validate = ['cli/autoscaler.mjs', 'validate', configFile];
  processMs(validate);
  // in turns, so that a busy moment of the machine meets both
  const runs = Array.from({ length: RUNS }, () => ({
    own: processMs(validate),
    bare: processMs(['-e', '0']),
  }));
  const validateMs = median(runs.map(({ own }) => own));
  const emptyMs = median(runs.map(({ bare }) => bare));
  return { validateMs, emptyMs, ratio: validateMs / emptyMs };
}

function processMs(args: readonly string[]): number {
  const before = performance.now();
  execFileSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - before;
}

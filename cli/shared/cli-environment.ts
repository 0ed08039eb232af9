/** What all commands share: the environment that they run in, and their error classes. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';

export type CliEnvironment = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a person types here, for hints. @default autoscaler, and npx autoscaler where setup prints a script */
  readonly command?: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Standard error if it is a terminal: for progress bars. */
  readonly terminal?: NodeJS.WritableStream;
  /** Asks the person at the terminal. Throws UsageError if the person ends the input. */
  readonly ask?: (question: string) => Promise<string>;
  /** Runs a command, word by word, without a shell. Returns its exit code. @default with this terminal */
  readonly run?: (words: readonly string[]) => Promise<number>;
  /** Characters of a line, if standard output is a terminal. */
  readonly columns?: number;
  /** Milliseconds after which a command shows that it still works. @default 2,000 */
  readonly quietMs?: number;
  /** Of `doctor`, for all answers together. @default 7,500 */
  readonly answerMs?: number;
  /** The URL of Terraform's registry. @default the public one */
  readonly registry?: string;
  /** Without any answer, until `plan`, `status` and `snapshot` stop waiting. @default 7,500 */
  readonly silenceMs?: number;
  /** Milliseconds between two questions whether a query of the log has ended. @default 250 to 2,000 */
  readonly pollMs?: number;
  /** Milliseconds after which `watch` gives up the query of the last day. @default a minute */
  readonly queryMs?: number | undefined;
  /** Waits so long, or until the signal. @default in real time */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** Calls this at the first Ctrl-C, which then does not end the process. Returns how to end that. */
  readonly onInterrupt?: (run: () => void) => () => void;
  readonly now: () => EpochMs;
};

/** Invalid input (exit code 1). The message says what was seen and what to do. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** Missing or contradictory options (exit code 2). */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const DEFAULT_CONFIG = 'autoscaler.yaml';

export type CommandContext = {
  readonly cliEnvironment: CliEnvironment;
  /** Sets the exit code, which is 0 otherwise. */
  readonly exitWith: (code: number) => void;
};

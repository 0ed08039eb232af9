/** What every command shares: where it prints to, and how it says that it can't. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';

export type CliEnvironment = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Standard error, where it is a terminal: for what moves. */
  readonly terminal?: NodeJS.WritableStream;
  /** By the machine's own clock. */
  readonly now: () => EpochMs;
};

/** Input that can't be used; the message says what was seen and what to do. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** Options that don't go together or are missing. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const DEFAULT_CONFIG = 'autoscaler.yaml';

/** What a command is built with. */
export type CommandContext = {
  readonly surroundings: CliEnvironment;
  /** Sets the exit code; without it: 0. */
  readonly exitWith: (code: number) => void;
};

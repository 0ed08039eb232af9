import { toDotPath } from 'zod/v4/core';
import { looksLikeSecret, type Path } from './shown.ts';

/** One thing that is wrong with a configuration, or that may surprise. Lines and columns count from 1. */
export type Problem = {
  readonly severity: 'error' | 'warning';
  /** For example `pools[0].max`. Empty for the whole file. */
  readonly path: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
};

/** A problem before its place in the file is known. */
export type Mistake = {
  readonly severity: Problem['severity'];
  readonly path: Path;
  readonly message: string;
  /** The setting whose line is shown. @default `path` */
  readonly at?: Path | undefined;
  /** Whether nothing else is examined, because it would take too long. */
  readonly isFinal?: true;
};

/** A configuration that cannot be used. Its message has one line per problem and contains no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** Each with its place in the file, or the prop. */
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map(formatProblem).join('\n'), options);
    this.problems = problems;
  }
}

/** A problem as one line, in the form that editors and CI turn into links. */
export function formatProblem({ severity, path, message, file, line, column }: Problem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return [place, severity === 'warning' ? 'warning' : '', path, message]
    .filter((part) => part !== '')
    .join(': ');
}

export type Place = { readonly file?: string; readonly line?: number; readonly column?: number };

/** The finding with its place in the file. */
export function toProblem({ severity, path, message }: Mistake, place: Place = {}): Problem {
  return { severity, path: shownPath(path), message, ...place };
}

/** For example `pools[0].max`. Hides a step that looks like a secret, such as a pasted key. */
export function shownPath(path: Path): string {
  return toDotPath(
    path.map((step) => (typeof step === 'string' && looksLikeSecret(step) ? '(hidden)' : step)),
  );
}

/** The findings of a rule. */
export type Findings = Generator<Mistake, void>;

export const error = (path: Path, message: string, at?: Path): Mistake => ({
  severity: 'error',
  path,
  message,
  at,
});
export const warning = (path: Path, message: string): Mistake => ({ severity: 'warning', path, message });

/** The configuration if it can be used, with the warnings; otherwise throws every problem at once. */
export function settle<C>(config: C | undefined, problems: readonly Problem[]) {
  const isBad = problems.some(({ severity }) => severity === 'error');
  if (config === undefined || isBad) throw new ConfigError(problems);
  return { config, warnings: problems };
}

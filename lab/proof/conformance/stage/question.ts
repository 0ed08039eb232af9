/** What the story asks a coderd, and the error of a story that cannot go on. */

export type Question = {
  readonly method?: 'GET' | 'POST';
  /** After `/api/v2`, with names in braces instead of ids: `/organizations/{organization}/members`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  readonly body?: unknown;
  /** The name of the user who asks; `nobody` sends no token. @default the first user */
  readonly as?: string;
};

export type Answer = { readonly status: number; readonly body: unknown };

/** The conformance story or the run against a real coderd cannot go on. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError';
}

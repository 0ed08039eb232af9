/** One thing that the doctor has looked at. */

/** `skip`: it could not be tried, for another that is not fine. */
export type Status = 'ok' | 'warn' | 'FAIL' | 'skip';

export type Check = {
  readonly name: string;
  readonly status: Status;
  /** What was seen and, unless it is fine, what to do. Nothing secret. */
  readonly says: string;
};

/**
 * Checks and what later ones build on, or the name of the check for which there is nothing to build
 * on.
 */
export type Checked<T> = { readonly checks: readonly Check[] } & (
  | { readonly value: T }
  | { readonly blocker: string }
);

export const ok = (name: string, says: string): Check => ({ name, status: 'ok', says });
export const warn = (name: string, says: string): Check => ({ name, status: 'warn', says });
export const fail = (name: string, says: string): Check => ({ name, status: 'FAIL', says });
export const skip = (name: string, blocker: string): Check => ({
  name,
  status: 'skip',
  says: `needs "${blocker}" to be fine`,
});

/** The check that stands in the way; undefined: there is a value. */
export function blockerOf(checked: Checked<unknown>): string | undefined {
  return 'blocker' in checked ? checked.blocker : undefined;
}

export function saidBy(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

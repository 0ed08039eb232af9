/** The result of one check of `autoscaler doctor`. */

/** `skip`: not tried, because a check that it depends on failed. */
export type Status = 'ok' | 'warn' | 'FAIL' | 'skip';

export type Check = {
  readonly name: string;
  readonly status: Status;
  /** What was seen and, unless the status is `ok`, what to do. Contains no secret. */
  readonly says: string;
  /** The failed check that this one depends on. */
  readonly needs?: string;
};

/**
 * Checks with the value that later checks need, or the name of the failed check that blocks them.
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
  says: `needs "${blocker}" to pass`,
  needs: blocker,
});

/** The name of the check that blocks later ones; undefined if there is a value. */
export function blockerOf(checked: Checked<unknown>): string | undefined {
  return 'blocker' in checked ? checked.blocker : undefined;
}

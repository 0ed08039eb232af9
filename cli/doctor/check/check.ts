/** The result of one check of `autoscaler doctor`, and its text. */
import { few, some } from '../../../lambda/explain/format.ts';

/** `skip`: not tried, because a check that it depends on failed. */
type Status = 'ok' | 'warn' | 'FAIL' | 'skip';

export type Check = {
  readonly name: string;
  readonly status: Status;
  /** What was seen and, unless the status is `ok`, what to do. Contains no secret. */
  readonly says: string;
  readonly needs?: string;
};

/** Checks with the value that later checks need, or the name of the failed check that blocks them. */
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

/** As text: failures, warnings, what could not be tried, what passed, and counts. */
export function checksText(checks: readonly Check[]): string {
  const lines = [
    ...linesOf(checks, 'FAIL'),
    ...linesOf(checks, 'warn'),
    ...notTried(checks.filter(({ status }) => status === 'skip')),
    ...linesOf(checks, 'ok'),
  ];
  return `${[...lines, '', countsText(checks)].join('\n')}\n`;
}

function linesOf(checks: readonly Check[], status: Status): readonly string[] {
  return checks.filter((check) => check.status === status).map(lineOf);
}

function lineOf({ name, status, says }: Check): string {
  return `${status.padEnd(4)}  ${name}: ${says.replaceAll(/\s+/g, ' ')}`;
}

/** One line for all checks that need the same check. */
function notTried(skipped: readonly Check[]): readonly string[] {
  const groups = Map.groupBy(skipped, ({ needs, name }) => needs ?? `\u0000${name}`);
  return [...groups.values()].flatMap((group) => {
    const needs = group[0]?.needs;
    if (needs === undefined || group.length === 1) return group.map(lineOf);
    return [`skip  ${group.length} checks need "${needs}" to pass: ${few(group.map(({ name }) => name))}`];
  });
}

function countsText(checks: readonly Check[]): string {
  const count = (status: Status): number => checks.filter((check) => check.status === status).length;
  const [failed, warnings, skipped] = [count('FAIL'), count('warn'), count('skip')];
  const parts = [
    `${count('ok')} passed`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(warnings === 0 ? [] : [some(warnings, 'warning')]),
    ...(skipped === 0 ? [] : [`${skipped} not tried`]),
  ];
  return `${some(checks.length, 'check')}: ${parts.join(', ')}`;
}

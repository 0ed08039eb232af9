/** Judges whether a quiet world settles. States that are known to settle are not checked again. */
import type { Judge, Violation } from '../world/search.ts';

export type QuietModel = {
  /** Every state that may exist half an hour later. */
  readonly after: (code: number) => readonly number[];
  /** Whether a state that no longer changes is the wanted one. */
  readonly isSettled: (code: number) => boolean;
  readonly describe: (code: number) => string;
};

export function settlingJudge({ after, isSettled, describe }: QuietModel): Judge {
  const settles = new Set<number>();

  const judge = (code: number, path: readonly number[]): Violation | undefined => {
    if (settles.has(code)) return undefined;
    const next = after(code);
    const isStill = next.length === 1 && next[0] === code;
    const violation = isStill
      ? isSettled(code)
        ? undefined
        : stuck('it stays in a wrong state', [...path, code])
      : judgeNext(code, next, path);
    if (violation === undefined) settles.add(code);
    return violation;
  };

  const judgeNext = (
    code: number,
    next: readonly number[],
    path: readonly number[],
  ): Violation | undefined => {
    const walked = [...path, code];
    for (const to of next) {
      if (walked.includes(to)) return stuck('it oscillates', [...walked, to]);
      const violation = judge(to, walked);
      if (violation !== undefined) return violation;
    }
    return undefined;
  };

  const stuck = (what: string, path: readonly number[]): Violation => ({
    property: 'progress',
    what: `the world is quiet, and ${what}`,
    afterwards: path.slice(1).map((code) => ` ... half an hour later\n       ${describe(code)}`),
  });

  return (code) => judge(code, []);
}

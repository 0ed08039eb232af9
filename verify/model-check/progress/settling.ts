/** Whether a quiet world comes to rest from a state, as it should be. What is known to settle is not looked at again. */
import type { Violation } from '../world/search.ts';

export type QuietModel = {
  /** Every state that may be there some half an hour later. */
  readonly after: (code: number) => readonly number[];
  /** Whether a state in which nothing changes any more is as it should be. */
  readonly isSettled: (code: number) => boolean;
  readonly describe: (code: number) => string;
};

/** Judges a state of a quiet world by how it goes on. */
export function settlingJudge({
  after,
  isSettled,
  describe,
}: QuietModel): (code: number) => Violation | undefined {
  const settles = new Set<number>();

  const judge = (code: number, path: readonly number[]): Violation | undefined => {
    if (settles.has(code)) return undefined;
    const next = after(code);
    const isStill = next.length === 1 && next[0] === code;
    const violation = isStill
      ? isSettled(code)
        ? undefined
        : stuck('nothing changes any more', [...path, code])
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
      if (walked.includes(to)) return stuck('it goes round in circles', [...walked, to]);
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

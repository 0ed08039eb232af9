/** Words who submitted the jobs that wait for a pool at its maximum. */
import type { SubmittedBy } from '../decision/model/plan.ts';

/** Sentences, without the last full stop. Empty: the pool is not at its maximum. */
export function submittersText(by: SubmittedBy | undefined): readonly string[] {
  if (by === undefined) return [];
  const named = (all: SubmittedBy['accounts']): string =>
    all.map(({ name, jobs }) => `${name} (${jobs})`).join(', ');
  return [
    `The pool is at its maximum. The jobs are from ${named(by.accounts)}; templates: ${named(by.templates)}`,
    ...cancelText(by),
  ];
}

/** What comes before a larger limit, where one account fills the pool. */
export function cancelText(by: SubmittedBy | undefined): readonly string[] {
  const name = by?.filledBy ?? null;
  return name === null ? [] : [`Cancel the jobs of ${name} that nobody needs, before you raise a limit`];
}

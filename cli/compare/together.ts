/**
 * Corrects the figures that the verdict's sentence names for their number. Each figure alone is
 * clear by chance once in twenty comparisons; of five, one would be in nearly one of four. Holm's
 * procedure keeps the chance of any false one at 5 %.
 */
import { CONFIDENCE, type Difference } from '../../backtest/change/difference.ts';
import type { MeasureId } from '../../backtest/change/measures.ts';
import type { ConfigChange } from '../../backtest/change/result.ts';
import { shareWithin, studentT } from '../../backtest/estimate/student-t.ts';
import { by } from '../../lambda/decision/model/collections.ts';

/** What the sentence may name. */
const NAMED = [
  'dollarsPerMonth',
  'meanWaitS',
  'p95WaitS',
  'lostJobs',
  'lateSchedules',
] as const satisfies readonly MeasureId[];

/** The chance of a false clear difference among all of them. */
const LEVEL = 0.05;

export type NamedDifferences = Readonly<Record<(typeof NAMED)[number], Difference>>;

/** The differences of the sentence: `clear` only if they are so together. */
export function namedDifferences({
  measures,
  seeds,
}: Pick<ConfigChange, 'measures' | 'seeds'>): NamedDifferences {
  const byChance = NAMED.map((id) => ({ id, chance: chanceOf(measures[id], seeds.length) }));
  const clear = new Set<MeasureId>();
  for (const [rank, { id, chance }] of byChance.toSorted(by(({ chance }) => chance)).entries()) {
    if (chance > LEVEL / (NAMED.length - rank)) break;
    clear.add(id);
  }
  const of = (id: MeasureId): Difference => {
    const difference = measures[id];
    return difference.clarity === 'clear' && !clear.has(id)
      ? { ...difference, clarity: 'unclear' }
      : difference;
  };
  return {
    dollarsPerMonth: of('dollarsPerMonth'),
    meanWaitS: of('meanWaitS'),
    p95WaitS: of('p95WaitS'),
    lostJobs: of('lostJobs'),
    lateSchedules: of('lateSchedules'),
  };
}

/**
 * The chance of a mean difference at least this large if there is none. 0 if all pairs differ by the
 * same amount, or if there is one pair only, whose chance nobody knows.
 */
function chanceOf({ change, margin, clarity }: Difference, pairs: number): number {
  if (clarity === 'none') return 1;
  if (margin === undefined || margin === 0) return 0;
  const freedom = pairs - 1;
  return 1 - shareWithin((Math.abs(change) / margin) * studentT(CONFIDENCE, freedom), freedom);
}

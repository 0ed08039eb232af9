/** The first line of a comparison: the verdict in words. */
import { by } from '../../../../lambda/decision/model/collections.ts';
import { CONFIDENCE, type Difference } from '../../change/difference.ts';
import type { ConfigChange, MeasureId } from '../../change/result.ts';
import { shareWithin, studentT } from '../../estimate/estimate.ts';
import { dollars, jobsLabel, seconds, share } from '../../report/parts/numbers.ts';
import { type Amounts, amountsOf } from '../backtest/amounts.ts';
import { type Check, FIGURES, hasLimits, type Limits } from './limits.ts';
import { code, mean } from './words.ts';

/** A change of less than this share of the value before is clear, but hardly matters. */
const SLIGHT = 0.01;

export type Verdict = {
  readonly isCrossed: boolean;
  /** One sentence or a few, without Markdown. */
  readonly text: string;
};

export type Judged = { readonly change: ConfigChange; readonly checks: readonly Check[] };

export function verdictOf(judged: readonly Judged[], limits: Limits): Verdict {
  if (judged.length === 0)
    return { isCrossed: false, text: `${hasLimits(limits) ? 'Within the limits. ' : ''}${NOTHING_REPLAYED}` };
  const crossed = judged.filter(({ checks }) => checks.some(({ outcome }) => outcome === 'crossed'));
  const isCrossed = crossed.length > 0;
  const [only] = judged;
  if (judged.length !== 1 || only === undefined) {
    const where = `${isCrossed ? crossed.length : 'all'} of ${judged.length} traces`;
    return {
      isCrossed,
      text: hasLimits(limits) ? `${limitText(judged)} (${where}).` : `Compared in ${where}.`,
    };
  }
  const prefix = hasLimits(limits) ? `${limitText(judged)}. ` : '';
  return { isCrossed, text: `${prefix}${effectOf(only.change)}` };
}

const NOTHING_REPLAYED =
  'No effect on cost and waits: no setting that a replay judges has changed, so nothing was replayed.';

function limitText(judged: readonly Judged[]): string {
  const checks = judged.flatMap((each) => each.checks);
  const crossed = checks.filter(({ outcome }) => outcome === 'crossed');
  if (crossed.length > 0)
    return `Limit crossed: ${[...new Set(crossed.map(({ figure }) => FIGURES[figure].name))].join(', ')}`;
  return checks.some(({ outcome }) => outcome === 'undecided')
    ? 'No limit is clearly crossed'
    : 'Within the limits';
}

/** What the change does in one trace, in sentences. */
function effectOf(change: ConfigChange): string {
  const named = namedDifferences(change);
  const { dollarsPerMonth, meanWaitS, p95WaitS, lateSchedules } = named;
  const losses = lossesOf(change, named);
  const lates = countText(lateSchedules, 'scheduled starts and stops are late');
  const isNone = [dollarsPerMonth, meanWaitS, p95WaitS].every(({ clarity }) => clarity === 'none');
  if (losses.length + lates.length === 0 && isNone) return 'No effect on cost and waits in this trace.';
  const isUnclear = [dollarsPerMonth, meanWaitS, p95WaitS].every(({ clarity }) => clarity !== 'clear');
  if (losses.length + lates.length === 0 && isUnclear) return 'No clear change of cost and waits.';
  const cost = costText(dollarsPerMonth, amountsOf(change));
  return [...losses, `This change ${cost}.`, `${waitText(change, named)}.`, ...lates].join(' ');
}

function lossesOf({ fits, trace }: ConfigChange, { lostJobs }: NamedDifferences): readonly string[] {
  const unfit =
    fits.onlyBefore === 0
      ? []
      : [`${mean(fits.onlyBefore)} of ${jobsLabel(trace.jobs)} have no pool any more.`];
  return [...unfit, ...countText(lostJobs, 'jobs are lost')];
}

function countText({ clarity, change, before, after }: Difference, what: string): readonly string[] {
  if (clarity !== 'clear') return [];
  return [`${change > 0 ? 'More' : 'Fewer'} ${what}: ${mean(after)} instead of ${mean(before)}.`];
}

function costText(monthly: Difference, { differenceOf, per }: Amounts): string {
  const { clarity, change, before } = differenceOf(monthly);
  if (clarity === 'none') return 'does not change the cost';
  if (clarity === 'unclear') return 'does not clearly change the cost';
  const percent = before > 0 ? ` (${share(Math.abs(change) / before)})` : '';
  const amount = `${dollars(Math.abs(change))}${percent}`;
  if (isSlight(change, before))
    return `hardly changes the cost: ${amount} ${change > 0 ? 'more' : 'less'} ${per}`;
  return change > 0 ? `costs ${amount} more ${per}` : `saves ${amount} ${per}`;
}

function waitText({ jobsOfPeople }: ConfigChange, { meanWaitS, p95WaitS }: NamedDifferences): string {
  if (jobsOfPeople === 0) return 'The trace has no jobs that people wait for';
  const figures = [
    { name: 'on average', ...meanWaitS },
    { name: 'at p95', ...p95WaitS },
  ].filter(({ clarity }) => clarity === 'clear');
  const [first] = figures;
  if (first === undefined)
    return [meanWaitS, p95WaitS].every(({ clarity }) => clarity === 'none')
      ? 'Waits stay the same'
      : 'Waits do not clearly change';
  const texts = figures.map(
    ({ name, before, after }) => `${name} ${seconds(after)} instead of ${seconds(before)}`,
  );
  return `People wait ${directionOf(figures)}: ${texts.join(', ')}`;
}

function directionOf(figures: readonly Difference[]): string {
  const isLonger = figures.map(({ change }) => change > 0);
  if (isLonger.every(Boolean)) return 'longer';
  return isLonger.some(Boolean) ? 'differently' : 'less';
}

const isSlight = (change: number, before: number): boolean => Math.abs(change) < before * SLIGHT;

/** `our March: People wait longer …`, for a list of several traces. */
export function traceLine({ change, checks }: Judged): string {
  const isCrossed = checks.some(({ outcome }) => outcome === 'crossed');
  return `- ${code(change.trace.name)}: ${isCrossed ? 'limit crossed. ' : ''}${effectOf(change)}`;
}

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

type NamedDifferences = Readonly<Record<(typeof NAMED)[number], Difference>>;

/**
 * The differences of the sentence, corrected for their number. Each figure alone is clear by chance
 * once in twenty comparisons; of five, one would be in nearly one of four. Holm's procedure keeps the
 * chance of any false one at 5 %.
 */
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
  return Object.fromEntries(NAMED.map((id) => [id, of(id)])) as NamedDifferences;
}

/** The chance of a difference this large if there is none. 0 if all pairs differ alike, or for one pair. */
function chanceOf({ change, margin, clarity }: Difference, pairs: number): number {
  if (clarity === 'none') return 1;
  if (margin === undefined || margin === 0) return 0;
  const freedom = pairs - 1;
  return 1 - shareWithin((Math.abs(change) / margin) * studentT(CONFIDENCE, freedom), freedom);
}

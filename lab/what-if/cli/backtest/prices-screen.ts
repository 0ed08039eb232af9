/** Formats what each price costs as a table, the settings for the prices worth choosing, and why no price meets a target. */
import { type Column, plainTable, wrapLines } from '../../../../cli/shared/plain-table.ts';
import { some } from '../../../../lambda/explain/format.ts';
import type { Estimate } from '../../estimate/estimate.ts';
import { atPriceOfWaiting } from '../../replay/prices.ts';
import { rangesText } from '../../report/parts/headline.ts';
import { brief, dollars, estimateText, jobsLabel, priceText, seconds } from '../../report/parts/numbers.ts';
import { lengthLabel } from '../../report/parts/times.ts';
import {
  figureOf,
  heldBack,
  isMetOnAverage,
  mostOf,
  type PricePoint,
  type Target,
} from '../../search/price-search.ts';
import { yamlFragment } from '../../search/recommendation.ts';
import { type Tuning, USUAL_SEEDS } from '../../search/tune.ts';
import type { Trace } from '../../trace/trace.ts';
import { amountsOf } from './amounts.ts';

export type Tuned = Tuning & {
  readonly trace: Trace;
  readonly configFile: string;
  readonly target: Target | undefined;
};

/** `width`: characters of a line. @default as wide as needed */
export function tuneText(tuned: Tuned, width?: number): string {
  const { configFile, choices, config } = tuned;
  const yaml = choices.flatMap((choice) => [
    wrapLines(`${choiceText(tuned, choice.price)}, merge into ${configFile}:`, width),
    yamlFragment(choice, atPriceOfWaiting(config, choice.price)),
  ]);
  return [
    ...[headline(tuned), ...bestText(tuned)].map((text) => wrapLines(text, width)),
    pricesTable(tuned, width),
    wrapLines(legend(tuned).join('\n'), width),
    ...yaml,
    NOTES.join('\n'),
  ].join('\n\n');
}

function headline({ trace }: Tuned): string {
  const days = heldBack(trace).filter((isHeldBack) => isHeldBack).length;
  const jobs = `${jobsLabel(trace.jobs.length)} in ${lengthLabel({ trace })}, ${some(USUAL_SEEDS, 'seed')}.`;
  if (days === 0) return `${jobs} Too short to check the choice on other days: choose again in a week.`;
  const which = days < 7 ? 'Every third day is' : `The last ${days} days are`;
  return `${jobs} ${which} held back to check the choice.`;
}

function bestText({ trace, target, best }: Tuned): readonly string[] {
  if (target === undefined || best === undefined) return [];
  const { of, per } = amountsOf({ trace });
  const { price, seen, heldOut } = best;
  const another = seen.meanWaitS.range === undefined ? '' : ' Expect in another week like these:';
  return [
    [
      `${priceText(price)} a minute meets ${targetText(target)}.${another}`,
      `  ${estimateText(seen.dollarsPerMonth, (monthly) => dollars(of(monthly)))} ${per}`,
      `  mean wait ${estimateText(seen.meanWaitS, seconds)}`,
      `  p95 wait ${estimateText(seen.p95WaitS, seconds)}`,
      ...(heldOut === undefined ? [] : [heldOutText(heldOut, target)]),
    ].join('\n'),
  ];
}

function heldOutText(levels: NonNullable<PricePoint['heldOut']>, target: Target): string {
  const { dollarsPerMonth, meanWaitS, p95WaitS } = levels;
  const figures = `${dollars(dollarsPerMonth)} a month, mean wait ${seconds(meanWaitS)}, p95 ${seconds(p95WaitS)}`;
  return levels[figureOf(target)] <= mostOf(target)
    ? `The days held back meet it: ${figures}.`
    : `The days held back miss it: ${figures}. Your demand changes more than these days show.`;
}

function pricesTable({ trace, points, best }: Tuned, width: number | undefined): string {
  const { of, per } = amountsOf({ trace });
  const columns: readonly Column[] = [
    { head: 'price', align: 'right' },
    { head: '', align: 'right' },
    { head: `$ ${per}`, align: 'right' },
    { head: 'mean wait s', align: 'right' },
    { head: 'p95 wait s', align: 'right' },
    { head: 'held back', align: 'right' },
  ];
  const rows = points.map((point) => {
    const { price, isConfigured, seen, heldOut } = point;
    return [
      ...[priceText(price), [isConfigured ? 'now' : '', price === best?.price ? '<-' : ''].join(' ').trim()],
      rangeText(seen.dollarsPerMonth, of),
      rangeText(seen.meanWaitS),
      rangeText(seen.p95WaitS),
      heldOut === undefined ? '-' : `${brief(heldOut.dollarsPerMonth)}, ${brief(heldOut.meanWaitS)}`,
    ];
  });
  return plainTable(columns, rows, width);
}

/** `12.3 (10-15)` */
function rangeText(
  { value, range = [value, value] }: Estimate,
  of = (amount: number): number => amount,
): string {
  const [low, high] = range.map((end) => Number(of(end).toPrecision(2)).toLocaleString('en-US', ENDS));
  return range[0] === range[1] ? brief(of(value)) : `${brief(of(value))} (${low}-${high})`;
}

const ENDS = { maximumFractionDigits: 2 };

function legend({ trace, points, best }: Tuned): readonly string[] {
  const isChecked = points.some(({ heldOut }) => heldOut !== undefined);
  return [
    ...points.slice(0, 1).map(({ seen }) => rangesText(seen)),
    ...(isChecked ? [`held back: $ ${amountsOf({ trace }).per} and mean wait of the days held back.`] : []),
    `now: as configured.${best === undefined ? '' : ' <-: the choice.'}`,
  ];
}

function choiceText(tuned: Tuned, price: number): string {
  const { points, best } = tuned;
  const point = points.find((each) => each.price === price);
  if (point?.isConfigured)
    return `The present price${point === best ? ' is the choice' : ''}, ${priceText(price)}`;
  return `${point === best ? 'The choice,' : 'For'} ${priceText(price)}${changeText(tuned, point)}`;
}

/** What it would change: ` ($4.00 a month more than now, mean wait 5.4 s instead of 5.9 s)`. */
function changeText({ trace, points }: Tuned, point: PricePoint | undefined): string {
  const present = points.find(({ isConfigured }) => isConfigured);
  if (present === undefined || point === undefined) return '';
  const { of, per } = amountsOf({ trace });
  const more = of(point.seen.dollarsPerMonth.value - present.seen.dollarsPerMonth.value);
  const amount = dollars(Math.abs(more));
  const [before, after] = [present, point].map(({ seen }) => seconds(seen.meanWaitS.value));
  const wait = before === after ? 'the same mean wait' : `mean wait ${after} instead of ${before}`;
  if (amount === dollars(0)) return ` (the same cost, ${wait})`;
  return ` (${amount} ${per} ${more < 0 ? 'less' : 'more'} than now, ${wait})`;
}

const NOTES: readonly string[] = [
  'A limit is raised if less than a quarter, or two tasks, is left above the use.',
  'A month is 730 hours. The cost is of tasks only: network, logs and the function',
  'cost extra (docs/cost.md).',
];

function targetText(target: Target): string {
  switch (target.kind) {
    case 'budget':
      return `a budget of ${dollars(target.dollarsPerMonth)} a month`;
    case 'mean-wait':
      return `a mean wait of up to ${seconds(target.seconds)}`;
    case 'p95-wait':
      return `a p95 wait of up to ${seconds(target.seconds)}`;
    default:
      return target satisfies never;
  }
}

export function unreachableText(
  target: Target,
  tuning: Pick<Tuning, 'points' | 'config' | 'unlimited'>,
): string {
  const { points } = tuning;
  const text = target.kind === 'budget' ? dollars : seconds;
  const highOf = (point: PricePoint): number => point.seen[figureOf(target)].range?.[1] ?? 0;
  const [nearest] = points
    .filter((point) => isMetOnAverage(target, point))
    .toSorted((a, b) => highOf(a) - highOf(b));
  if (nearest !== undefined) {
    const [level, high] = [text(nearest.seen[figureOf(target)].value), text(highOf(nearest))];
    const remedies =
      target.kind === 'budget' ? 'or give a longer history' : `give a longer history, or ${KEEP}`;
    return `no price of waiting surely meets ${targetText(target)}. ${priceText(nearest.price)} a minute meets it in these days (${level}), but in another week like them it may be ${high}. Ask for ${high}, ${remedies}`;
  }
  const at = (point: PricePoint | undefined): string => priceText(point?.price ?? 0);
  if (target.kind === 'budget') {
    const [cheapest] = points;
    const cost = dollars(cheapest?.seen.dollarsPerMonth.value ?? 0);
    return `${targetText(target)} is too small: even at the lowest price of waiting (${at(cheapest)} a minute) the tasks of this trace cost about ${cost} a month. Raise the budget, or lower min, warm or the schedules of the pools`;
  }
  const dearest = points.at(-1);
  const wait = seconds(dearest?.seen[figureOf(target)].value ?? 0);
  const waits =
    target.kind === 'mean-wait'
      ? `people wait about ${wait} on average`
      : `5 of 100 jobs of people wait about ${wait} or longer`;
  return `${targetText(target)} is not possible: even at the highest price of waiting (${at(dearest)} a minute) ${waits}. ${remedyOf(target, tuning)}`;
}

/** Limits that were reached, or else daemons that are there before the builds. */
function remedyOf(
  target: Target,
  { points, config: { pools, limits }, unlimited }: Pick<Tuning, 'points' | 'config' | 'unlimited'>,
): string {
  const peaks = points.at(-1)?.peaks;
  const full = pools.filter(({ name, max }) => (peaks?.byPool[name] ?? 0) >= max);
  const names = full.map(({ name }) => `max of pool "${name}"`);
  if ((peaks?.all ?? 0) >= limits.maxTasks) names.push('limits.maxTasks');
  const were = names.length > 1 ? 'were' : 'was';
  if (names.length === 0)
    return `No limit was reached: the builds came before a daemon was ready. To shorten that, ${KEEP}`;
  if (unlimited === undefined || isMetOnAverage(target, unlimited))
    return `${names.join(' and ')} ${were} reached: raise ${names.length > 1 ? 'them' : 'it'}`;
  const wait = seconds(unlimited.seen[figureOf(target)].value);
  return `${names.join(' and ')} ${were} reached, but without limits the wait would be ${wait}: the builds came before a daemon was ready. To shorten that, ${KEEP}`;
}

const KEEP = 'keep daemons for them with warm, min or a schedule';

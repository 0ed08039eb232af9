/** Formats what each price costs as a table, the settings worth choosing, and why no price meets a target. */
import { type Column, plainTable, wrapLines } from '../../../../cli/shared/plain-table.ts';
import { ownValue } from '../../../../lambda/decision/model/collections.ts';
import type { Estimate } from '../../estimate/estimate.ts';
import { atPriceOfWaiting } from '../../replay/prices.ts';
import type { PricePoint } from '../../replay/result.ts';
import { rangesText } from '../../report/parts/headline.ts';
import { brief, dollars, estimateText, priceText, seconds } from '../../report/parts/numbers.ts';
import { figureOf, isMet, mostOf, type Target } from '../../search/price-search.ts';
import { yamlFragment } from '../../search/recommendation.ts';
import type { Tuning } from '../../search/tune.ts';
import type { Trace } from '../../trace/trace.ts';
import { amountsOf } from './amounts.ts';

export type Tuned = Tuning & {
  readonly trace: Pick<Trace, 'from' | 'to'>;
  readonly configFile: string;
  readonly target: Target | undefined;
};

/** `width`: characters of a line. @default as wide as needed */
export function tuneText(tuned: Tuned, width?: number): string {
  const { configFile, choices, config, target, points, best } = tuned;
  const found = best === undefined ? unreachableText : bestText;
  const yaml = choices.flatMap((choice) => [
    wrapLines(`${choiceText(tuned, choice.price)}, merge into ${configFile}:`, width),
    yamlFragment(choice, atPriceOfWaiting(config, choice.price)),
  ]);
  return [
    ...(target === undefined ? [] : [wrapLines(found(target, tuned), width)]),
    pricesTable(tuned, width),
    wrapLines(
      points
        .slice(0, 1)
        .map(({ estimates }) => rangesText(estimates))
        .join(''),
      width,
    ),
    ...yaml,
    ...(yaml.length === 0 ? [] : [wrapLines(NOTE, width)]),
  ].join('\n\n');
}

const NOTE =
  'A limit is raised if less than a quarter, or two tasks, is left above the use. A month is 730 hours. The cost is of tasks, launches and the autoscaler itself: network and logs cost extra (docs/cost.md).';

function bestText(target: Target, { trace, best }: Tuned): string {
  if (best === undefined) return '';
  const { of, per } = amountsOf({ trace });
  const { price, estimates } = best;
  const another = estimates.meanWaitS.range === undefined ? '' : ' Expect in another week like these:';
  return [
    `${priceText(price)} a minute meets ${targetText(target)}.${another}`,
    `  ${estimateText(estimates.dollarsPerMonth, (monthly) => dollars(of(monthly)))} ${per}`,
    `  mean wait ${estimateText(estimates.meanWaitS, seconds)}`,
    `  p95 wait ${estimateText(estimates.p95WaitS, seconds)}`,
  ].join('\n');
}

function pricesTable({ trace, points, best }: Tuned, width: number | undefined): string {
  const { of, per } = amountsOf({ trace });
  const columns: readonly Column[] = ['price', '', `$ ${per}`, 'mean wait s', 'p95 wait s'].map((head) => ({
    head,
    align: 'right',
  }));
  const rows = points.map(({ price, isConfigured, estimates }) => [
    ...[priceText(price), [isConfigured ? 'now' : '', price === best?.price ? '<-' : ''].join(' ').trim()],
    rangeText(estimates.dollarsPerMonth, of),
    rangeText(estimates.meanWaitS),
    rangeText(estimates.p95WaitS),
  ]);
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

function choiceText(tuned: Tuned, price: number): string {
  const { points, best } = tuned;
  const point = points.find((each) => each.price === price);
  const isBest = point !== undefined && point === best;
  if (point?.isConfigured) return `The present price${isBest ? ' is the choice' : ''}, ${priceText(price)}`;
  return `${isBest ? 'The choice,' : 'For'} ${priceText(price)}${changeText(tuned, point)}`;
}

/** What it would change: ` ($4.00 a month more than now, mean wait 5.4 s instead of 5.9 s)`. */
function changeText({ trace, points }: Tuned, point: PricePoint | undefined): string {
  const present = points.find(({ isConfigured }) => isConfigured);
  if (present === undefined || point === undefined) return '';
  const { of, per } = amountsOf({ trace });
  const more = of(point.estimates.dollarsPerMonth.value - present.estimates.dollarsPerMonth.value);
  const amount = dollars(Math.abs(more));
  const [before, after] = [present, point].map(({ estimates }) => seconds(estimates.meanWaitS.value));
  const wait = before === after ? 'the same mean wait' : `mean wait ${after} instead of ${before}`;
  if (amount === dollars(0)) return ` (the same cost, ${wait})`;
  return ` (${amount} ${per} ${more < 0 ? 'less' : 'more'} than now, ${wait})`;
}

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
  { points, config }: Pick<Tuned, 'points' | 'config'>,
): string {
  const text = target.kind === 'budget' ? dollars : seconds;
  const figure = figureOf(target);
  const highOf = ({ estimates }: PricePoint): number =>
    estimates[figure].range?.[1] ?? estimates[figure].value;
  const last = target.kind === 'budget' ? points[0] : points.at(-1);
  const [nearest] = points.toSorted((a, b) => highOf(a) - highOf(b));
  if (nearest === undefined || last === undefined) return '';
  const way = target.kind === 'budget' ? 'down' : 'up';
  const none = `No price of waiting ${way} to ${priceText(last.price)} a minute meets ${targetText(target)}.`;
  const level = estimateText(nearest.estimates[figure], text);
  return `${none} The nearest is ${priceText(nearest.price)}: ${level}. ${remedyOf(target, nearest, text(highOf(nearest)), config)}`;
}

/** A longer history, limits that were reached, or else daemons that are there before the builds. */
function remedyOf(
  target: Target,
  nearest: PricePoint,
  high: string,
  { pools, limits }: Tuning['config'],
): string {
  const hasLevel = nearest.estimates[figureOf(target)].value <= mostOf(target);
  if (hasLevel && !isMet(target, nearest))
    return `It meets the target in these days, and another week like them may have ${high}: ask for ${high}, or give a longer history.`;
  if (target.kind === 'budget') return 'Raise the budget, or lower min, warm or the schedules of the pools.';
  const { byPool, all } = nearest.figures.peaks;
  const full = pools.filter(({ name, max }) => (ownValue(byPool, name) ?? 0) >= max);
  const names = [
    ...full.map(({ name }) => `max of pool "${name}"`),
    ...(all >= limits.maxTasks ? ['limits.maxTasks'] : []),
  ];
  if (names.length > 0)
    return `${names.join(' and ')} ${names.length > 1 ? 'were' : 'was'} reached: raise ${names.length > 1 ? 'them' : 'it'}.`;
  return 'No limit was reached: the builds came before a daemon was ready. Keep daemons for them with warm, min or a schedule.';
}

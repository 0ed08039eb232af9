/** Formats what each price costs as a table, the settings for the prices worth choosing, and why no price meets a target. */

import { atPriceOfWaiting } from '../../backtest/replay/prices.ts';
import { rangesText } from '../../backtest/report/parts/headline.ts';
import {
  brief,
  dollars,
  estimateText,
  jobsLabel,
  priceText,
  seconds,
} from '../../backtest/report/parts/numbers.ts';
import { lengthLabel } from '../../backtest/report/parts/times.ts';
import {
  figureOf,
  heldBack,
  isMetOnAverage,
  mostOf,
  type PricePoint,
  type Target,
} from '../../backtest/search/price-search.ts';
import { yamlFragment } from '../../backtest/search/recommendation.ts';
import type { Tuning } from '../../backtest/search/tune.ts';
import type { Trace } from '../../backtest/trace/trace.ts';
import { some } from '../../lambda/explain/format.ts';
import { amountsOf } from '../backtest/amounts.ts';
import { type Column, plainTable } from '../shared/plain-table.ts';

type Tuned = Tuning & {
  readonly trace: Trace;
  readonly configFile: string;
  readonly target: Target | undefined;
  readonly seeds: number;
};

/** `width`: characters of a line. @default as wide as needed */
export function tuneText(tuned: Tuned, width?: number): string {
  const { configFile, choices, config } = tuned;
  const yaml = choices.map((choice) =>
    [
      `${choiceText(tuned, choice.price)}, merge into ${configFile}:`,
      yamlFragment(choice, atPriceOfWaiting(config, choice.price)),
    ].join('\n\n'),
  );
  return [
    headline(tuned),
    ...bestText(tuned),
    pricesTable(tuned, width),
    legend(tuned).join('\n'),
    ...yaml,
    NOTES.join('\n'),
  ].join('\n\n');
}

function headline({ trace, seeds }: Tuned): string {
  const days = heldBack(trace).filter((isHeldBack) => isHeldBack).length;
  const jobs = `${jobsLabel(trace.jobs.length)} in ${lengthLabel({ trace })}, ${some(seeds, 'seed')}.`;
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
    { head: 'price', align: 'left' },
    { head: `$ ${per}`, align: 'right' },
    { head: 'mean wait s', align: 'right' },
    { head: 'p95 s', align: 'right' },
    { head: 'idle/launches', align: 'right' },
    { head: 'held back', align: 'right' },
  ];
  const rows = points.map((point) => {
    const { seen, heldOut, launches, idleLaunches } = point;
    const marks = [...(point.isConfigured ? ['now'] : []), ...(point.price === best?.price ? ['<-'] : [])];
    return [
      [priceText(point.price), ...marks].join(' '),
      estimateText(seen.dollarsPerMonth, (monthly) => brief(of(monthly)), '-'),
      estimateText(seen.meanWaitS, brief, '-'),
      brief(seen.p95WaitS.value),
      `${Math.round(idleLaunches)}/${Math.round(launches)}`,
      heldOut === undefined ? '-' : `$${brief(heldOut.dollarsPerMonth)}, ${brief(heldOut.meanWaitS)} s`,
    ];
  });
  return plainTable(columns, rows, width);
}

function legend({ points, best }: Tuned): readonly string[] {
  return [
    ...points.slice(0, 1).map(({ seen }) => rangesText(seen)),
    `now: as configured.${best === undefined ? '' : ' <-: the choice.'}`,
  ];
}

function choiceText({ points, best }: Tuned, price: number): string {
  if (price === best?.price) return `The choice, ${priceText(price)}`;
  const isConfigured = points.some((point) => point.price === price && point.isConfigured);
  return isConfigured ? `The present price, ${priceText(price)}` : `For ${priceText(price)}`;
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
  { points, config }: Pick<Tuning, 'points' | 'config'>,
): string {
  const text = target.kind === 'budget' ? dollars : seconds;
  const highOf = (point: PricePoint): number => point.seen[figureOf(target)].range?.[1] ?? 0;
  const [nearest] = points
    .filter((point) => isMetOnAverage(target, point))
    .toSorted((a, b) => highOf(a) - highOf(b));
  if (nearest !== undefined)
    return `no price of waiting surely meets ${targetText(target)}. ${priceText(nearest.price)} a minute meets it in these days, but another week like them may need ${estimateText(nearest.seen[figureOf(target)], text)}. Ask for ${text(highOf(nearest))}, or give a longer history`;
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
  return `${targetText(target)} is not possible: even at the highest price of waiting (${at(dearest)} a minute) ${waits}. ${remedyOf(dearest, config)}`;
}

/** Limits that were reached, or else daemons that are there before the builds. */
function remedyOf(point: PricePoint | undefined, { pools, limits }: Tuning['config']): string {
  const full = pools.filter(({ name, max }) => (point?.peaks.byPool[name] ?? 0) >= max);
  const names = full.map(({ name }) => `max of pool "${name}"`);
  if ((point?.peaks.all ?? 0) >= limits.maxTasks) names.push('limits.maxTasks');
  if (names.length > 0) return `${names.join(' and ')} was reached: raise it`;
  return 'No limit was reached: the builds came before a daemon was ready. Keep daemons for them with warm, min or a schedule';
}

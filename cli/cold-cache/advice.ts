/** What to do about empty caches, with the numbers to weigh it. */
import { meanOf, sum } from '../../lambda/decision/model/collections.ts';
import { ageText } from '../../lambda/explain/format.ts';
import { dollarText, secondText } from './amounts.ts';
import type { TemplateEstimate } from './estimate.ts';
import type { Estimate } from './interval.ts';
import { fargatePrice, waitingPrice } from './month.ts';
import { type ColdCacheReport, nameOf } from './report.ts';

/** An init of a used task that takes so long probably downloads something. */
const SLOW_WARM_S = 10;

export function adviceLines(report: ColdCacheReport): readonly string[] {
  const costly = report.templates.filter(({ verdict }) => verdict === 'cost');
  return [
    ...(costly.length === 0 ? [] : FOR_COLD_BUILDS),
    ...costly.slice(0, 3).flatMap((template) => breakEven(report, template)),
    ...report.templates.flatMap((template) => slowWarm(report, template)),
  ];
}

const FOR_COLD_BUILDS: readonly string[] = [
  '- Put the providers into the image of the tasks: no build downloads them then. autoscaler image writes its Dockerfile (docs/upgrade.md).',
  '- Or run a provider mirror near the tasks: each download takes less time.',
  '- Or keep tasks longer, so that fewer builds are the first of their task: a longer idleTimeout.',
];

/** How long an idle task may cost as much as a cold build of this template. */
function breakEven(report: ColdCacheReport, template: TemplateEstimate): readonly string[] {
  const longer = longerOf(template);
  const cold = template.builds.filter(({ group }) => group === 'first');
  const prices = cold.flatMap((build) => {
    const pool = report.pools.get(build.pool);
    return pool === undefined
      ? []
      : [{ second: waitingPrice(build, pool) + fargatePrice(pool), idle: fargatePrice(pool) }];
  });
  if (longer === undefined || prices.length === 0) return [];
  const dollars = longer.value * meanOf(prices.map(({ second }) => second));
  const idleSeconds = (dollars * prices.length) / sum(prices, ({ idle }) => idle);
  return [
    `  A cold build of "${nameOf(report, template.template)}" costs ${dollarText(dollars)}, as much as ${ageText(idleSeconds)} of an idle task. A longer idleTimeout pays if the next build usually comes earlier.`,
  ];
}

const longerOf = ({ groups }: TemplateEstimate): Estimate | undefined =>
  groups.find(({ group }) => group === 'first')?.longer;

/** Terraform uses its cache only for providers in the lock file (docs/internals/coder.md §13). */
function slowWarm(report: ColdCacheReport, { template, groups }: TemplateEstimate): readonly string[] {
  const warm = meanOf(groups.find(({ group }) => group === 'warm')?.inits ?? []);
  if (warm < SLOW_WARM_S) return [];
  return [
    `- Later builds of "${nameOf(report, template)}" spend ${secondText(warm)} in init too. Check that the template contains .terraform.lock.hcl: without it, Terraform downloads the providers in each build.`,
  ];
}

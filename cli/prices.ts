/** The cost section of `autoscaler validate`: the expected monthly price of each pool's tasks. */
import { BUILDS, buildsPerTask, estimatePools, loadOf, type PoolEstimate, USUAL } from '../infra/cost.ts';
import type { Deployment } from '../lambda/config/rules/deployment.ts';
import { sum } from '../lambda/decision/model/collections.ts';
import { type Column, plainTable } from './shared/plain-table.ts';

/**
 * A table with one row per pool, and one sentence per assumption. Without `buildsPerDay` it assumes
 * a usual day. `width`: characters of a line. @default as wide as needed
 */
export function renderPrices(
  deployment: Deployment,
  buildsPerDay: number | undefined,
  width?: number,
): string {
  const { load, estimates } = estimate(deployment, buildsPerDay);
  return [
    'Expected cost of the tasks, in dollars a month:',
    '',
    plainTable(COLUMNS, [...estimates.map(row), totalRow(estimates)], width),
    '',
    buildsText(buildsPerDay),
    ...(load.share > 1 ? [TOO_MANY] : []),
    ...ASSUMPTIONS,
  ].join('\n');
}

/** The cost of each pool's tasks, with this number of builds a day or with a usual day. */
export function estimate(deployment: Deployment, buildsPerDay: number | undefined) {
  const load = buildsPerDay === undefined ? USUAL : loadOf(deployment, buildsPerDay);
  return { load, estimates: estimatePools(deployment, load) };
}

const COLUMNS: readonly Column[] = [
  { head: 'pool', align: 'left' },
  { head: 'max', align: 'right' },
  { head: 'builds a day', align: 'right' },
  { head: 'kept free', align: 'left' },
  { head: 'a month', align: 'right' },
  { head: 'at $1.00', align: 'right' },
];

function row({ pool, buildsPerDay, dollars, atOneDollar }: PoolEstimate): readonly (string | number)[] {
  return [pool.name, pool.max, Math.round(buildsPerDay), keptText(pool), whole(dollars), whole(atOneDollar)];
}

function keptText({ warm, waiting, retiring }: PoolEstimate['pool']): string {
  if (retiring) return 'retiring';
  return warm === 'auto' ? `at $${amount(waiting.person)} a minute` : `warm: ${warm}`;
}

function totalRow(estimates: readonly PoolEstimate[]): readonly string[] {
  const all = sum(estimates, ({ dollars }) => dollars);
  return ['all', '', '', '', whole(all), whole(sum(estimates, ({ atOneDollar }) => atOneDollar))];
}

function buildsText(buildsPerDay: number | undefined): string {
  return buildsPerDay === undefined
    ? `Assumed: ${Math.round(buildsPerTask(USUAL))} builds a working day for each task of max (or of maxTasks, if lower). Set your number with --builds-per-day N.`
    : `Assumed: ${buildsPerDay} builds a working day, shared between the pools by their max.`;
}

const TOO_MANY = 'These builds need more tasks than max and maxTasks allow: jobs will wait.';

const ASSUMPTIONS: readonly string[] = [
  `A working day is Monday to Friday, 10 hours. A build takes ${BUILDS.minutes} minute. People start ${BUILDS.unforeseen * 100} % of the builds.`,
  'The price of waiting (waiting.person) decides how many daemons the pool keeps free. "at $1.00" is the cost with person: 1.00, a developer at $60 an hour.',
  'Prices are for Fargate in us-east-1. NAT gateways, logs and the function cost extra: docs/cost.md.',
];

const whole = (dollars: number): string => `$${grouped(Math.round(dollars))}`;

/** Two decimals, up to four if needed. */
function amount(dollars: number): string {
  const [units, decimals = ''] = String(Number(dollars.toFixed(4))).split('.');
  return `${grouped(Number(units))}.${decimals.padEnd(2, '0')}`;
}

/** Commas between thousands. A first number format of Intl takes longer than the whole table. */
function grouped(units: number): string {
  return String(units).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** The cost section of `autoscaler validate`: the expected monthly price of each pool's tasks. */
import { BUILDS, estimatePools, loadOf, type PoolEstimate, QUIET } from '../infra/cost.ts';
import type { Deployment } from '../lambda/config/rules/deployment.ts';
import { sum } from '../lambda/decision/model/collections.ts';
import { type Column, plainTable } from './shared/plain-table.ts';

/**
 * A table with one row per pool, and one sentence per assumption. Without `buildsPerDay` it has only
 * the cost of idle pools. `width`: characters of a line. @default as wide as needed
 */
export function renderPrices(
  deployment: Deployment,
  buildsPerDay: number | undefined,
  width?: number,
): string {
  const rows = estimate(deployment, buildsPerDay);
  const isBuilding = buildsPerDay !== undefined;
  const columns = isBuilding ? [...COLUMNS, ...BUILD_COLUMNS] : COLUMNS;
  const cells = rows.map((row) => [...poolCells(row), ...buildCells(row.building)]);
  return [
    `Expected cost of the tasks${isBuilding ? '' : ' without builds'}, in dollars a month:`,
    '',
    plainTable(columns, [...cells, totalCells(rows)], width),
    '',
    ...(isBuilding ? buildsText(deployment, buildsPerDay) : [NO_BUILDS]),
    PRICED,
  ].join('\n');
}

type PoolCost = {
  /** Without any build: only floors and schedules cost. */
  readonly idle: PoolEstimate;
  /** With the given number of builds. */
  readonly building: PoolEstimate | undefined;
};

/** The cost of each pool's tasks, idle and with this number of builds a day. */
export function estimate(deployment: Deployment, buildsPerDay: number | undefined): readonly PoolCost[] {
  const building =
    buildsPerDay === undefined ? [] : estimatePools(deployment, loadOf(deployment, buildsPerDay));
  return estimatePools(deployment, QUIET).map((idle, at) => ({ idle, building: building[at] }));
}

const COLUMNS: readonly Column[] = [
  { head: 'pool', align: 'left' },
  { head: 'max', align: 'right' },
  { head: 'kept free', align: 'left' },
  { head: 'idle', align: 'right' },
];
const BUILD_COLUMNS: readonly Column[] = [
  { head: 'builds a day', align: 'right' },
  { head: 'with builds', align: 'right' },
  { head: 'at $1.00', align: 'right' },
];

function poolCells({ idle: { pool, dollars } }: PoolCost): readonly (string | number)[] {
  return [pool.name, pool.max, keptText(pool), whole(dollars)];
}

function buildCells(building: PoolCost['building']): readonly (string | number)[] {
  if (building === undefined) return [];
  const { buildsPerDay, dollars, atOneDollar } = building;
  return [Math.round(buildsPerDay), whole(dollars), whole(atOneDollar)];
}

function keptText({ warm, waiting, retiring }: PoolEstimate['pool']): string {
  if (retiring) return 'retiring';
  return warm === 'auto' ? `at $${amount(waiting.person)} a minute` : `warm: ${warm}`;
}

function totalCells(rows: readonly PoolCost[]): readonly string[] {
  const building = rows.flatMap((row) => row.building ?? []);
  const sums = [sum(building, ({ dollars }) => dollars), sum(building, ({ atOneDollar }) => atOneDollar)];
  return [
    ...['all', '', '', whole(sum(rows, ({ idle }) => idle.dollars))],
    ...(building.length === 0 ? [] : ['', ...sums.map(whole)]),
  ];
}

function buildsText(deployment: Deployment, buildsPerDay: number): readonly string[] {
  return [
    `Assumed: ${buildsPerDay} builds a working day, shared between the pools by their max.`,
    ...(loadOf(deployment, buildsPerDay).share > 1 ? [TOO_MANY] : []),
    ...ASSUMPTIONS,
  ];
}

const NO_BUILDS =
  'These are the tasks that run without any build. Add --builds-per-day N for an estimate with N builds on a working day.';

const TOO_MANY = 'These builds need more tasks than max and maxTasks allow: jobs will wait.';

const ASSUMPTIONS: readonly string[] = [
  `A working day is Monday to Friday, 10 hours. A build takes ${BUILDS.minutes} minute. People start ${BUILDS.unforeseen * 100} % of the builds.`,
  'The price of waiting (waiting.person) decides how many daemons the pool keeps free. "at $1.00" is the cost with person: 1.00, a developer at $60 an hour.',
];

const PRICED =
  'Prices are for Fargate in us-east-1. NAT gateways, logs and the function cost extra: docs/cost.md.';

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

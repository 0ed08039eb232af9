/** `autoscaler sizes` as a screen: a table, then what to do about each pool. */

import { SHORTEST_FOR_MONTH_MS } from '../../lambda/decision/model/units.ts';
import { ageText, some, timeText } from '../../lambda/explain/format.ts';
import { type Column, plainTable } from '../shared/plain-table.ts';
import type { Size } from './advise.ts';
import type { PoolSizes, Sizes } from './report.ts';

const COLUMNS: readonly Column[] = [
  { head: 'pool', align: 'left' },
  { head: 'builds', align: 'right' },
  { head: 'tasks', align: 'right' },
  { head: 'task h', align: 'right' },
  { head: 'MiB p50', align: 'right' },
  { head: 'p95', align: 'right' },
  { head: 'max', align: 'right' },
  { head: 'CPU p95', align: 'right' },
  { head: 'throttled', align: 'right' },
  { head: 'size', align: 'left' },
  { head: 'would hold', align: 'left' },
];
const MONTH: Column = { head: 'a month', align: 'right' };

export function sizesScreen(sizes: Sizes, width?: number): string {
  const { pools, from, to, headroomPercent, sampleSeconds } = sizes;
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  const isMonthly = seconds * 1000 >= SHORTEST_FOR_MONTH_MS;
  const notes = [...pools.flatMap((pool) => notesOn(pool, sizes)), ...(sizes.isCut ? [CUT] : [])];
  return [
    `what tasks used from ${timeText(from)} to ${timeText(to)}`,
    '',
    plainTable(isMonthly ? [...COLUMNS, MONTH] : COLUMNS, pools.map(rowOf), width),
    '',
    ...notes.map((note) => `  ${note}`),
    ...(notes.length > 0 ? [''] : []),
    isMonthly ? MONTHLY : `Only ${ageText(seconds)} were measured: figures of a month need two days.`,
    `A size holds the highest memory of all builds and ${headroomPercent} % more. CPU is in percent of one vCPU.`,
    `Peaks shorter than ${sampleSeconds} s are missed. Nothing was changed.`,
  ].join('\n');
}

const MONTHLY = 'Dollars a month are for the task-hours of these days, so they have no range.';

const CUT = 'Some lines of the log are missing: one second has more than AWS returns. Use fewer --days.';

function rowOf({ pool, builds, tasks, taskHours, measured, configured, advice }: PoolSizes) {
  const { memory, cpuP95Percent, throttledPercent } = measured ?? {};
  return [
    ...[pool, builds, tasks, taskHours.toFixed(1)],
    ...[memory?.p50MiB ?? '-', memory?.p95MiB ?? '-', memory?.maxMiB ?? '-'],
    ...[percentText(cpuP95Percent), percentText(throttledPercent), sizeText(configured)],
    advice.verdict === 'keep' ? 'this one' : advice.size === undefined ? '-' : sizeText(advice.size),
    advice.dollarsAMonth === undefined ? '' : dollarsText(advice.dollarsAMonth),
  ];
}

function notesOn(
  { pool, advice, configured, ...usage }: PoolSizes,
  { buildsNeeded }: Sizes,
): readonly string[] {
  const notes = [];
  const { measuredBuilds, killedBuilds } = usage;
  if (killedBuilds > 0)
    notes.push(
      `${some(killedBuilds, 'build')} had a process killed, most likely because ${sizeText(configured)} is too little memory. If you have raised it since, use fewer --days`,
    );
  if (advice.verdict === 'too-few-builds')
    notes.push(
      `a smaller size would have held ${some(measuredBuilds, 'measured build')}, but advice to use one needs ${buildsNeeded}. Use more --days, or wait`,
    );
  if (advice.verdict === 'none-fits') notes.push('no size of Fargate is large enough');
  if (advice.verdict === 'no-lines')
    notes.push(`its tasks logged nothing about their usage. ${whyNot(usage)}`);
  if (advice.verdict === 'no-builds') notes.push('no build ran while its tasks were measured');
  if (advice.isCpuBound)
    notes.push(
      'builds use all the CPU that they can get. With more CPU they may be faster; less CPU is not advised',
    );
  if (advice.size !== undefined)
    notes.push(`set cpu: ${advice.size.cpu} and memory: ${advice.size.memory}, and deploy`);
  return notes.map((note) => `${pool}: ${note}.`);
}

function whyNot({ hasGuard }: Pick<PoolSizes, 'hasGuard'>): string {
  return hasGuard
    ? 'Either none ran, or they have an older guard (deploy this version), or AUTOSCALER_USAGE is off'
    : 'Only guards log it, and this pool has none (scaleIn is not lease)';
}

function sizeText({ cpu, memory }: Size): string {
  return `${cpu / 1024} vCPU ${memory / 1024} GB`;
}

function percentText(percent: number | undefined): string {
  return percent === undefined ? '-' : `${percent} %`;
}

function dollarsText(dollars: number): string {
  return `${dollars < 0 ? '-' : '+'}$${Math.abs(dollars).toFixed(2)}`;
}

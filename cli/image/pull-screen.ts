/** What `autoscaler image` prints about image pulls. */
import { type Column, plainTable } from '../shared/plain-table.ts';
import type { Advice, PoolAdvice } from './advice/advice.ts';
import type { PullOption } from './advice/options.ts';

const HEADS = ['tasks', 'pull p50', 'pull p95', 'start p50', 'share of start', 'zstd', 'SOCI'];

export function pullScreen(advice: Advice, width?: number): string {
  if (advice.kind === 'none') return `No advice on image pulls: ${advice.why}`;
  const columns: readonly Column[] = [
    { head: 'pool', align: 'left' },
    ...HEADS.map((head) => ({ head, align: 'right' as const })),
  ];
  const outside = advice.pools.filter((pool) => hasOption(pool, 'pull-through-cache'));
  return [
    'Image pulls of the tasks that ECS lists, with their present image:',
    plainTable(columns, advice.pools.map(rowOf), width),
    ...fewTasks(advice.pools),
    ...(advice.unmeasured.length === 0 ? [] : [`No tasks to measure: ${advice.unmeasured.join(', ')}`]),
    '',
    MEANING,
    ...(outside.length === 0 ? [] : [`${PULL_THROUGH} ${outside.map(({ pool }) => pool).join(', ')}.`]),
  ].join('\n');
}

/** With fewer, the 95th percentile is the greatest value. */
const ENOUGH_TASKS = 20;

function fewTasks(pools: readonly PoolAdvice[]): readonly string[] {
  const those = pools.filter(({ tasks }) => tasks < ENOUGH_TASKS).map(({ pool }) => pool);
  if (those.length === 0) return [];
  return [
    `Fewer than ${ENOUGH_TASKS} tasks, so the figures are rough, and pull p95 is the slowest pull: ${those.join(', ')}`,
  ];
}

function rowOf(advice: PoolAdvice): readonly (string | number)[] {
  const { pool, tasks, pullP50Seconds, pullP95Seconds, startP50Seconds, share } = advice;
  return [
    ...[pool, tasks, `${pullP50Seconds} s`, `${pullP95Seconds} s`, `${startP50Seconds} s`],
    ...[`${Math.round(share * 100)} %`, atMost(advice, 'zstd'), atMost(advice, 'soci')],
  ];
}

function atMost({ options }: PoolAdvice, option: PullOption['option']): string {
  const seconds = options.find((each) => each.option === option)?.atMostSeconds;
  return seconds === undefined ? '' : `<= ${seconds} s`;
}

function hasOption({ options }: PoolAdvice, option: PullOption['option']): boolean {
  return options.some((each) => each.option === option);
}

const MEANING = `The last two columns are estimates of the most that each could save of a median start. Use one of them.
  zstd: AWS measured up to 27 % of the start time with its images. It shrinks the layers of the base image
    when you build them yourself, and hardly the zip files of providers.
  SOCI: Fargate loads files when they are read, so a build loads only the providers that it uses. It needs
    an index beside the image, and gains with images of more than 250 MiB in ECR. Not together with zstd.
The providers make the image larger: run this again after the deployment to see what the pulls take then.`;

const PULL_THROUGH = `Their image comes from outside ECR. A pull-through cache, or an image in your own ECR, avoids the limits and
outages of the other registry. How many seconds that saves is not known. Pools:`;

/** Reads the lines of the guards' samplers from the log groups of the pools. */
import type { ECSClient } from '@aws-sdk/client-ecs';
import * as z from 'zod';
import { describeTaskDefinition, provisionerOf } from '../../lambda/adapters/ecs/task-definitions.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { POOL_TAG, tagOf } from '../../lambda/decision/model/service-tags.ts';
import type { Service } from '../../lambda/decision/model/snapshot.ts';
import type { FunctionLog, LogSpan } from '../logs/function-log.ts';
import { InputError } from '../shared/cli-environment.ts';
import type { UsageLine } from './measure.ts';

export type Lines = {
  readonly lines: readonly UsageLine[];
  /** Whether lines are missing. */
  readonly isCut: boolean;
};

/** Throws InputError. */
export async function readUsageLines(
  { services, queryGroups }: FunctionLog,
  { ecs, pools }: { readonly ecs: ECSClient; readonly pools: readonly PoolConfig[] },
  span: LogSpan,
): Promise<Lines> {
  const names = pools.map(({ name }) => name);
  const definitions = services
    .filter((service) => names.some((name) => name === tagOf(service, POOL_TAG)))
    .flatMap(({ taskDefinition }: Service) => taskDefinition ?? []);
  const groups = await Promise.all(definitions.map((arn) => logGroupOf(ecs, arn)));
  const known = [...new Set(groups.flatMap((group) => group ?? []))];
  if (known.length === 0) return { lines: [], isCut: false };
  const { rows, isCut } = await queryGroups(known, QUERY, span);
  return { lines: rows.flatMap((row) => lineSchema.safeParse(row).data ?? []), isCut };
}

const QUERY = [
  'fields @timestamp, pool, task, peakMiB, cpuPercent, throttledPercent',
  'filter message = "usage"',
  'sort @timestamp asc',
];

/** A row of Logs Insights: its fields are texts. Rows of anything else are left out. */
const whole = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number);
const lineSchema = z
  .object({
    '@timestamp': z
      .string()
      .transform((text) => Date.parse(`${text.replace(' ', 'T')}Z`) as EpochMs)
      .refine((at) => !Number.isNaN(at)),
    pool: z.string(),
    task: z.string(),
    peakMiB: whole,
    cpuPercent: whole,
    throttledPercent: whole.optional(),
  })
  .transform(({ '@timestamp': at, throttledPercent, ...line }) => ({ at, throttledPercent, ...line }));

/** Undefined if the container logs to another driver. */
async function logGroupOf(ecs: ECSClient, arn: string): Promise<string | undefined> {
  try {
    return provisionerOf(await describeTaskDefinition(ecs, arn))?.logConfiguration?.options?.[
      'awslogs-group'
    ];
  } catch (cause) {
    const isDenied = cause instanceof Error && cause.name === 'AccessDeniedException';
    const advice = isDenied ? 'ask for ecs:DescribeTaskDefinition' : 'try again';
    throw new InputError(`finding the log group of ${arn}: ${messageOf(cause)}; ${advice}`, { cause });
  }
}

/** Reads the lines of the guards and their samplers from the log groups of the pools. */
import type { ECSClient } from '@aws-sdk/client-ecs';
import * as z from 'zod';
import { ROLE } from '../../lambda/adapters/coderd/coderd.ts';
import { type JobOutcome, outcomeSchema, readJobsSince } from '../../lambda/adapters/coderd/history.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { describeTaskDefinition, provisionerOf } from '../../lambda/adapters/ecs/task-definitions.ts';
import { isDenied } from '../../lambda/adapters/shared/aws-calls.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { poolOfService } from '../../lambda/decision/model/service-tags.ts';
import type { Service } from '../../lambda/decision/model/snapshot.ts';
import { nameInParts } from '../../lambda/decision/supply/daemons.ts';
import type { FunctionLog, LogSpan } from '../logs/function-log.ts';
import { InputError } from '../shared/cli-environment.ts';
import { orRefuse, readServer } from '../trace/history.ts';
import type { Build, SeenTask, UsageLine } from './measure.ts';

type Lines = {
  readonly lines: readonly UsageLine[];
  /** All lines, with those of the guards. */
  readonly seen: readonly SeenTask[];
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
    .filter((service) => names.some((name) => name === poolOfService(service)))
    .flatMap(({ taskDefinition }: Service) => taskDefinition ?? []);
  const groups = await Promise.all(definitions.map((arn) => logGroupOf(ecs, arn)));
  const known = [...new Set(groups.flatMap((group) => group ?? []))];
  if (known.length === 0) return { lines: [], seen: [], isCut: false };
  const { rows, isCut } = await queryGroups(known, QUERY, span);
  const lines = rows.flatMap((row) => lineSchema.safeParse(row).data ?? []);
  const ofGuards = rows.flatMap((row) => guardSchema.safeParse(row).data ?? []);
  return { lines, seen: [...lines, ...ofGuards], isCut };
}

const QUERY = [
  'fields @timestamp, pool, task, peakMiB, cpuPercent, throttledPercent, daemon',
  'filter message in ["usage", "guard"]',
  'sort @timestamp asc',
];

/** A row of Logs Insights: its fields are texts. Rows of anything else are left out. */
const whole = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number);
/** Insights writes `2026-03-02 09:00:00.000`, in UTC. */
const timestamp = z
  .string()
  .transform((text) => Date.parse(`${text.replace(' ', 'T')}Z`) as EpochMs)
  .refine((at) => !Number.isNaN(at));
const lineSchema = z
  .object({
    '@timestamp': timestamp,
    pool: z.string(),
    task: z.string(),
    peakMiB: whole,
    cpuPercent: whole,
    throttledPercent: whole.optional(),
  })
  .transform(({ '@timestamp': at, throttledPercent, ...line }) => ({ at, throttledPercent, ...line }));

/** A guard's line names its daemon, once it knows the task. */
const guardSchema = z
  .object({ '@timestamp': timestamp, daemon: z.string() })
  .transform(({ '@timestamp': at, daemon }) => {
    const { pool, ending } = nameInParts(daemon);
    return { at, pool, task: ending };
  })
  .pipe(z.object({ at: z.custom<EpochMs>(), pool: z.string(), task: z.string() }));

/** Undefined if the container logs to another driver. */
async function logGroupOf(ecs: ECSClient, arn: string): Promise<string | undefined> {
  try {
    return provisionerOf(await describeTaskDefinition(ecs, arn))?.logConfiguration?.options?.[
      'awslogs-group'
    ];
  } catch (cause) {
    const advice = isDenied(cause) ? 'ask for ecs:DescribeTaskDefinition' : 'try again';
    throw new InputError(`finding the log group of ${arn}: ${messageOf(cause)}; ${advice}`, { cause });
  }
}

/** All jobs of daemons that are named after a task: builds, imports and dry runs. Throws InputError. */
export async function readTaskBuilds(
  http: CoderdHttp,
  pools: readonly PoolConfig[],
  span: LogSpan,
): Promise<readonly Build[]> {
  const names = [...new Set(pools.map(({ organization }) => organization))];
  const { organizations, build } = await readServer(http, names);
  const read: Build[] = [];
  for (const organization of organizations) {
    const what = `listing provisioner jobs of organization "${organization.name}"`;
    const { jobs } = await orRefuse({ what, role: ROLE }, () =>
      readJobsSince(http, organization, { since: span.from, build, schema: outcomeSchema }),
    );
    read.push(...jobs.flatMap((job) => buildOf(job, span) ?? []));
  }
  return read;
}

function buildOf(job: JobOutcome, { to }: LogSpan): Build | undefined {
  const { worker_name, started_at, completed_at } = job;
  const { pool, ending: task } = nameInParts(worker_name ?? '');
  if (pool === undefined || started_at == null) return undefined;
  return { pool, task, startedAt: started_at, endedAt: completed_at ?? to, isKilled: isKilled(job) };
}

/** coder kills the Terraform of a cancelled build that does not end by itself. */
function isKilled({ canceled_at, error }: JobOutcome): boolean {
  return canceled_at == null && KILLED.test(error ?? '');
}

/** Builds whose Terraform, or a program that it ran, was killed (docs/internals/coder.md §5). */
const KILLED = /signal: killed|exit status 137|exit code 137|\bOOM|out of memory|cannot allocate memory/i;

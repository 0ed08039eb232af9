/**
 * How long `terraform init` takes in the first build of a task, whose provider cache is empty, and in the
 * next build there of the same template version, which finds its providers in the cache.
 */

import { isFulfilled, settleAll } from '../../lambda/adapters/coderd/forecast/settle-all.ts';
import {
  type JobRun,
  readAllDaemons,
  readInitSeconds,
  readJobsSince,
  runSchema,
} from '../../lambda/adapters/coderd/history.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { by, percentile } from '../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { poolNamed } from '../../lambda/decision/supply/daemons.ts';
import { readServer } from '../trace/history.ts';

export type FirstBuilds =
  | {
      readonly kind: 'measured';
      readonly tasks: number;
      /** Medians. */
      readonly firstSeconds: number;
      readonly laterSeconds: number;
    }
  | { readonly kind: 'none'; readonly why: string };

type Pool = Pick<PoolConfig, 'name' | 'organization'>;
/** The ids of two builds of one task. */
type Pair = { readonly first: string; readonly later: string };

/** coderd keeps the rows of daemons for 7 days, and without them no task is known. */
const PERIOD_MS = 7 * 24 * 3_600_000;
/** Enough for a median. Each takes two requests. */
const MOST_TASKS = 50;
/** Low, to leave coderd capacity for its users. */
const AT_ONCE = 4;

/** Does not throw: the files of the image are worth having without this figure. */
export async function readFirstBuilds(
  http: CoderdHttp,
  pools: readonly Pool[],
  now: EpochMs,
): Promise<FirstBuilds> {
  try {
    const pairs = await readPairs(http, pools, plusMs(now, -PERIOD_MS));
    const timed = await settleAll(pairs, AT_ONCE, async ({ first, later }) => ({
      first: await readInitSeconds(http, first),
      later: await readInitSeconds(http, later),
    }));
    return figuresOf(timed.filter(isFulfilled).map(({ value }) => value));
  } catch (cause) {
    return { kind: 'none', why: messageOf(cause) };
  }
}

/** The newest pairs of tasks whose daemons registered since then, so that all their jobs are listed. */
async function readPairs(http: CoderdHttp, pools: readonly Pool[], since: EpochMs): Promise<readonly Pair[]> {
  const own = [...new Set(pools.map((pool) => pool.organization))];
  const { organizations, build } = await readServer(http, own);
  const names = new Set<string | undefined>(pools.map(({ name }) => name));
  const pairs: Pair[] = [];
  for (const organization of organizations) {
    const daemons = await readAllDaemons(http, organization, build);
    const { jobs } = await readJobsSince(http, organization, { since, build, schema: runSchema });
    const byWorker = Map.groupBy(jobs, ({ worker_id }) => worker_id);
    const tasks = daemons.filter((daemon) => daemon.created_at >= since && names.has(poolNamed(daemon)));
    tasks.sort(by(({ created_at }) => -created_at));
    pairs.push(...tasks.flatMap(({ id }) => pairOf(byWorker.get(id) ?? [])));
  }
  return pairs.slice(0, MOST_TASKS);
}

/** Imports and dry runs fill the cache too: then the first build is not the first job. */
function pairOf(jobs: readonly JobRun[]): readonly Pair[] {
  const [job, ...others] = jobs.toSorted(by(({ started_at }) => started_at ?? 0));
  const first = job && builtBy(job);
  const later = others
    .filter(({ file_id }) => file_id === job?.file_id)
    .flatMap((each) => builtBy(each) ?? []);
  return first === undefined ? [] : later.slice(0, 1).map((id) => ({ first, later: id }));
}

/** The id of the build of this job. coderd has the stages only of builds that succeeded. */
function builtBy({ status, input }: JobRun): string | undefined {
  return status === 'succeeded' ? (input.workspace_build_id ?? undefined) : undefined;
}

type Timed = { readonly first: number | undefined; readonly later: number | undefined };

function figuresOf(timed: readonly Timed[]): FirstBuilds {
  const known = timed.filter(({ first, later }) => first !== undefined && later !== undefined);
  if (known.length === 0) return { kind: 'none', why: NOTHING };
  return {
    kind: 'measured',
    tasks: known.length,
    firstSeconds: medianOf(known.flatMap(({ first }) => first ?? [])),
    laterSeconds: medianOf(known.flatMap(({ later }) => later ?? [])),
  };
}

const NOTHING =
  'no task of the last 7 days began with a successful build and had another of the same template version';

function medianOf(seconds: readonly number[]): number {
  const sorted = seconds.toSorted((a, b) => a - b);
  return Math.round(percentile(sorted, 0.5) * 10) / 10;
}

import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { canRun, tagKey } from '../../../lambda/decision/model/tags.ts';
import { EXECUTOR_KINDS, executorTick, type Trace, type TraceJob } from '../trace/trace.ts';

/** Returns a function that finds the pools that can run a job, as indexes of `pools`. Caches by tag set. */
export function fittingOf({
  pools,
}: Pick<Deployment, 'pools'>): (job: Pick<TraceJob, 'organization' | 'tags'>) => readonly number[] {
  const known = new Map<string, readonly number[]>();
  return ({ organization, tags }) => {
    const key = `${organization} ${tagKey(tags)}`;
    const find = (): readonly number[] =>
      pools.flatMap((pool, index) =>
        pool.organization === organization && canRun(pool.tags, tags) ? [index] : [],
      );
    const found = known.get(key) ?? find();
    known.set(key, found);
    return found;
  };
}

/** Without retiring pools and jobs that no pool can run, which would wait under every policy. */
export function withoutUnservedJobs({
  trace,
  config,
}: {
  readonly trace: Trace;
  readonly config: Deployment;
}) {
  const staying = { ...config, pools: config.pools.filter(({ retiring }) => !retiring) };
  const fitting = fittingOf(staying);
  const jobs = trace.jobs.filter((job) => fitting(job).length > 0);
  return { trace: { ...trace, jobs }, config: staying, unfit: trace.jobs.length - jobs.length };
}

type ServedJob = {
  readonly startMs: number;
  readonly durationMs: number;
  /** Indexes of the pools that can run it. */
  readonly pools: readonly number[];
};

/** The jobs that a pool can run, as if none waited. coderd's executor inserts jobs at full minutes. */
export function servedJobs(jobs: readonly TraceJob[], config: Deployment): readonly ServedJob[] {
  const fitting = fittingOf(config);
  return jobs.flatMap((job) => {
    const pools = fitting(job);
    const startMs = EXECUTOR_KINDS.has(job.kind) ? executorTick(job.at) : job.at;
    return pools.length === 0 ? [] : { startMs, durationMs: Math.round(job.seconds * 1000), pools };
  });
}

/** The jobs of a trace as the bounds see them: when each starts in a world in which nobody waits, and where it can run. */
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { meanOf } from '../../simulator/base/mean.ts';
import { FARGATE, type Latencies } from '../../simulator/ecs/parts/latencies.ts';
import { fittingOf } from '../replay/fitting.ts';
import { type Bound, PEOPLE_WAIT_FOR } from '../replay/result.ts';
import { startLatencies } from '../replay/start-latencies.ts';
import { EXECUTOR_KINDS, executorTick, type Trace, type TraceJob } from '../trace/trace.ts';
import { busyHours } from './busy-hours.ts';
import { clairvoyant } from './clairvoyant.ts';
import type { BoundJob, BoundPool } from './demand.ts';

/** The image is pulled, and billing begins, once the network interface is there: as `simulator/ecs/task.ts` has it. */
const BILLED_OF_BOOT = 0.7;

/**
 * What a comparison is of: jobs that some pool can run, and pools that are to stay. The rest waits with every policy alike, and would
 * drown what they differ in.
 */
export function playable({ trace, config }: { readonly trace: Trace; readonly config: Deployment }) {
  const staying = { ...config, pools: config.pools.filter(({ retiring }) => !retiring) };
  const fitting = fittingOf(staying);
  const jobs = trace.jobs.filter((job) => fitting(job).length > 0);
  return { trace: { ...trace, jobs }, config: staying, unfit: trace.jobs.length - jobs.length };
}

/** Both bounds. Jobs that no pool can run are in neither. */
export async function boundsOf(
  { trace, config }: { readonly trace: Trace; readonly config: Deployment },
  dollarsPerHour: (pool: string) => number,
): Promise<readonly Bound[]> {
  const latencies = { ...FARGATE, ...startLatencies(trace.startSeconds) };
  const pools = config.pools.map(({ name }) => ({
    dollarsPerHour: dollarsPerHour(name),
    startMs: leastStartMs(latencies),
  }));
  const fitting = fittingOf(config);
  const jobs = boundJobs(trace.jobs, config);
  const served = trace.jobs.filter((job) => PEOPLE_WAIT_FOR.has(job.kind) && fitting(job).length > 0);
  const meanWaitS = meanOf(served.map((job) => (insertedAt(job) - job.at) / 1000));
  return [
    { ...busyBound(jobs, pools), meanWaitS },
    { ...(await clairvoyantBound(jobs, pools)), meanWaitS },
  ];
}

/** From where billing begins to a daemon that is registered, without a guard: the least of all tasks. */
function leastStartMs({ boot, connect }: Latencies): number {
  return Math.floor(BILLED_OF_BOOT * boot[0]) + connect[0];
}

export function boundJobs(jobs: readonly TraceJob[], config: Deployment): readonly BoundJob[] {
  const fitting = fittingOf(config);
  return jobs.flatMap((job) => {
    const pools = fitting(job);
    const durationMs = Math.round(job.seconds * 1000);
    return pools.length === 0 ? [] : { startMs: insertedAt(job), durationMs, pools };
  });
}

/** coderd's executor comes at full minutes. */
function insertedAt({ at, kind }: TraceJob): number {
  return EXECUTOR_KINDS.has(kind) ? executorTick(at) : at;
}

function busyBound(jobs: readonly BoundJob[], pools: readonly BoundPool[]): Omit<Bound, 'meanWaitS'> {
  return {
    ...{ bound: 'busy-hours', title: 'busy hours', ...busyHours(jobs, pools), launches: 0 },
    meaning: 'daemons that are there the moment a job comes, and gone the moment it ends',
  };
}

async function clairvoyantBound(
  jobs: readonly BoundJob[],
  pools: readonly BoundPool[],
): Promise<Omit<Bound, 'meanWaitS'>> {
  const { hours, dollars, launches } = await clairvoyant(jobs, pools);
  return {
    ...{ bound: 'clairvoyant', title: 'clairvoyant', hours, dollars, launches },
    meaning:
      'knows every arrival beforehand: nobody waits, jobs are chained on tasks at the least cost, each task pays the shortest start there is and a minute at least',
  };
}

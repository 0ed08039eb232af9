/** Computes both lower bounds of a trace and a configuration. */
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { meanOf } from '../../../lambda/decision/model/collections.ts';
import { FARGATE, type Latencies } from '../../world/ecs/parts/latencies.ts';
import { fittingOf } from '../replay/fitting.ts';
import { type Bound, PEOPLE_WAIT_FOR } from '../replay/result.ts';
import { startLatencies } from '../replay/start-latencies.ts';
import { EXECUTOR_KINDS, executorTick, type Trace, type TraceJob } from '../trace/trace.ts';
import { clairvoyant } from './clairvoyant.ts';
import { type BoundJob, type BoundPool, busyHours } from './demand.ts';

/** Billing begins with the image pull, when the network interface exists (`lab/world/ecs/task.ts`). */
const BILLED_OF_BOOT = 0.7;

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

/** The shortest time from the start of billing to a registered daemon: that of a task without a guard. */
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

/** coderd's executor inserts jobs at full minutes. */
function insertedAt({ at, kind }: TraceJob): number {
  return EXECUTOR_KINDS.has(kind) ? executorTick(at) : at;
}

function busyBound(jobs: readonly BoundJob[], pools: readonly BoundPool[]): Omit<Bound, 'meanWaitS'> {
  return {
    bound: 'busy-hours',
    title: 'busy hours',
    ...busyHours(jobs, pools),
    launches: 0,
    meaning: 'a daemon starts the moment a job comes and stops the moment the job ends',
  };
}

async function clairvoyantBound(
  jobs: readonly BoundJob[],
  pools: readonly BoundPool[],
): Promise<Omit<Bound, 'meanWaitS'>> {
  const { hours, dollars, launches } = await clairvoyant(jobs, pools);
  return {
    bound: 'clairvoyant',
    title: 'clairvoyant',
    hours,
    dollars,
    launches,
    meaning:
      'knows every arrival in advance: no job waits, jobs share tasks at the lowest cost, and each task pays for the shortest possible start and at least one minute',
  };
}

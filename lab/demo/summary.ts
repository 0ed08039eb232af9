/** Computes the final figures of the demo from the simulated world. */
import { percentile, sum } from '../../lambda/decision/model/collections.ts';
import { HOUR_MS } from '../../lambda/decision/model/units.ts';
import { dollarsOf as dollarsOfTask, VIRGINIA } from '../../lambda/decision/settings/prices.ts';
import { some } from '../../lambda/explain/format.ts';
import type { JobRecord } from '../world/coderd/tables/jobs.ts';
import type { GuardFigures } from '../world/guarded/guarded-tasks.ts';
import type { World } from '../world/world.ts';
import { DEFAULT_STOP_TIMEOUT_S, killedByLowering } from './plain.ts';
import { type Autostarts, countAutostarts, countDeployments, hasPlayed, poolFor, START } from './scenario.ts';

export type Summary = {
  readonly jobs: {
    readonly submitted: number;
    readonly succeeded: number;
    /** Unschedulable jobs that no daemon took. */
    readonly unserved: number;
    /** Jobs whose task was stopped while they ran. */
    readonly killed: number;
    /** Of the same jobs, without protection (plain.ts). */
    readonly killedByLowering: number;
  };
  /** Of the tasks, and of a fixed fleet with as many as at the peak. */
  readonly dollars: { readonly tasks: number; readonly fixedFleet: number };
  readonly tasks: { readonly peak: number; readonly end: number };
  /** Simulated seconds from submission to start, of the jobs that started. */
  readonly waitSeconds: { readonly p50: number; readonly p95: number };
  /** Deployments of new images, and those whose old tasks have all stopped. */
  readonly deployments: { readonly started: number; readonly completed: number };
  /** Workspaces whose schedule starts them while their pool is at zero. */
  readonly autostarts: Autostarts;
  /** Processes of the guards, with `--guard`. */
  readonly guards?: GuardFigures;
};

type Played = { readonly seed: number; readonly guards?: GuardFigures | undefined };

export function summarize(world: World, { seed, guards }: Played): Summary {
  const jobs = world.coderd.jobs();
  const waits = jobs
    .flatMap(({ createdAt, startedAt, workerId }) =>
      startedAt === undefined || workerId === undefined ? [] : [(startedAt - createdAt) / 1000],
    )
    .sort((a, b) => a - b);
  const { tasks, killed } = world.figures();
  return {
    jobs: {
      submitted: jobs.length,
      succeeded: jobs.filter(({ status }) => status === 'succeeded').length,
      unserved: jobs.filter((job) => job.workerId === undefined && !isRunnable(world, job)).length,
      killed,
      killedByLowering: killedByLowering(seed),
    },
    dollars: dollarsOf(world),
    tasks: { peak: tasks.peak, end: remainingTasks(world) },
    waitSeconds: { p50: toTenths(percentile(waits, 0.5)), p95: toTenths(percentile(waits, 0.95)) },
    deployments: countDeployments(world),
    autostarts: countAutostarts(world),
    ...(guards && { guards }),
  };
}

/** Whether all steps have happened, all schedulable jobs have ended, and nothing is left or open. */
export function isOver(world: World): boolean {
  const runnable = world.coderd.jobs().filter((job) => isRunnable(world, job));
  const { started, completed } = countDeployments(world);
  const autostarts = countAutostarts(world);
  return (
    hasPlayed(world) &&
    runnable.every(({ completedAt }) => completedAt !== undefined) &&
    remainingTasks(world) === 0 &&
    completed === started &&
    autostarts.started === autostarts.due
  );
}

/** Whether every schedulable job succeeded, nothing was killed, and the demo ended at zero tasks. */
export function isAsPromised(
  world: World,
  { jobs, tasks, deployments, autostarts, guards }: Summary,
): boolean {
  const runnable = world.coderd.jobs().filter((job) => isRunnable(world, job)).length;
  return (
    jobs.succeeded === runnable &&
    jobs.killed === 0 &&
    tasks.end === 0 &&
    deployments.completed === deployments.started &&
    autostarts.started === autostarts.due &&
    guards?.exited === guards?.started
  );
}

/** All tasks are of one size, and the simulated ECS lists each for an hour. */
function dollarsOf(world: World): Summary['dollars'] {
  const now = world.timeline.now();
  const hours = sum(world.ecs.tasks(), ({ state }) => ((state.stoppedAt ?? now) - state.createdAt) / HOUR_MS);
  const fixedHours = (world.ecs.counts().peak * (now - START)) / HOUR_MS;
  const price = dollarsOfTask(SIZE, VIRGINIA);
  return { tasks: hours * price, fixedFleet: fixedHours * price };
}

/** The number of tasks that exist or are desired, whichever is larger. */
function remainingTasks(world: World): number {
  const alive = world.ecs.tasks().filter((task) => task.state.lastStatus !== 'STOPPED').length;
  const desired = world.ecs.services().reduce((total, { state }) => total + state.desiredCount, 0);
  return Math.max(alive, desired);
}

const isRunnable = (world: World, job: JobRecord): boolean => poolFor(world, job) !== undefined;

/** The defaults of a pool. */
const SIZE = { cpu: 1024, memory: 2048, architecture: 'arm64', spot: false, instances: undefined } as const;

const toTenths = (value: number): number => Math.round(value * 10) / 10;

export function summaryText(summary: Summary, tookMs: number): string {
  const { jobs, tasks, waitSeconds, deployments, autostarts, dollars, guards } = summary;
  const runnable = jobs.submitted - jobs.unserved;
  return [
    `builds: ${jobs.succeeded} of ${runnable} succeeded, ${jobs.killed} killed`,
    `a service that lowers its count without protection would have killed ${jobs.killedByLowering || 'none'} of these builds (same jobs, seed and looks; ECS chooses the task; stop timeout ${DEFAULT_STOP_TIMEOUT_S} s)`,
    `${some(jobs.unserved, 'more job')} waited in vain, as the story meant: no pool has its tags`,
    `tasks: ${tasks.peak} at the peak, ${tasks.end} at the end; deployments: ${deployments.completed} of ${deployments.started} completed`,
    `autostarts from zero: coderd started ${autostarts.started} of ${autostarts.due} workspaces`,
    ...(guards === undefined
      ? []
      : [
          `guards: ${guards.started} processes of the real guard.sh started, ${guards.exited} exited by themselves`,
        ]),
    `wait: p50 ${waitSeconds.p50} s, p95 ${waitSeconds.p95} s of simulated time; the demo took ${Math.round(tookMs / 1000)} s`,
    `tasks cost $${dollars.tasks.toFixed(2)}; a fixed fleet of ${tasks.peak} had cost $${dollars.fixedFleet.toFixed(2)}`,
    '',
    'next: npm run try, which keeps a deployment running for ./autoscaler plan, status and doctor',
  ].join('\n');
}

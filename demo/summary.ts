/** The demo's figures. */
import { normalizeTags } from '../lambda/decision/model/tags.ts';
import { percentile } from '../simulator/base/percentile.ts';
import { tagsetContains } from '../simulator/coderd/rules/tagset-contains.ts';
import type { JobRecord } from '../simulator/coderd/tables/jobs.ts';
import type { GuardFigures } from '../simulator/guarded/guarded-tasks.ts';
import type { World } from '../simulator/world.ts';
import { type Autostarts, countAutostarts } from './autostarts.ts';
import { countDeployments, POOLS } from './scenario.ts';

export type Summary = {
  readonly jobs: {
    readonly submitted: number;
    readonly succeeded: number;
    /** Jobs that no pool can run, and nobody has. */
    readonly unserved: number;
    /** Jobs whose daemon was stopped under them. */
    readonly killed: number;
  };
  readonly tasks: { readonly peak: number; readonly end: number };
  /** From submission to start, in the world's seconds, of the jobs that were started. */
  readonly waitSeconds: { readonly p50: number; readonly p95: number };
  /** New images, and those whose old tasks are all gone. */
  readonly deployments: { readonly started: number; readonly completed: number };
  /** Workspaces whose schedule comes while their pool is at zero. */
  readonly autostarts: Autostarts;
  /** With `--guard`: the processes. */
  readonly guards?: GuardFigures;
};

/** Sums up the world as it is now, and the guards if they are processes. */
export function summarize(world: World, guards?: GuardFigures): Summary {
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
    },
    tasks: { peak: tasks.peak, end: remainingTasks(world) },
    waitSeconds: { p50: toTenths(percentile(waits, 0.5)), p95: toTenths(percentile(waits, 0.95)) },
    deployments: countDeployments(world),
    autostarts: countAutostarts(world),
    ...(guards && { guards }),
  };
}

/**
 * Whether the demo has come to its end: all that can be run has been, nothing is left running or
 * due, and no deployment is open.
 */
export function isOver(world: World): boolean {
  const runnable = world.coderd.jobs().filter((job) => isRunnable(world, job));
  const { started, completed } = countDeployments(world);
  const autostarts = countAutostarts(world);
  return (
    runnable.every(({ completedAt }) => completedAt !== undefined) &&
    remainingTasks(world) === 0 &&
    completed === started &&
    autostarts.started === autostarts.due
  );
}

/** Whether everything came out as it should. */
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

/** Tasks that exist or are desired. */
function remainingTasks(world: World): number {
  const alive = world.ecs.tasks().filter((task) => task.state.lastStatus !== 'STOPPED').length;
  const desired = world.ecs.services().reduce((total, { state }) => total + state.desiredCount, 0);
  return Math.max(alive, desired);
}

function isRunnable(world: World, job: JobRecord): boolean {
  return POOLS.some(
    ({ organization, tags }) =>
      world.coderd.organizationId(organization) === job.organizationId &&
      tagsetContains(normalizeTags(tags), job.tags),
  );
}

const toTenths = (value: number): number => Math.round(value * 10) / 10;

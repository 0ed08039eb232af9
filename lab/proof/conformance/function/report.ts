/** Reports a run: builds from coderd, and tasks from the world. */
import type { RealJob, RealWorkspace } from './story.ts';

export type LaunchedTask = {
  readonly pool: string;
  readonly daemon: string;
  /** When its container had ended, in milliseconds since 1970; undefined if it has not. */
  readonly goneAt: number | undefined;
};

export type ConformanceRun = {
  readonly coderdVersion: string;
  readonly jobs: readonly RealJob[];
  /** Builds that the run asked for, without those that coderd starts by schedule. */
  readonly asked: number;
  /** The workspaces that start by schedule, as they are at the end. */
  readonly sleepers: readonly RealWorkspace[];
  readonly dueAt: Date;
  readonly tasks: readonly LaunchedTask[];
  /** Tasks that exist or are desired at the end. */
  readonly remaining: number;
  /** Names of daemons that were killed before they had exited. */
  readonly killed: readonly string[];
  readonly invocations: number;
  /** Errors of invocations, of the control port and of coderd's lifecycle executor. */
  readonly errors: readonly string[];
};

/** The problems of the run, one text each; empty if there is none. */
export function problemsOf(run: ConformanceRun): readonly string[] {
  const builds = buildsOf(run.jobs);
  const expected = run.asked + run.sleepers.length;
  const bad = builds.filter(({ status }) => status !== 'succeeded');
  const late = run.sleepers.filter((it) => !isAutostarted(it));
  return [
    ...(builds.length === expected
      ? []
      : [`coderd has ${builds.length} builds, but ${expected} were requested or due`]),
    ...bad.map(
      ({ id, status, error }) => `build job ${id} is ${status}: ${error ?? 'coderd gives no error'}`,
    ),
    ...late.map(({ name }) => `workspace ${name} was not started by its schedule`),
    ...run.killed.map((name) => `daemon ${name} was killed`),
    ...(goneBesideBuilds(run) > 0 ? [] : ['no pool was scaled in while a build ran']),
    ...(run.remaining === 0 ? [] : [`tasks that still exist or are desired: ${run.remaining}`]),
    ...run.errors,
  ];
}

export function reportText(run: ConformanceRun): string {
  const builds = buildsOf(run.jobs);
  const waits = builds.flatMap(({ created_at, started_at }) =>
    started_at == null ? [] : [(started_at - created_at) / 1000],
  );
  return [
    `coderd ${run.coderdVersion}: ${run.invocations} invocations`,
    `builds: ${builds.length}, started: ${waits.length}, longest wait: ${Math.max(0, ...waits).toFixed(1)} s`,
    `tasks launched: ${run.tasks.length}; stopped while another build of their pool ran: ${goneBesideBuilds(run)}`,
    ...run.sleepers.map((it) => autostartText(it, run.dueAt)),
    ...problemsOf(run).map((problem) => `PROBLEM: ${problem}`),
  ].join('\n');
}

/** Number of tasks that stopped while another daemon of their pool ran a build: scale-in while builds run. */
function goneBesideBuilds({ tasks, jobs }: ConformanceRun): number {
  const runs = (pool: string, at: number): boolean =>
    buildsOf(jobs).some(({ worker_name, started_at, completed_at }) => {
      const isOfPool = tasks.some((task) => task.pool === pool && task.daemon === worker_name);
      return (
        isOfPool && started_at != null && started_at < at && at < (completed_at ?? Number.POSITIVE_INFINITY)
      );
    });
  return tasks.filter(({ pool, goneAt }) => goneAt !== undefined && runs(pool, goneAt)).length;
}

function autostartText(workspace: RealWorkspace, dueAt: Date): string {
  const { created_at, job } = workspace.latest_build;
  if (!isAutostarted(workspace))
    return `autostart of ${workspace.name}: not started, was due ${dueAt.toISOString()}`;
  const after = ((created_at - dueAt.getTime()) / 1000).toFixed(1);
  return `autostart of ${workspace.name}: created ${after} s after it was due, ${job.status}`;
}

const isAutostarted = ({ latest_build }: RealWorkspace): boolean => latest_build.reason === 'autostart';

const buildsOf = (jobs: readonly RealJob[]): readonly RealJob[] =>
  jobs.filter(({ type }) => type === 'workspace_build');

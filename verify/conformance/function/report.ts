/** The run's figures: what coderd says of the builds, the world of the tasks, and the function of its looks. */
import Table from 'cli-table3';
import { normalizeTags, tagKey } from '../../../lambda/decision/model/tags.ts';
import { percentile } from '../../../simulator/base/percentile.ts';
import type { RealJob, RealWorkspace } from './coderd-api.ts';
import type { LookRecord } from './look-record.ts';
import { POOLS } from './story.ts';

export type LaunchedTask = {
  readonly pool: string;
  /** Its daemon's name. */
  readonly daemon: string;
  /** When its container had ended. */
  readonly goneAt: number | undefined;
};

export type Run = {
  readonly coderdVersion: string;
  readonly jobs: readonly RealJob[];
  /** Builds that the run asked for; those that coderd makes by schedule come on top. */
  readonly asked: number;
  /** As they are at the end. */
  readonly sleepers: readonly RealWorkspace[];
  readonly dueAt: Date;
  /** All that were ever launched. */
  readonly tasks: readonly LaunchedTask[];
  /** Tasks that are there or wanted at the end. */
  readonly remaining: number;
  /** Names of daemons that were killed before they had exited. */
  readonly killed: readonly string[];
  readonly looks: LookRecord;
  readonly invocations: number;
  /** What invocations failed with, what the control port refused, and what the lifecycle executor could not do. */
  readonly errors: readonly string[];
};

/** What is otherwise than promised; empty where all is well. */
export function problemsOf(run: Run): readonly string[] {
  const builds = buildsOf(run.jobs);
  const expected = run.asked + run.sleepers.length;
  const bad = builds.filter(({ status }) => status !== 'succeeded');
  const late = run.sleepers.filter((it) => !isAutostarted(it));
  return [
    ...(builds.length === expected
      ? []
      : [`coderd has ${builds.length} builds, and ${expected} were asked for or due`]),
    ...bad.map(
      ({ id, status, error }) => `build job ${id} is ${status}: ${error ?? 'coderd says nothing of it'}`,
    ),
    ...late.map(({ name }) => `workspace ${name} was not started by its schedule`),
    ...run.killed.map((name) => `daemon ${name} was killed`),
    ...(goneBesideBuilds(run) > 0 ? [] : ['no pool was scaled in while a build ran']),
    ...(run.remaining === 0 ? [] : [`${run.remaining} tasks are left`]),
    ...run.errors,
  ];
}

/** All of it, for a person. */
export function reportText(run: Run): string {
  const { looks } = run;
  return [
    `coderd ${run.coderdVersion}`,
    tableOf(run),
    `daemons killed: ${run.killed.length}; tasks gone while another build of their pool ran: ${goneBesideBuilds(run)}`,
    ...run.sleepers.map((it) => autostartText(it, run.dueAt)),
    `${looks.looks} looks in ${run.invocations} invocations`,
    ...Object.entries(looks.reasons).map(([pool, reasons]) => `  ${pool}: ${counts(reasons)}`),
    ...rows('finding', looks.findings),
    ...rows('failure', looks.failures),
    ...looks.otherLines.map((line) => `other line: ${line}`),
    ...problemsOf(run).map((problem) => `PROBLEM: ${problem}`),
  ].join('\n');
}

/** Tasks that were gone while another daemon of their pool ran a build: scale-in while builds run. */
function goneBesideBuilds({ tasks, jobs }: Run): number {
  const runs = (pool: string, at: number): boolean =>
    buildsOf(jobs).some(({ worker_name, started_at, completed_at }) => {
      const isOfPool = tasks.some((task) => task.pool === pool && task.daemon === worker_name);
      return (
        isOfPool && started_at != null && started_at < at && at < (completed_at ?? Number.POSITIVE_INFINITY)
      );
    });
  return tasks.filter(({ pool, goneAt }) => goneAt !== undefined && runs(pool, goneAt)).length;
}

function tableOf({ jobs, tasks }: Run): string {
  const head = ['pool', 'builds', 'served', 'failed', 'wait median s', 'p90', 'max', 'tasks launched'];
  const table = new Table({ head, style: { head: [], border: [], compact: true } });
  const builds = buildsOf(jobs);
  const rowOf = (name: string, own: readonly RealJob[], launched: number): readonly string[] => {
    const waits = own
      .flatMap(({ created_at, started_at }) => (started_at == null ? [] : [(started_at - created_at) / 1000]))
      .toSorted((a, b) => a - b);
    const failed = own.filter(({ status }) => status === 'failed' || status === 'canceled').length;
    const quantiles = [0.5, 0.9, 1].map((share) => percentile(waits, share).toFixed(1));
    return [name, ...[own.length, waits.length, failed].map(String), ...quantiles, `${launched}`];
  };
  for (const { name, tags } of POOLS) {
    const key = tagKey(normalizeTags(tags));
    const own = builds.filter((job) => tagKey(normalizeTags(job.tags)) === key);
    table.push([...rowOf(name, own, tasks.filter(({ pool }) => pool === name).length)]);
  }
  table.push([...rowOf('all', builds, tasks.length)]);
  return table.toString();
}

function autostartText(workspace: RealWorkspace, dueAt: Date): string {
  const { created_at, job } = workspace.latest_build;
  if (!isAutostarted(workspace)) return `autostart of ${workspace.name}: none, due ${dueAt.toISOString()}`;
  const after = ((created_at - dueAt.getTime()) / 1000).toFixed(1);
  return `autostart of ${workspace.name}: created ${after} s after its time, ${job.status}`;
}

const isAutostarted = ({ latest_build }: RealWorkspace): boolean => latest_build.reason === 'autostart';

const buildsOf = (jobs: readonly RealJob[]): readonly RealJob[] =>
  jobs.filter(({ type }) => type === 'workspace_build');

const rows = (what: string, counted: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(counted).map(([text, times]) => `${what}, ${times} looks: ${text}`);

const counts = (of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .map(([word, times]) => `${word} ${times}`)
    .join(', ');

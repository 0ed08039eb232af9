/** Reports a run: builds from coderd, tasks from the world, and looks from the function's log. */
import Table from 'cli-table3';
import { percentile } from '../../../../lambda/decision/model/collections.ts';
import { normalizeTags, tagKey } from '../../../../lambda/decision/model/tags.ts';
import type { RealJob, RealWorkspace } from './coderd-api.ts';
import type { LookRecord } from './look-record.ts';
import { POOLS } from './story.ts';

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
  readonly looks: LookRecord;
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
  const { looks } = run;
  return [
    `coderd ${run.coderdVersion}`,
    tableOf(run),
    `daemons killed: ${run.killed.length}; tasks stopped while another build of their pool ran: ${goneBesideBuilds(run)}`,
    ...run.sleepers.map((it) => autostartText(it, run.dueAt)),
    `${looks.looks} looks in ${run.invocations} invocations`,
    ...Object.entries(looks.reasons).map(([pool, reasons]) => `  ${pool}: ${counts(reasons)}`),
    ...rows('finding', looks.findings),
    ...rows('failure', looks.failures),
    ...looks.otherLines.map((line) => `other log line: ${line}`),
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

function tableOf({ jobs, tasks }: ConformanceRun): string {
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
  if (!isAutostarted(workspace))
    return `autostart of ${workspace.name}: not started, was due ${dueAt.toISOString()}`;
  const after = ((created_at - dueAt.getTime()) / 1000).toFixed(1);
  return `autostart of ${workspace.name}: created ${after} s after it was due, ${job.status}`;
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

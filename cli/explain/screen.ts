/** Formats the explanation of a job as text: what it is, how it stands, where its wait went. */
import { ownValue } from '../../lambda/decision/model/collections.ts';
import type { IsoTime } from '../../lambda/decision/model/plan.ts';
import { causeText, checkText } from '../../lambda/explain/dead-build-text.ts';
import { ageText, seconds, some, tagText, timeText } from '../../lambda/explain/format.ts';
import { startText } from '../../lambda/explain/promise-text.ts';
import { oneLine, plainTable } from '../shared/plain-table.ts';
import type { ExplainedJob, ExplainedWait, JobExplanation, PendingJob, SilentDaemon } from './explanation.ts';
import { percentText, waitPartAdvice, waitPartName } from './wait-text.ts';

export function explanationScreen(explanation: JobExplanation): string {
  const { takenAt, job, wait, silent, pending, died, notes } = explanation;
  return [
    `job ${job.id}: ${whatOf(job)}`,
    `  organization "${job.organization}", tags ${tagText(job.tags)}`,
    `  submitted ${timeText(job.createdAt)}; ${stateOf(job)}`,
    ...(silent === null ? [] : [`  ${silentText(silent)}`]),
    ...(job.error === null ? [] : [`  error: ${oneLine(job.error)}`]),
    ...(wait === null ? [] : ['', ...waitLines(wait), ...firstPromiseLines(wait, job)]),
    ...(died === null
      ? []
      : ['', oneLine(`died with its task: ${causeText(died.cause)}. ${checkText(died)}.`)]),
    ...(pending === null ? [] : ['', ...pendingLines(pending, takenAt)]),
    ...notes.flatMap((note) => ['', `note: ${note}`]),
  ].join('\n');
}

const TYPES: Readonly<Record<string, string>> = {
  workspace_build: 'build',
  template_version_import: 'import of a template version',
  template_version_dry_run: 'dry run of a template version',
};

function whatOf({ type, transition, template, workspace }: ExplainedJob): string {
  const what = transition ?? ownValue(TYPES, type) ?? type;
  const of = workspace === null ? '' : ` of workspace ${oneLine(workspace)}`;
  return `${what}${of}${template === null ? '' : `, template "${oneLine(template)}"`}`;
}

function stateOf({ status, createdAt, startedAt, canceledAt, completedAt }: ExplainedJob): string {
  if (completedAt === null) {
    if (startedAt === null) return status;
    if (canceledAt === null) return `${status} since ${timeText(startedAt)}`;
    return `started ${timeText(startedAt)}; ${status} since ${timeText(canceledAt)}`;
  }
  // coderd gives a job that it fails in the queue this time as its start too
  const hasRun = startedAt !== null && startedAt !== completedAt;
  const took = seconds(Date.parse(completedAt) - Date.parse(hasRun ? startedAt : createdAt));
  return `${status} at ${timeText(completedAt)} ${hasRun ? `after ${took}` : `${took} later`}`;
}

function silentText({ daemon, lastSeenAt, failsBy }: SilentDaemon): string {
  return `its daemon ${oneLine(daemon)} was last seen at ${timeText(lastSeenAt)} and has probably died: coderd fails the job by ${timeText(failsBy)}, or some minutes later if more than 10 jobs hang`;
}

function waitLines({ pool, task, waitMs, parts, source }: ExplainedWait): readonly string[] {
  const by = pool === null ? 'a daemon of no pool, or of a task that is gone' : `a daemon of pool "${pool}"`;
  const of = task === null ? '' : `, task ${task}`;
  const total = `waited ${(waitMs / 1000).toFixed(1)} s for ${by}${of}`;
  const [longest] = parts.toSorted((a, b) => b.ms - a.ms);
  if (longest === undefined || (longest.part === 'unknown' && parts.length === 1)) return [total];
  return [
    `${total}:`,
    ...partTable(parts, waitMs),
    '',
    `most of it: ${waitPartName(longest.part)}. ${waitPartAdvice(longest.part)}.`,
    ...(source === 'live' ? ['The log of the function has no line about this start.'] : []),
  ];
}

/** What was promised, and why it came otherwise. */
function firstPromiseLines(
  { promised, parts }: ExplainedWait,
  { startedAt }: ExplainedJob,
): readonly string[] {
  if (promised === null || startedAt === null) return [];
  const lateMs = Date.parse(startedAt) - Date.parse(promised.to);
  const said = `first promise: a start at about ${promised.from.slice(11, 19)}, in most cases by ${promised.to.slice(11, 19)} UTC`;
  const [longest] = parts.toSorted((a, b) => b.ms - a.ms);
  if (lateMs < SHOWN_MS || longest === undefined) return [`${said}. The job started in time.`];
  return [`${said}. The job started ${seconds(lateMs)} later. ${laterText(longest)}.`];
}

/** Times are shown to the second. */
const SHOWN_MS = 1000;

function laterText({ part, ms }: ExplainedWait['parts'][number]): string {
  return `The longest part took ${seconds(ms)}: ${waitPartName(part)}`;
}

function partTable(parts: ExplainedWait['parts'], waitMs: number): readonly string[] {
  const rows = parts.map(({ part, ms, from }) => [
    from === null ? '' : from.slice(11, 19),
    (ms / 1000).toFixed(1),
    percentText(ms / waitMs),
    waitPartName(part),
  ]);
  const columns = [
    { head: 'from (UTC)', align: 'left' },
    { head: 'seconds', align: 'right' },
    { head: 'share', align: 'right' },
    { head: 'what it waited for', align: 'left' },
  ] as const;
  return plainTable(columns, rows)
    .split('\n')
    .map((line) => `  ${line}`);
}

function pendingLines(pending: PendingJob, takenAt: IsoTime): readonly string[] {
  const { waitedSeconds, alike, older, pools, start, unschedulable } = pending;
  const place = older === 0 ? 'it is the oldest' : `${older} of them are older`;
  return [
    `waits for ${ageText(waitedSeconds)}; ${some(alike, 'job')} with these tags ${alike === 1 ? 'waits' : 'wait'}, ${place}`,
    ...(start === null || unschedulable !== null ? [] : [startText(start, takenAt)]),
    ...(unschedulable === null ? [] : [`unschedulable: ${oneLine(unschedulable)}`]),
    ...pools.flatMap(({ pool, why }) => [`pool "${pool}":`, ...why.map((line) => `  - ${line}`)]),
  ];
}

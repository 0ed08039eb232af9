/** `autoscaler trace check`: summarizes a trace, or reports its errors. */
import type { Command } from 'commander';
import type { CommandContext } from '../../../../cli/shared/cli-environment.ts';
import { plainTable, wrapLines } from '../../../../cli/shared/plain-table.ts';
import { type EpochMs, isoTime } from '../../../../lambda/decision/model/brands.ts';
import { percentile, sum } from '../../../../lambda/decision/model/collections.ts';
import { displayTags, tagKey } from '../../../../lambda/decision/model/tags.ts';
import { some, tagText } from '../../../../lambda/explain/format.ts';
import { readTraceFile } from '../../trace/file.ts';
import { JOB_KINDS, type Trace, type TraceJob } from '../../trace/trace.ts';

export function addTraceCheckCommand(trace: Command, { cliEnvironment }: CommandContext): void {
  trace
    .command('check')
    .description('summarize a trace, or report its errors')
    .argument('<file>', 'trace file; - for standard input')
    .option('--skip-bad', 'skip invalid lines and count them', false)
    .option('--json', 'print the summary as one JSON document', false)
    .action((file: string, { skipBad, json }: { readonly skipBad: boolean; readonly json: boolean }) => {
      const { trace: read, remarks } = readTraceFile(file, { skipBad });
      for (const remark of remarks) cliEnvironment.err(`${file}: warning: ${remark}\n`);
      const text = json
        ? JSON.stringify(traceDocument(read), null, 2)
        : wrapLines(traceText(read, cliEnvironment.columns), cliEnvironment.columns);
      cliEnvironment.out(`${text}\n`);
    });
}

const MOST_GROUPS = 20;

/** The summary as data: times in RFC 3339, durations in seconds. */
function traceDocument(trace: Trace) {
  const { name, from, to, timezone, jobs, outages, startSeconds } = trace;
  return {
    version: 1,
    name,
    from: isoTime(from),
    to: isoTime(to),
    timezone,
    jobs: jobs.length,
    buildSeconds: sum(jobs, ({ seconds }) => seconds),
    outages: outages.map(({ at, seconds }) => ({ at: isoTime(at), seconds })),
    startSeconds: startSeconds ?? null,
    kinds: kindsOf(jobs).map(figuresOf),
    groups: groupsOf(jobs).map(figuresOf),
  };
}

function figuresOf({ name, jobs }: JobGroup) {
  const [p50, p95, longest] = percentilesOf(jobs);
  return { name, jobs: jobs.length, seconds: { p50, p95, longest } };
}

function traceText(trace: Trace, width: number | undefined): string {
  const { jobs } = trace;
  const groups = groupsOf(jobs);
  const more = groups.length - MOST_GROUPS;
  return [
    ...factLines(trace),
    '',
    jobTable('kind', kindsOf(jobs), width),
    '',
    jobTable('organization and tags', groups.slice(0, MOST_GROUPS), width),
    ...(more > 0 ? [`and ${some(more, 'tag group')} more`] : []),
  ].join('\n');
}

function factLines({ name, from, to, timezone, jobs, outages, startSeconds }: Trace): readonly string[] {
  const clock = clockOf(timezone);
  const hours = sum(jobs, ({ seconds }) => seconds) / 3600;
  const hour = busiest(jobs, 60);
  const minute = busiest(jobs, 1);
  const [least, most] = startSeconds ?? [];
  const facts = [
    ['trace', name],
    ['period', `${clock(from)} to ${clock(to)}, ${timezone}`],
    ['jobs', `${jobs.length}, ${hours.toFixed(1)} h of building`],
    [
      'busiest',
      `${some(hour.jobs, 'job')} in the hour from ${clock(hour.at)}; ${minute.jobs} in the minute ${clock(minute.at)}`,
    ],
    ...outages.map(({ at, seconds }) => ['outage', `${clock(at)}, ${seconds} s`]),
    ['task starts', least === undefined ? 'typical for Fargate' : `${least} to ${most} s`],
  ];
  return facts.map(([what = '', text = '']) => `${what.padEnd(11)}  ${text}`);
}

/** The hour or minute with the most jobs; the first of several. */
function busiest(
  jobs: readonly TraceJob[],
  minutes: number,
): { readonly at: EpochMs; readonly jobs: number } {
  const lengthMs = minutes * 60_000;
  const counts = new Map<number, number>();
  for (const { at } of jobs) {
    const slot = Math.floor(at / lengthMs);
    counts.set(slot, (counts.get(slot) ?? 0) + 1);
  }
  const [slot, count] = [...counts].reduce((most, next) => (next[1] > most[1] ? next : most));
  return { at: (slot * lengthMs) as EpochMs, jobs: count };
}

type JobGroup = { readonly name: string; readonly jobs: readonly TraceJob[] };

/** Jobs by kind, without kinds that do not occur. */
function kindsOf(jobs: readonly TraceJob[]): readonly JobGroup[] {
  const kinds = JOB_KINDS.map((kind) => ({ name: kind, jobs: jobs.filter((job) => job.kind === kind) }));
  return kinds.filter((kind) => kind.jobs.length > 0);
}

/** Jobs by organization and tag set, the largest group first. */
function groupsOf(jobs: readonly TraceJob[]): readonly JobGroup[] {
  const groups = Map.groupBy(jobs, ({ organization, tags }) => `${organization} ${tagKey(tags)}`);
  return [...groups.values()]
    .map((group) => ({ name: groupName(group[0]), jobs: group }))
    .sort((a, b) => b.jobs.length - a.jobs.length);
}

function groupName(job: TraceJob | undefined): string {
  return job === undefined ? '' : `${job.organization} ${tagText(displayTags(job.tags))}`;
}

/** Seconds: the median, the 95th percentile and the longest. */
function percentilesOf(jobs: readonly TraceJob[]): readonly number[] {
  const seconds = jobs.map((job) => job.seconds).sort((a, b) => a - b);
  return [0.5, 0.95, 1].map((share) => percentile(seconds, share));
}

function jobTable(what: string, groups: readonly JobGroup[], width: number | undefined): string {
  const heads = ['jobs', 'p50 s', 'p95 s', 'longest s'];
  return plainTable(
    [{ head: what, align: 'left' }, ...heads.map((head) => ({ head, align: 'right' as const }))],
    groups.map(({ name, jobs }) => [
      name,
      jobs.length,
      ...percentilesOf(jobs).map((seconds) => seconds.toFixed(1)),
    ]),
    width,
  );
}

/** Formats times as `Mon 2026-03-02 09:00` in a time zone. */
function clockOf(timeZone: string): (time: EpochMs) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  return (time) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const [weekday, year, month, day, hour, minute] = [
      'weekday',
      'year',
      'month',
      'day',
      'hour',
      'minute',
    ].map((name) => parts.get(name as Intl.DateTimeFormatPartTypes));
    return `${weekday?.replace('.', '')} ${year}-${month}-${day} ${hour}:${minute}`;
  };
}

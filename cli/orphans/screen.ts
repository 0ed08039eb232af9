/** What `autoscaler orphans` prints. */
import type { IsoTime } from '../../lambda/decision/model/plan.ts';
import { buildText, causeText } from '../../lambda/explain/dead-build-text.ts';
import { some, timeText } from '../../lambda/explain/format.ts';
import { oneLine, wrapLines } from '../shared/plain-table.ts';
import type { Ledger, Orphan } from './ledger.ts';

export type OrphansReport = Ledger & {
  readonly version: 1;
  readonly from: IsoTime;
  readonly to: IsoTime;
  readonly days: number;
  readonly logGroup: string;
  /** How many days CloudWatch keeps the log; null: unknown. */
  readonly keptDays: number | null;
  /** Whether the log has more lines than could be read. */
  readonly isCut: boolean;
};

const INDENT = '  ';
const HEAD = 'ran from'.length + 2;

/** `columns`: characters of a line. @default lines are as long as needed */
export function orphansScreen(report: OrphansReport, columns?: number): string {
  const { builds } = report;
  const parts = [titleOf(report), ...builds.map((build) => buildLines(build).join('\n')), ...notesOf(report)];
  return `${wrapLines(parts.join('\n\n'), columns)}\n`;
}

function titleOf({ builds, from, to }: OrphansReport): string {
  const span = `from ${timeText(from)} to ${timeText(to)}`;
  if (builds.length === 0) return `No build is known to have died with its task ${span}.`;
  const whose = builds.length === 1 ? 'its task' : 'their tasks';
  return `${some(builds.length, 'build')} died with ${whose} ${span}, newest first. coderd never got the new state of ${builds.length === 1 ? 'this build' : 'these builds'}.`;
}

function buildLines(build: Orphan): readonly string[] {
  const { template, pool, organization, cause, reason, startedAt, stoppedAt, job, task, check } = build;
  const facts = [
    ['died', `${timeText(stoppedAt)}: ${causeText(cause)}${reason === '' ? '' : ` (${reason})`}`],
    ['ran from', timeText(startedAt)],
    ['template', template ?? 'unknown'],
    ['pool', `${pool}, organization ${organization}`],
    ['job', job],
    ['task', task],
    ['check', check],
  ] as const;
  return [
    oneLine(buildText(build)),
    ...facts.map(([head, text]) => `${INDENT}${head.padEnd(HEAD)}${oneLine(text)}`),
  ];
}

function notesOf({ days, keptDays, isCut, unreadable, logGroup, builds }: OrphansReport): readonly string[] {
  return [
    ...(isCut
      ? [
          `Builds are missing: the log has more of them in one second than one query returns. Give fewer --days.`,
        ]
      : []),
    ...(unreadable > 0
      ? [
          `${some(unreadable, 'line')} of the log could not be read. Another version of the function wrote them.`,
        ]
      : []),
    ...(keptDays !== null && days > keptDays
      ? [
          `CloudWatch keeps the log for ${some(keptDays, 'day')} (aws.logs.retentionDays), so older builds are not listed.`,
        ]
      : []),
    ...(keptDays === null
      ? [`How long CloudWatch keeps the log group "${logGroup}" is unknown, as the stack did not create it.`]
      : []),
    ...(builds.length === 0
      ? [
          "The function misses a death only if no look can read coderd and ECS for an hour after it, or if a deleted provisioner key took the daemon out of coderd's list.",
        ]
      : []),
  ];
}

/** What `autoscaler orphans` prints. */
import type { IsoTime } from '../../lambda/decision/model/plan.ts';
import { buildText, causeText } from '../../lambda/explain/dead-build-text.ts';
import { some, timeText } from '../../lambda/explain/format.ts';
import { oneLine } from '../shared/plain-table.ts';
import type { Ledger, Orphan } from './ledger.ts';

export type OrphansReport = Ledger & {
  readonly from: IsoTime;
  readonly to: IsoTime;
  readonly days: number;
  readonly logGroup: string;
  /** How many days CloudWatch keeps the log; null: unknown. */
  readonly keptDays: number | null;
  /** Whether the log has more lines than could be read. */
  readonly isCut: boolean;
};

const LEAST_COLUMNS = 60;
const INDENT = 2;
const HEAD = 'ran from'.length + 2;

/** `columns`: characters of a line. @default lines are as long as needed */
export function orphansScreen(report: OrphansReport, columns?: number): string {
  const { builds } = report;
  const parts = [
    titleOf(report),
    ...builds.map((build) => buildLines(build, columns).join('\n')),
    ...notesOf(report),
  ];
  return `${parts.join('\n\n')}\n`;
}

function titleOf({ builds, from, to }: OrphansReport): string {
  const span = `from ${timeText(from)} to ${timeText(to)}`;
  if (builds.length === 0) return `No build is known to have died with its task ${span}.`;
  const whose = builds.length === 1 ? 'its task' : 'their tasks';
  return `${some(builds.length, 'build')} died with ${whose} ${span}, newest first. coderd never got the new state of ${builds.length === 1 ? 'this build' : 'these builds'}.`;
}

function buildLines(build: Orphan, columns: number | undefined): readonly string[] {
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
    ...facts.flatMap(([head, text]) => wrapped(head, oneLine(text), columns)),
  ];
}

/** `head  text`, with further lines of the text below its first one. */
function wrapped(head: string, text: string, columns = Number.POSITIVE_INFINITY): readonly string[] {
  const width = Math.max(columns, LEAST_COLUMNS) - INDENT - HEAD;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.map((line, index) => `${' '.repeat(INDENT)}${(index === 0 ? head : '').padEnd(HEAD)}${line}`);
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

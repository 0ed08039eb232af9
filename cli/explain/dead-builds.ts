/** `autoscaler explain --dead`: the builds that died with their tasks, from the function's log. */
import * as z from 'zod';
import { loadConfig } from '../../lambda/config/load.ts';
import { isoTime, plusMs } from '../../lambda/decision/model/brands.ts';
import { by } from '../../lambda/decision/model/collections.ts';
import type { DeathCause, IsoTime } from '../../lambda/decision/model/plan.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import { buildText, causeText, checkText } from '../../lambda/explain/dead-build-text.ts';
import { some, timeText } from '../../lambda/explain/format.ts';
import { withFunctionLog } from '../logs/function-log.ts';
import type { CliEnvironment } from '../shared/cli-environment.ts';
import type { JsonOptions } from '../shared/live-options.ts';
import { oneLine, wrapLines } from '../shared/plain-table.ts';

type DeadOptions = JsonOptions & { readonly days: number };

/** Exit code 1 if rows are missing. Builds that died do not count. */
export async function printDeadBuilds(options: DeadOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const report = await readReport(options, cliEnvironment);
  cliEnvironment.out(
    options.json ? `${JSON.stringify(report, null, 2)}\n` : deadScreen(report, cliEnvironment.columns),
  );
  return report.isCut || report.unreadable > 0 ? 1 : 0;
}

function readReport(options: DeadOptions, cliEnvironment: CliEnvironment): Promise<DeadReport> {
  const to = cliEnvironment.now();
  const from = plusMs(to, -options.days * DAY_MS);
  return withFunctionLog(options, cliEnvironment, async (log) => {
    const { rows, isCut } = await log.query('orphan', [LEDGER_FIELDS], { from, to });
    return {
      version: 1,
      from: isoTime(from),
      to: isoTime(to),
      logGroup: log.group,
      keptDays: keptDaysOf(options.config),
      days: options.days,
      isCut,
      ...ledgerOf(rows),
    };
  });
}

/** How long CloudWatch keeps the log; null: unknown, as somebody else made the log group. */
function keptDaysOf(file: string): number | null {
  const { logs } = loadConfig(file).config.aws;
  return logs.group === undefined ? logs.retentionDays : null;
}

/** The commands of the query. Insights leaves out fields that a line lacks. */
const LEDGER_FIELDS =
  'fields job, workspace, workspaceId, owner, transition, template, pool, organization, task, startedAt, stoppedAt, cause, reason';

const CAUSES = [
  'spot',
  'host',
  'maintenance',
  'memory',
  'by-hand',
  'exited',
  'scaling',
  'unknown',
] as const satisfies readonly DeathCause[];

const known = z
  .string()
  .default('')
  .transform((text) => text || null);

const rowSchema = z.object({
  job: z.string(),
  workspace: known,
  workspaceId: known,
  owner: known,
  transition: known,
  template: known,
  pool: z.string(),
  organization: z.string(),
  task: z.string(),
  startedAt: z.iso.datetime(),
  stoppedAt: z.iso.datetime(),
  // a later version of the function may know further causes
  cause: z.enum(CAUSES).catch('unknown'),
  reason: z.string().default(''),
});

type DeadBuild = z.output<typeof rowSchema> & {
  /** What to check in the cloud, and to do in Coder. */
  readonly check: string;
};

type Ledger = {
  /** The latest death first, each job once. */
  readonly builds: readonly DeadBuild[];
  readonly unreadable: number;
};

/** Makes the ledger of these rows, in any order. Of several lines about a job it takes the fullest. */
function ledgerOf(rows: readonly Readonly<Record<string, string>>[]): Ledger {
  const parsed = rows.flatMap((row) => rowSchema.safeParse(row).data ?? []);
  const byJob = Map.groupBy(parsed, ({ job }) => job);
  const fullestFirst = by<(typeof parsed)[number]>(
    (line) => Object.values(line).filter((value) => value === null).length,
  );
  const builds = [...byJob.values()].flatMap((lines) => lines.toSorted(fullestFirst).slice(0, 1));
  return {
    builds: builds.map((build) => ({ ...build, check: checkText(build) })).toSorted(newestFirst),
    unreadable: rows.length - parsed.length,
  };
}

const newestFirst = by<DeadBuild>(
  ({ stoppedAt }) => -Date.parse(stoppedAt),
  ({ job }) => job,
);

type DeadReport = Ledger & {
  readonly version: 1;
  readonly from: IsoTime;
  readonly to: IsoTime;
  readonly days: number;
  readonly logGroup: string;
  /** How many days CloudWatch keeps the log; null: unknown. */
  readonly keptDays: number | null;
  readonly isCut: boolean;
};

const INDENT = '  ';
const HEAD = 'ran from'.length + 2;

/** `columns`: characters of a line. @default lines are as long as needed */
function deadScreen(report: DeadReport, columns?: number): string {
  const { builds } = report;
  const parts = [titleOf(report), ...builds.map((build) => buildLines(build).join('\n')), ...notesOf(report)];
  return `${wrapLines(parts.join('\n\n'), columns)}\n`;
}

function titleOf({ builds, from, to }: DeadReport): string {
  const span = `from ${timeText(from)} to ${timeText(to)}`;
  if (builds.length === 0) return `No build is known to have died with its task ${span}.`;
  const whose = builds.length === 1 ? 'its task' : 'their tasks';
  return `${some(builds.length, 'build')} died with ${whose} ${span}, newest first. coderd never got the new state of ${builds.length === 1 ? 'this build' : 'these builds'}.`;
}

function buildLines(build: DeadBuild): readonly string[] {
  const { template, pool, organization, cause, reason, startedAt, stoppedAt, job, task, check } = build;
  const facts = [
    ['stopped', `${timeText(stoppedAt)}: ${causeText(cause)}${reason === '' ? '' : ` (${reason})`}`],
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

function notesOf({ days, keptDays, isCut, unreadable, logGroup, builds }: DeadReport): readonly string[] {
  const notes: readonly (readonly [boolean, string])[] = [
    [
      isCut,
      'Builds are missing: the log has more of them in one second than one query returns. Give fewer --days.',
    ],
    [
      unreadable > 0,
      `${some(unreadable, 'line')} of the log could not be read. Another version of the function wrote them.`,
    ],
    [
      keptDays !== null && days > keptDays,
      `CloudWatch keeps the log for ${some(keptDays ?? 0, 'day')} (aws.logs.retentionDays), so older builds are not listed.`,
    ],
    [
      keptDays === null,
      `How long CloudWatch keeps the log group "${logGroup}" is unknown, as the stack did not create it.`,
    ],
    [
      builds.length === 0,
      "The function misses a death only if no look can read coderd and ECS for an hour after it, or if a deleted provisioner key took the daemon out of coderd's list.",
    ],
  ];
  return notes.flatMap(([holds, note]) => (holds ? [note] : []));
}

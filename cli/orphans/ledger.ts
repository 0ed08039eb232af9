/**
 * The ledger of builds that died with their tasks, from the log lines that the function wrote
 * (lambda/look/orphan-event.ts). A new process of the function logs a death again.
 */
import * as z from 'zod';
import { by } from '../../lambda/decision/model/collections.ts';
import type { DeathCause } from '../../lambda/decision/model/plan.ts';
import { checkText } from '../../lambda/explain/dead-build-text.ts';

/** The commands of the query. Insights leaves out fields that a line lacks. */
export const LEDGER_FIELDS =
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

/** A build that died with its task. */
export type Orphan = z.output<typeof rowSchema> & {
  /** What to check in the cloud, and to do in Coder. */
  readonly check: string;
};

export type Ledger = {
  /** The latest death first, each job once. */
  readonly builds: readonly Orphan[];
  /** Log lines that are not as expected. */
  readonly unreadable: number;
};

/** Makes the ledger of these rows, in any order. Of several lines about a job it takes the fullest. */
export function ledgerOf(rows: readonly Readonly<Record<string, string>>[]): Ledger {
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

const newestFirst = by<Orphan>(
  ({ stoppedAt }) => -Date.parse(stoppedAt),
  ({ job }) => job,
);

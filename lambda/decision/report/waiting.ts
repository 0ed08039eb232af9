/** Findings about jobs that wait too long, from the assignment. */
import type { Assigned, Assignment } from '../assign/assignment.ts';
import { oldestOf, type TagGroup } from '../demand/demand.ts';
import { isoTime } from '../model/brands.ts';
import type { Config } from '../model/config.ts';
import type { Finding } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { displayTags } from '../model/tags.ts';

type Row = Assigned<TagGroup>;

/** Derives the findings about jobs that will run, but late. */
export function waitingFindings(
  { assigned }: Assignment<TagGroup>,
  snapshot: Snapshot,
  config: Config,
): readonly Finding[] {
  const groups = Map.groupBy(assigned, ({ group }) => group);
  return [...groups].flatMap(([group, rows]) => longWaiting(group, rows, snapshot, config));
}

function longWaiting(
  group: TagGroup,
  rows: readonly Row[],
  snapshot: Snapshot,
  config: Config,
): readonly Finding[] {
  const since = snapshot.takenAt - config.alertAfterMs;
  const jobs = group.createdAt.filter((createdAt) => createdAt < since).length;
  if (jobs === 0) return [];
  const pool = rows[0]?.offer.pool ?? null;
  return [{ code: 'jobs-waiting', ...named(group), jobs, oldest: isoTime(oldestOf(group)), pool }];
}

function named(group: TagGroup) {
  return { organization: group.organization, tags: displayTags(group.tags) };
}

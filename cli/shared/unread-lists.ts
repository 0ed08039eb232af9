import type { OrganizationReadings, Reading, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { ageText, plainLine } from '../../lambda/explain/format.ts';

/** One line for each list of a snapshot that is not complete and current. */
export function unreadLists({ takenAt, coder, ecs }: Snapshot): readonly string[] {
  const readings: readonly Reading<unknown>[] = [
    ...coder.organizations.flatMap(listsOf),
    ecs.services,
    ecs.tasks,
    ecs.protections,
  ];
  const lines = readings.filter(({ status }) => status !== 'ok').map((list) => lineOf(list, takenAt));
  return [...new Set(lines.map(plainLine))];
}

function listsOf(organization: OrganizationReadings): readonly Reading<unknown>[] {
  const { jobs, daemons, previousJobs, workspaces, templates } = organization;
  return [jobs, daemons, previousJobs, workspaces, templates].filter((list) => list !== undefined);
}

function lineOf(list: Reading<unknown>, now: number): string {
  const line = list.error ?? `a list is ${list.status}`;
  if (list.status !== 'stale' || list.takenAt === undefined) return line;
  return `${line}. Using the list of ${ageText((now - list.takenAt) / 1000)} before`;
}

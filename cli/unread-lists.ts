import type { Reading, Snapshot } from '../lambda/core/snapshot.ts';

/** A line for each list of a snapshot that could not be read as a whole. */
export function unreadLists({ coder, ecs }: Snapshot): readonly string[] {
  const readings: readonly Reading<unknown>[] = [
    ...coder.organizations.flatMap(({ jobs, daemons, previousJobs }) => [jobs, daemons, previousJobs]),
    ecs.services,
    ecs.tasks,
    ecs.protections,
  ];
  const lines = readings
    .filter(({ status }) => status !== 'ok')
    .map(({ status, error }) => error ?? `a list is ${status}`);
  return [...new Set(lines)];
}

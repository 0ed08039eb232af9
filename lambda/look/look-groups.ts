/** Computes the rows of the log event for tag groups: pending jobs, and how long the running jobs waited. */
import { deriveDemand, oldestOf, type TagGroup } from '../decision/demand/demand.ts';
import { type EpochMs, isoTime } from '../decision/model/brands.ts';
import { by, percentile, sum, unique } from '../decision/model/collections.ts';
import type { Plan } from '../decision/model/plan.ts';
import type { Job, Snapshot } from '../decision/model/snapshot.ts';
import { displayTags, type Tags, tagKey } from '../decision/model/tags.ts';
import { tagText } from '../explain/format.ts';

/**
 * One row for the pending and running jobs of each organization and tag set, prebuilds included:
 * groups with pending jobs first, the longest waiting on top.
 */
export function groupRows(snapshot: Snapshot, plan: Plan) {
  const facts = new Map<string, GroupFacts>();
  const of = (organization: string, tags: Tags): GroupFacts => {
    const key = `${organization} ${tagKey(tags)}`;
    const known = facts.get(key) ?? { organization, tags, waiting: [], places: [], running: [] };
    facts.set(key, known);
    return known;
  };
  for (const group of deriveDemand(snapshot)) of(group.organization, group.tags).waiting.push(group);
  for (const row of plan.assignment) of(row.organization, row.tags).places.push(row);
  for (const row of plan.unserved) of(row.organization, row.tags).places.push({ ...row, served: 'unserved' });
  for (const { name, jobs } of snapshot.coder.organizations)
    for (const job of unique(jobs.items, ({ id }) => id).filter(({ status }) => status === 'running'))
      of(name, job.tags).running.push(job);
  return [...facts.values()]
    .map((group) => toRow(group, snapshot.takenAt))
    .toSorted(
      by(
        ({ oldestSeconds }) => -oldestSeconds,
        ({ pending }) => -pending,
        ({ organization }) => organization,
        ({ tags }) => tags,
      ),
    );
}

type Place = { readonly served: string; readonly jobs: number; readonly pool?: string | null };
type GroupFacts = {
  readonly organization: string;
  readonly tags: Tags;
  /** Groups of people's jobs and of prebuilds. */
  readonly waiting: TagGroup[];
  readonly places: Place[];
  readonly running: Job[];
};

function waitsMsOf(jobs: readonly Job[]): readonly number[] {
  return jobs.flatMap(({ created_at, started_at }) =>
    started_at == null ? [] : [Math.max(0, started_at - created_at)],
  );
}

function toRow({ organization, tags, waiting, places, running }: GroupFacts, now: EpochMs) {
  const oldest = waiting.map(oldestOf).toSorted((a, b) => a - b)[0];
  const waits = waitsMsOf(running).toSorted((a, b) => a - b);
  const pools = [...new Set(places.flatMap(({ pool }) => pool ?? []))];
  return {
    organization,
    // one text, so that queries can group by it: `cluster=gpu, size=l`
    tags: tagText(displayTags(tags)),
    pending: sum(waiting, ({ jobs }) => jobs),
    // when the oldest pending job was submitted
    ...(oldest === undefined ? {} : { since: isoTime(oldest) }),
    oldestSeconds: oldest === undefined ? 0 : seconds(Math.max(0, now - oldest)),
    // `2 by-launch, 1 unserved`
    served: servedText(places),
    // the pools that the jobs are planned for
    pools: pools.sort().join(', '),
    running: running.length,
    // the queue wait of the running jobs: from their creation until a daemon took them
    ...(waits.length === 0
      ? {}
      : {
          queueWaitP50Seconds: seconds(percentile(waits, 0.5)),
          queueWaitP95Seconds: seconds(percentile(waits, 0.95)),
        }),
  };
}

function servedText(places: readonly Place[]): string {
  const alike = Map.groupBy(places, ({ served }) => served);
  return [...alike].map(([served, rows]) => `${sum(rows, ({ jobs }) => jobs)} ${served}`).join(', ');
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

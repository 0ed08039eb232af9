/**
 * Computes the rows of the log event for tag groups: pending jobs, and how long the running jobs
 * waited.
 */

import { deriveDemand, oldestOf, type TagGroup } from '../decision/demand/demand.ts';
import { type EpochMs, isoTime } from '../decision/model/brands.ts';
import { by, percentile, sum, unique } from '../decision/model/collections.ts';
import type { IsoTime, Plan } from '../decision/model/plan.ts';
import type { Job, Snapshot } from '../decision/model/snapshot.ts';
import { displayTags, type Tags, tagKey } from '../decision/model/tags.ts';
import { tagText } from '../explain/format.ts';

/** The pending and running jobs of one organization with the same tag set, prebuilds included. */
export type GroupRow = {
  /** Name. */
  readonly organization: string;
  /** `cluster=gpu, size=l`; one text, so that queries can group by it. */
  readonly tags: string;
  readonly pending: number;
  /** When the oldest pending job was submitted. */
  readonly since?: IsoTime;
  readonly oldestSeconds: number;
  /** `2 by-launch, 1 unserved`. */
  readonly served: string;
  /** The pools that the jobs are planned for, as one text. */
  readonly pools: string;
  readonly running: number;
  /** The queue wait of the running jobs: from their creation until a daemon took them. */
  readonly queueWaitP50Seconds?: number;
  readonly queueWaitP95Seconds?: number;
};

/** One row for each tag group: groups with pending jobs first, the longest waiting on top. */
export function groupRows(snapshot: Snapshot, plan: Plan): readonly GroupRow[] {
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

function toRow({ organization, tags, waiting, places, running }: GroupFacts, now: EpochMs): GroupRow {
  const oldest = waiting.map(oldestOf).toSorted((a, b) => a - b)[0];
  const waits = waitsMsOf(running).toSorted((a, b) => a - b);
  const pools = [...new Set(places.flatMap(({ pool }) => pool ?? []))];
  return {
    organization,
    tags: tagText(displayTags(tags)),
    pending: sum(waiting, ({ jobs }) => jobs),
    ...(oldest === undefined ? {} : { since: isoTime(oldest) }),
    oldestSeconds: oldest === undefined ? 0 : seconds(Math.max(0, now - oldest)),
    served: servedText(places),
    pools: pools.sort().join(', '),
    running: running.length,
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

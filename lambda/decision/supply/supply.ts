/** Supply: the service, tasks, daemons and settings in force of every pool. */
import { isSpotPart } from '../model/brands.ts';
import { compare } from '../model/collections.ts';
import type { Config, PoolConfig } from '../model/config.ts';
import type { Reading, Service, Snapshot } from '../model/snapshot.ts';
import { normalizeTags, type TagSet } from '../model/tags.ts';
import { partsOf } from '../settings/parts.ts';
import { judgeTasks, type PoolTasks } from './pool-tasks.ts';
import { type ClusterLists, listsFor } from './rows/left-out.ts';
import { indexLists, type Lists, type PoolFacts, rowsOfPool, tasksOfPool } from './rows/pool-rows.ts';
import { removedPools } from './rows/removed-pools.ts';
import { judgeUnlisted } from './rows/unlisted-daemons.ts';
import { countUnmanaged } from './rows/unmanaged-tasks.ts';
import type { Share } from './spot.ts';

export type PoolView = PoolFacts &
  PoolTasks &
  Coverage & {
    /** The pool's tags, normalized. */
    readonly tags: TagSet;
    /** Of a part of a pool (turns/share.ts); undefined: the pool has no parts. */
    readonly share: Share | undefined;
  };

/** How far the lists cover a pool, and what they lack. */
type Coverage = {
  /** Whether the lists of services and tasks are whole, as far as they concern this pool. */
  readonly areTasksKnown: boolean;
  /** Whether this look could read everything that shows failed starts. */
  readonly areStartsKnown: boolean;
  /** The number of running tasks that are missing from the list but have busy daemons. */
  readonly unseen: number;
  /** Whether it may have a service whose row could not be read. */
  readonly isServiceUnread: boolean;
  /** Without one known service: the tasks that the pool has all the same. */
  readonly unmanaged: number;
  /** The number of desired tasks that do not exist yet. */
  readonly missing: number;
  /** The names of this pool's live daemons that have no task in any list. */
  readonly orphans: readonly string[];
};

/** Derives the view of every pool, in order of name. */
export function deriveSupply(snapshot: Snapshot, config: Config): readonly PoolView[] {
  const lists = indexLists(snapshot);
  return [...config.pools.flatMap(partsOf), ...removedPools(snapshot, config)]
    .toSorted((a, b) => compare(a.name, b.name))
    .map((pool) => derivePoolView(pool, lists));
}

function derivePoolView(configured: PoolConfig, lists: Lists): PoolView {
  const listed = rowsOfPool(configured, lists);
  const { facts } = listed;
  const judged = judgeTasks(listed, lists.snapshot, lists.now);
  return {
    ...facts,
    ...judged,
    ...coverageOf(facts, judged, lists),
    tags: normalizeTags(facts.pool.tags),
    share: undefined,
  };
}

function coverageOf(facts: PoolFacts, judged: PoolTasks, lists: Lists): Coverage {
  const { pool, configured, index, service } = facts;
  const read = listsFor({ pool, service, tasks: judged.tasks }, lists.snapshot.ecs);
  const areTasksKnown = areRead(read.services, read.tasks);
  if (service !== undefined) return coverageOfService(service, { facts, judged, read, areTasksKnown, lists });
  return {
    ...{ areTasksKnown, areStartsKnown: false, unseen: 0, missing: 0, orphans: [] },
    isServiceUnread: !areRead(read.services),
    unmanaged: countUnmanaged(configured, index, lists),
  };
}

type OfPool = Pick<Coverage, 'areTasksKnown'> & {
  readonly facts: PoolFacts;
  readonly judged: PoolTasks;
  readonly read: ClusterLists;
  readonly lists: Lists;
};

function coverageOfService(
  { runningCount, desiredCount }: Service,
  { facts, judged: { tasks, starts }, read, areTasksKnown, lists }: OfPool,
): Coverage {
  const { pool, organization, index, owned } = facts;
  const { coder, takenAt } = lists.snapshot;
  const { busy, orphans } = judgeUnlisted({
    ...{ pool, index, owned, now: takenAt },
    tasks: () => tasksOfPool(pool, lists),
  });
  const areDaemonsKnown = organization?.daemons.status === 'ok' && coder.buildInfo !== undefined;
  // ECS's running count limits the busy daemons whose tasks are missing from an incomplete list
  const unseen = areTasksKnown ? 0 : Math.max(0, Math.min(busy, runningCount - starts.length));
  return {
    ...{ areTasksKnown, unseen, isServiceUnread: false, unmanaged: 0 },
    areStartsKnown: areTasksKnown && areDaemonsKnown && areRead(read.protections),
    // older tasks count as existing even if ECS may not count them: otherwise the autoscaler could
    // wait forever for a count that somebody lowered
    missing: Math.max(0, desiredCount - tasks.length - unseen),
    orphans: areTasksKnown && !isSpotPart(pool.name) ? orphans : [],
  };
}

function areRead(...readings: readonly Pick<Reading<unknown>, 'status'>[]): boolean {
  return readings.every(({ status }) => status === 'ok');
}

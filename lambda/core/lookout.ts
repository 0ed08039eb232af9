/**
 * The lookout: for what the pools have to be awake. A call is what coderd will soon do for one tag set, with the pools whose daemons
 * can open the gate for it.
 */
import type { EpochMs, OrganizationId } from './brands.ts';
import { isAlive } from './daemons.ts';
import { readForecast, type TransitionGroup } from './forecast.ts';
import { partition, unique } from './order.ts';
import type { TransitionKind } from './plan.ts';
import type { Snapshot } from './snapshot.ts';
import { foreignTo, type PoolSight } from './supply.ts';
import { covers, normalizeTags, type TagSet, tagKey } from './tags.ts';
import type { TaskSight } from './task-state.ts';
import type { Transition } from './transitions.ts';

export type Call = {
  readonly group: TransitionGroup;
  /** Those with a service that are woken for this; in order of name. */
  readonly pools: readonly PoolSight[];
  /** The earliest first. */
  readonly ahead: readonly Transition[];
  /** See `TransitionGroup`. */
  readonly presumed: readonly Transition[];
  /** The first of those ahead: what a pool has to start for now, and what is overdue. */
  readonly due: readonly Transition[];
  /** A daemon that nobody here owns opens the gate already. */
  readonly isOpen: boolean;
};

export type Lookout = {
  readonly groups: readonly TransitionGroup[];
  readonly calls: readonly Call[];
  /** Due, and no pool has these tags. */
  readonly unheard: readonly Call[];
};

/** When all is quiet the next look is a minute away; and a daemon is to be seen before the executor comes. */
const NEXT_LOOK_MS = 75_000;
/** ECS starts 500 tasks of a service a minute (aws-facts §2). */
const LAUNCH_MS = 120;

/** Looks out for what is due, over all organizations. */
export function readLookout(snapshot: Snapshot, sights: readonly PoolSight[]): Lookout {
  const groups = readForecast(snapshot);
  const openElsewhere = tagsOfOthers(snapshot, sights);
  const isOpen = ({ organizationId, tags }: TransitionGroup): boolean =>
    (openElsewhere.get(organizationId) ?? []).some((others) => covers(others, tags));
  const all = groups.flatMap((group) => {
    const fitting = sights.filter((sight) => fits(sight, group));
    const kinds = split(group);
    const open = kinds.length > 0 && isOpen(group);
    return kinds.map((part) => ({ ...part, group, fitting, isOpen: open }));
  });
  const calls = all.map(({ fitting, ...call }) => {
    const pools = fitting.filter(
      (sight) => sight.service !== undefined && isWokenFor(sight, [...call.ahead, ...call.presumed][0]?.kind),
    );
    return {
      ...call,
      pools,
      due: dueOf(call.ahead, fitting, snapshot.takenAt),
      isFitting: fitting.length > 0,
    };
  });
  return {
    groups,
    calls: calls.filter(({ pools }) => pools.length > 0),
    unheard: calls.filter(({ isFitting, isOpen: open, due }) => !isFitting && !open && due.length > 0),
  };
}

/** The tag sets of live daemons that nobody here owns, by organization. */
function tagsOfOthers(
  { coder, takenAt }: Snapshot,
  sights: readonly PoolSight[],
): ReadonlyMap<OrganizationId, readonly TagSet[]> {
  const isForeign = foreignTo(sights);
  return new Map(
    coder.organizations.map(({ id, daemons }) => {
      const others = daemons.items.filter((daemon) => isForeign(daemon) && isAlive(daemon, takenAt));
      return [id, unique(others, ({ tags }) => tagKey(tags)).map(({ tags }) => normalizeTags(tags))];
    }),
  );
}

/** How long before something is due its pool has to start, in milliseconds. */
export function leadOf({ pool, startTime }: PoolSight): number {
  return startTime.p95Ms + NEXT_LOOK_MS + Math.min(pool.prewarm.max, pool.max) * LAUNCH_MS;
}

/** Whether a pool is woken for transitions of a kind. */
export function isWokenFor({ pool: { wake } }: PoolSight, kind: TransitionKind | undefined): boolean {
  return kind === 'autostart' ? wake.autostart : wake.autostop;
}

/** Whether a pool's daemons open the gate for a tag set. */
export function fits({ pool, organization }: PoolSight, { organizationId, tags }: TransitionGroup): boolean {
  return organization?.id === organizationId && covers(normalizeTags(pool.tags), tags);
}

/** The tasks whose daemons open the gate for their pool's tags, or are about to. */
export function openersOf(sight: PoolSight): number {
  const coming = sight.failing.isTripped ? 0 : sight.missing;
  return coming + sight.unseen + sight.tasks.filter(isOpener).length;
}

/** Whether daemons with another key are all that a pool has: the next one would be one more of them. */
export function hasWrongKey(sight: PoolSight): boolean {
  return openersOf(sight) === 0 && sight.tasks.some(({ hasOtherTags }) => hasOtherTags);
}

function isOpener({ state, use, hasOtherTags }: TaskSight): boolean {
  const isThere = state === 'working' || state === 'unguarded' || state === 'starting';
  return isThere && use !== 'silent' && !hasOtherTags;
}

/** Starts apart from what `wake.autostop` is about: pools may be woken for one and not for the other. */
function split({ ahead, presumed }: TransitionGroup): readonly Pick<Call, 'ahead' | 'presumed'>[] {
  const isStart = ({ kind }: Transition): boolean => kind === 'autostart';
  const [starts, stops] = partition(ahead, isStart);
  const [startsPresumed, stopsPresumed] = partition(presumed, isStart);
  return [
    { ahead: starts, presumed: startsPresumed },
    { ahead: stops, presumed: stopsPresumed },
  ].filter((part) => part.ahead.length + part.presumed.length > 0);
}

function dueOf(
  ahead: readonly Transition[],
  sights: readonly PoolSight[],
  now: EpochMs,
): readonly Transition[] {
  const until = now + Math.max(NEXT_LOOK_MS, ...sights.map(leadOf));
  return ahead.filter(({ at }) => at <= until);
}

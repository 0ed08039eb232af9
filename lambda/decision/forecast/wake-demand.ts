/**
 * The wake demands: for each tag set, the transitions that coderd will make soon and the pools
 * whose daemons can open the gate for them. Derived from the forecast and the pool views.
 */
import type { Left, LeftOf } from '../demand/peers.ts';
import type { Transition } from '../demand/transitions.ts';
import { type EpochMs, type OrganizationId, plusMs } from '../model/brands.ts';
import { partition, sum, unique } from '../model/collections.ts';
import type { TransitionKind } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { covers, normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { MINUTE_MS } from '../model/units.ts';
import { launchCost } from '../settings/prices.ts';
import { isPaused } from '../settings/settings-in-force.ts';
import { isHeldBack } from '../supply/capacity.ts';
import type { ForeignIn } from '../supply/rows/unlisted-daemons.ts';
import type { PoolView } from '../supply/supply.ts';
import type { TaskView } from '../supply/task-state.ts';
import type { Floors } from './floors.ts';
import { deriveForecast, type ExpectedTransition, type Refusal, type TransitionGroup } from './forecast.ts';
import { pollInterval } from './poll-interval.ts';

export type WakeDemand = {
  readonly group: TransitionGroup;
  /** Autostarts, or all other transitions: several stops share a start. */
  readonly wakeFor: 'autostart' | 'autostop';
  /** The pools that have a service and may wake, in order of name. */
  readonly pools: readonly PoolView[];
  /** Transitions that coderd has not made yet and that are not left to a peer, the earliest first. */
  readonly ahead: readonly ExpectedTransition[];
  /** Refused transitions, see `TransitionGroup`. */
  readonly refused: readonly Refusal[];
  readonly presumed: readonly ExpectedTransition[];
  /** The first ones of `ahead`: overdue ones, and those for which a pool has to start now. */
  readonly due: readonly Transition[];
  /** By a daemon of others, or one that a pool keeps for another reason. */
  readonly isOpen: boolean;
};

/** A wake demand for which no pool wakes, because people have paused or pinned all its pools. */
export type BlockedWakeDemand = WakeDemand & {
  /** Whether no daemon opens the gate and none is on its way: the transitions wait for a person. */
  readonly isWaiting: boolean;
};

export type WakeDemands = {
  readonly groups: readonly TransitionGroup[];
  readonly demands: readonly WakeDemand[];
  readonly heldBack: readonly BlockedWakeDemand[];
  /** Demands with transitions that are due, for which no pool has the tags. */
  readonly withoutPool: readonly WakeDemand[];
  /** Transitions for which this stack does not wake a pool, because their tag set belongs to a peer. */
  readonly left: readonly LeftDemand[];
};

type LeftDemand = Left & {
  readonly group: TransitionGroup;
  /** The earliest first. */
  readonly ahead: readonly ExpectedTransition[];
};

/** The look before, and coderd must see the daemon before its executor polls. */
const NEXT_LOOK_MS = 15_000;
/** When nothing happens the next look is a minute away. */
const QUIET_LOOK_MS = 75_000;
/** How late coderd may make a stop, a dormancy or a deletion: they share a start. */
export const MOST_DELAY_MS = 10 * MINUTE_MS;
/** ECS starts 500 tasks of a service a minute (docs/internals/aws.md §2). */
const LAUNCH_MS = 120;

/** What keeps or opens a gate beside the pools that wake: peers, daemons of others, and floors. */
export type Others = {
  readonly leftOf: LeftOf;
  readonly foreignIn: ForeignIn;
  readonly floorsOf: (view: PoolView) => Floors;
};

/** Derives the wake demands of all organizations. */
export function deriveWakeDemands(
  snapshot: Snapshot,
  views: readonly PoolView[],
  { leftOf, foreignIn, floorsOf }: Others,
): WakeDemands {
  const now = snapshot.takenAt;
  const poll = pollInterval(snapshot);
  const groups = deriveForecast(snapshot, poll);
  const times = { now, pollMs: poll.ms };
  const tagsOpenByOthers = tagsOfOthers(snapshot, foreignIn);
  const isOpen = ({ organizationId, tags }: TransitionGroup): boolean =>
    (tagsOpenByOthers.get(organizationId) ?? []).some((others) => covers(others, tags));
  const left: LeftDemand[] = [];
  const all = groups.flatMap((group) => {
    const fitting = views.filter((view) => fits(view, group) && !view.pool.retiring);
    const { organizationId, tags } = group;
    const leftFor = ({ kind, at }: Transition): Left | undefined =>
      leftOf(organizationId, tags, kind === 'autostart' ? at : plusMs(at, MOST_DELAY_MS));
    const [others, ahead] = partition(group.ahead, (transition) => leftFor(transition) !== undefined);
    const until = others[0] && leftFor(others[0]);
    if (until !== undefined) left.push({ ...until, group, ahead: others });
    const parts = split({ ...group, ahead });
    const open = parts.length > 0 && isOpen(group);
    return parts.map((part): DemandWithPools => {
      const { wakeFor, ahead } = part;
      return {
        fitting,
        demand: {
          ...part,
          group,
          pools: fitting.filter(({ service, pool }) => service !== undefined && pool.wake),
          due: wakeFor === 'autostart' ? dueOf(ahead, fitting, now) : dueStopsOf(ahead, fitting, times),
          isOpen: open || fitting.some((view) => keepsDaemon(view)),
        },
      };
    });
  });
  const [withPools, withoutPools] = partition(all, ({ demand }) => demand.pools.length > 0);
  return {
    groups,
    demands: withPools.map(({ demand }) => demand),
    heldBack: withoutPools.flatMap((candidate) => heldBackOf(candidate, floorsOf)),
    withoutPool: withoutPools.flatMap(({ demand, fitting }) =>
      fitting.length === 0 && !demand.isOpen ? [demand] : [],
    ),
    left,
  };
}

type DemandWithPools = {
  readonly demand: WakeDemand;
  /** The pools whose daemons could open the gate, whether they wake for it or not. */
  readonly fitting: readonly PoolView[];
};

function heldBackOf(
  { demand, fitting }: DemandWithPools,
  floorsOf: Others['floorsOf'],
): readonly BlockedWakeDemand[] {
  const pools = fitting.filter(({ configured, pool }) => configured.wake && !pool.wake);
  if (pools.length === 0) return [];
  const isOpen = demand.isOpen || fitting.some((view) => openersOf(view) > 0);
  return [
    {
      ...demand,
      pools,
      isOpen,
      isWaiting: !isOpen && !fitting.some((view) => hasConfiguredFloor(view, floorsOf)),
    },
  ];
}

/** Whether the pool keeps a daemon for another reason. */
function hasConfiguredFloor(view: PoolView, floorsOf: Others['floorsOf']): boolean {
  const { min, warm } = floorsOf(view);
  return view.service !== undefined && min + warm > 0;
}

/** The tag sets of live daemons that the autoscaler does not own, by organization. */
function tagsOfOthers(
  { coder }: Snapshot,
  foreignIn: ForeignIn,
): ReadonlyMap<OrganizationId, readonly TagSet[]> {
  return new Map(
    coder.organizations.map((organization) => [
      organization.id,
      unique(foreignIn(organization), ({ tags }) => tagKey(tags)).map(({ tags }) => normalizeTags(tags)),
    ]),
  );
}

/** How many milliseconds before a transition its pool has to start. */
export function leadOf({ pool, startTime }: Pick<PoolView, 'pool' | 'startTime'>): number {
  return startTime.p95Ms + NEXT_LOOK_MS + pool.max * LAUNCH_MS;
}

/** Whether a pool's daemons open the gate for a tag set. */
export function fits(
  view: PoolView,
  { organizationId, tags }: Pick<TransitionGroup, 'organizationId' | 'tags'>,
): boolean {
  return view.organization?.id === organizationId && covers(view.tags, tags);
}

/** The number of tasks whose daemons open the gate for their pool's tags, or will soon. */
export function openersOf(view: PoolView): number {
  const coming = isHeldBack(view) ? 0 : view.missing;
  return coming + view.unseen + view.tasks.filter(isOpener).length;
}

/** Whether all daemons of a pool have another key. The next one would have it too. */
export function hasWrongKey({ tasks }: PoolView): boolean {
  const isRight = (task: TaskView): boolean => isOpener(task) && task.daemon !== undefined;
  return tasks.some(({ hasOtherTags }) => hasOtherTags) && !tasks.some(isRight);
}

function isOpener({ state, use, hasOtherTags }: TaskView): boolean {
  const isThere = state === 'working' || state === 'unguarded' || state === 'starting';
  return isThere && use !== 'silent' && use !== 'unsure' && !hasOtherTags;
}

function split({ ahead, refused, presumed }: TransitionGroup): readonly Part[] {
  return WAKE_FOR.map((wakeFor): Part => {
    const isOwn = ({ kind }: Transition): boolean => wakeFor === partOf(kind);
    return {
      wakeFor,
      ahead: ahead.filter(isOwn),
      refused: refused.filter(({ transition }) => isOwn(transition)),
      presumed: presumed.filter(isOwn),
    };
  }).filter((part) => part.ahead.length + part.refused.length + part.presumed.length > 0);
}

type Part = Pick<WakeDemand, 'wakeFor' | 'ahead' | 'refused' | 'presumed'>;

const WAKE_FOR = ['autostart', 'autostop'] as const;

/** Whether a pool that does not wake still keeps a daemon. */
function keepsDaemon(view: PoolView): boolean {
  const { pool, overrides } = view;
  return !pool.wake && (pool.min > 0 || isPaused(overrides)) && openersOf(view) > 0;
}

function partOf(kind: TransitionKind): WakeDemand['wakeFor'] {
  return kind === 'autostart' ? 'autostart' : 'autostop';
}

/**
 * Selects the stops that are worth waking for. No person waits for a stop, so several stops share
 * one start of a pool. A start is worth its price once the waiting has cost as much. It comes early
 * enough that no stop is later than `MOST_DELAY_MS`.
 */
function dueStopsOf(
  ahead: readonly Transition[],
  views: readonly PoolView[],
  { now, pollMs }: { readonly now: EpochMs; readonly pollMs: number },
): readonly Transition[] {
  const due = dueOf(ahead, views, now);
  // no pool has these tags: there is no start to share, and a finding has to report it
  if (views.length === 0) return due;
  const isWorthWaking = views.some((view) => {
    const { pool, startTime } = view;
    const lastMs = MOST_DELAY_MS - leadOf(view) - QUIET_LOOK_MS - pollMs;
    const waitedMs = sum(due, ({ at }) => Math.max(0, now - at));
    const isLast = (due[0]?.at ?? now) <= now - lastMs;
    return isLast || (waitedMs / MINUTE_MS) * pool.waiting.stop >= launchCost(pool, startTime.p50Ms);
  });
  return isWorthWaking ? due : [];
}

function dueOf(
  ahead: readonly Transition[],
  views: readonly PoolView[],
  now: EpochMs,
): readonly Transition[] {
  const until = now + Math.max(NEXT_LOOK_MS, ...views.map(leadOf));
  return ahead.filter(({ at }) => at <= until);
}

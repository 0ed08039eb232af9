/**
 * The lookout: for what the pools have to be awake. A call is what coderd will soon do for one tag set, with the pools whose daemons
 * can open the gate for it.
 */

import { isHeldBack } from '../capacity/capacity.ts';
import type { EpochMs, OrganizationId } from '../model/brands.ts';
import { partition, sum, unique } from '../model/collections.ts';
import type { TransitionKind } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { covers, normalizeTags, type TagSet, tagKey } from '../model/tags.ts';
import { launchCost } from '../settings/patience.ts';
import { isPaused } from '../settings/settings-in-force.ts';
import { isAlive } from '../supply/daemons.ts';
import { foreignTo, type PoolView } from '../supply/supply.ts';
import type { TaskView } from '../supply/task-state.ts';
import { configuredFloors } from './floors.ts';
import { deriveForecast, type ExpectedTransition, type Refusal, type TransitionGroup } from './forecast.ts';
import { pollInterval } from './poll-interval.ts';
import type { Transition } from './transitions.ts';

export type WakeDemand = {
  readonly group: TransitionGroup;
  /** The setting of `wake` that it is about. */
  readonly wakeFor: 'autostart' | 'autostop';
  /** Those with a service that are woken for this; in order of name. */
  readonly pools: readonly PoolView[];
  /** The earliest first. */
  readonly ahead: readonly ExpectedTransition[];
  /** See `TransitionGroup`. */
  readonly refused: readonly Refusal[];
  readonly presumed: readonly ExpectedTransition[];
  /** The first of those ahead: what a pool has to start for now, and what is overdue. */
  readonly due: readonly Transition[];
  /** A daemon that nobody here owns, or that is kept anyway, opens the gate already. */
  readonly isOpen: boolean;
};

/** A call for which nobody is woken, since people have paused or pinned all its pools. */
export type HeldBack = WakeDemand & {
  /** No daemon opens the gate, nor is one on its way: what is due waits for the people. */
  readonly isWaiting: boolean;
};

export type WakeDemands = {
  readonly groups: readonly TransitionGroup[];
  readonly calls: readonly WakeDemand[];
  readonly heldBack: readonly HeldBack[];
  /** Due, and no pool has these tags. */
  readonly unheard: readonly WakeDemand[];
};

/** Before something is due there is a look every few seconds; and a daemon is to be seen before the executor comes. */
const NEXT_LOOK_MS = 15_000;
/** When all is quiet the next look is a minute away. */
const QUIET_LOOK_MS = 75_000;
/** ECS starts 500 tasks of a service a minute (docs/aws.md §2). */
const LAUNCH_MS = 120;

/** Looks out for what is due, over all organizations. */
export function deriveWakeDemands(snapshot: Snapshot, views: readonly PoolView[]): WakeDemands {
  const now = snapshot.takenAt;
  const groups = deriveForecast(snapshot);
  const times = { now, pollMs: pollInterval(snapshot).ms };
  const openElsewhere = tagsOfOthers(snapshot, views);
  const isOpen = ({ organizationId, tags }: TransitionGroup): boolean =>
    (openElsewhere.get(organizationId) ?? []).some((others) => covers(others, tags));
  const all = groups.flatMap((group) => {
    const fitting = views.filter((view) => fits(view, group) && !view.pool.retiring);
    const parts = split(group);
    const open = parts.length > 0 && isOpen(group);
    return parts.map((part): Heard => {
      const { wakeFor, ahead } = part;
      return {
        fitting,
        call: {
          ...part,
          group,
          pools: fitting.filter(({ service, pool }) => service !== undefined && pool.wake[wakeFor]),
          due: wakeFor === 'autostart' ? dueOf(ahead, fitting, now) : ripeOf(ahead, fitting, times),
          isOpen: open || fitting.some((view) => isThereAnyway(view, part)),
        },
      };
    });
  });
  const [answered, silent] = partition(all, ({ call }) => call.pools.length > 0);
  return {
    groups,
    calls: answered.map(({ call }) => call),
    heldBack: silent.flatMap((heard) => heldBackOf(heard, now)),
    unheard: silent.flatMap(({ call, fitting }) =>
      fitting.length === 0 && !call.isOpen && call.due.length > 0 ? [call] : [],
    ),
  };
}

type Heard = {
  readonly call: WakeDemand;
  /** Those whose daemons could open the gate, woken for it or not. */
  readonly fitting: readonly PoolView[];
};

function heldBackOf({ call, fitting }: Heard, now: EpochMs): readonly HeldBack[] {
  const pools = fitting.filter(
    ({ configured, pool }) => configured.wake[call.wakeFor] && !pool.wake[call.wakeFor],
  );
  if (pools.length === 0) return [];
  const isOpen = call.isOpen || fitting.some((view) => openersOf(view) > 0);
  return [{ ...call, pools, isOpen, isWaiting: !isOpen && !fitting.some((view) => keepsOne(view, now)) }];
}

/** One of its daemons is to be there whatever comes. */
function keepsOne(view: PoolView, now: EpochMs): boolean {
  const { min, warm } = configuredFloors(view, now);
  return view.service !== undefined && min + warm > 0;
}

/** The tag sets of live daemons that nobody here owns, by organization. */
function tagsOfOthers(
  { coder, takenAt }: Snapshot,
  views: readonly PoolView[],
): ReadonlyMap<OrganizationId, readonly TagSet[]> {
  const isForeign = foreignTo(views);
  return new Map(
    coder.organizations.map(({ id, daemons }) => {
      const others = daemons.items.filter((daemon) => isAlive(daemon, takenAt) && isForeign(daemon));
      return [id, unique(others, ({ tags }) => tagKey(tags)).map(({ tags }) => normalizeTags(tags))];
    }),
  );
}

/** How long before something is due its pool has to start, in milliseconds. */
export function leadOf({ pool, startTime }: Pick<PoolView, 'pool' | 'startTime'>): number {
  return startTime.p95Ms + NEXT_LOOK_MS + Math.min(pool.prewarm.max, pool.max) * LAUNCH_MS;
}

/** Whether a pool is woken for transitions of a kind. */
export function isWokenFor({ pool }: PoolView, kind: TransitionKind): boolean {
  return pool.wake[settingOf(kind)];
}

/** Whether a pool's daemons open the gate for a tag set. */
export function fits(
  view: PoolView,
  { organizationId, tags }: Pick<TransitionGroup, 'organizationId' | 'tags'>,
): boolean {
  return view.organization?.id === organizationId && covers(view.tags, tags);
}

/** The tasks whose daemons open the gate for their pool's tags, or are about to. */
export function openersOf(view: PoolView): number {
  const coming = isHeldBack(view) ? 0 : view.missing;
  return coming + view.unseen + view.tasks.filter(isOpener).length;
}

/** Whether all daemons of a pool that have been seen have another key: the next one would be one more of them. */
export function hasWrongKey({ tasks }: PoolView): boolean {
  const isRight = (task: TaskView): boolean => isOpener(task) && task.daemon !== undefined;
  return tasks.some(({ hasOtherTags }) => hasOtherTags) && !tasks.some(isRight);
}

function isOpener({ state, use, hasOtherTags }: TaskView): boolean {
  const isThere = state === 'working' || state === 'unguarded' || state === 'starting';
  return isThere && use !== 'silent' && !hasOtherTags;
}

/** Starts apart from what `wake.autostop` is about: pools may be woken for one and not for the other. */
function split({ ahead, refused, presumed }: TransitionGroup): readonly Part[] {
  return WAKE_FOR.map((wakeFor): Part => {
    const isOwn = ({ kind }: Transition): boolean => wakeFor === settingOf(kind);
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

/** A pool that is not woken for it has a daemon all the same, and keeps it. */
function isThereAnyway(view: PoolView, { wakeFor }: Part): boolean {
  const { pool, overrides } = view;
  return !pool.wake[wakeFor] && (pool.min > 0 || isPaused(overrides)) && openersOf(view) > 0;
}

/** The setting of `wake` that is about a kind of transition. */
function settingOf(kind: TransitionKind): WakeDemand['wakeFor'] {
  return kind === 'autostart' ? 'autostart' : 'autostop';
}

/**
 * Nobody waits for a stop: several of them share one start of a pool. It is worth its price once the waiting has cost as much, and it
 * comes in time for none to be later than `maxDelay`.
 */
function ripeOf(
  ahead: readonly Transition[],
  views: readonly PoolView[],
  { now, pollMs }: { readonly now: EpochMs; readonly pollMs: number },
): readonly Transition[] {
  const due = dueOf(ahead, views, now);
  // no pool has these tags: there is no start to share, and a person has to know
  if (views.length === 0) return due;
  const isRipe = views.some((view) => {
    const { pool, startTime } = view;
    const lastMs = pool.wake.maxDelayMs - leadOf(view) - QUIET_LOOK_MS - pollMs;
    const waitedMs = sum(due, ({ at }) => Math.max(0, now - at));
    const isLast = (due[0]?.at ?? now) <= now - lastMs;
    return isLast || (waitedMs / 60_000) * pool.waiting.stop >= launchCost(pool, startTime.p50Ms);
  });
  return isRipe ? due : [];
}

function dueOf(
  ahead: readonly Transition[],
  views: readonly PoolView[],
  now: EpochMs,
): readonly Transition[] {
  const until = now + Math.max(NEXT_LOOK_MS, ...views.map(leadOf));
  return ahead.filter(({ at }) => at <= until);
}

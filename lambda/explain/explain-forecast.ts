/** The forecast as the story of one pool: what coderd will do by itself, who is awake for it, and when a pool starts for it. */

import type { Deliberation } from '../decision/decide.ts';
import { isForecastUnsure } from '../decision/forecast/forecast.ts';
import { deriveOutlook, type Outlooks } from '../decision/forecast/pool-forecast.ts';
import { fits, type HeldBack, leadOf, type WakeDemand } from '../decision/forecast/wake-demand.ts';
import type { EpochMs } from '../decision/model/brands.ts';
import type { Snapshot } from '../decision/model/snapshot.ts';
import { displayTags } from '../decision/model/tags.ts';
import { countTransitions } from '../decision/report/report-forecast.ts';
import { isoTime } from '../decision/report/waiting.ts';
import { isPaused } from '../decision/settings/settings-in-force.ts';
import type { PoolView } from '../decision/supply/supply.ts';
import { ageText, seconds, tagText, transitionsText } from './format.ts';

/** A line for each tag set that this pool may have to be awake for, and for each thing to know. */
export function forecastLines(
  view: PoolView,
  { pools }: Deliberation,
  snapshot: Snapshot,
): readonly string[] {
  const { organization, pool } = view;
  if (organization?.workspaces === undefined)
    return ['not in this snapshot: it is read where a pool of the organization has wake on'];
  const views = pools.map(({ need }) => need.view);
  const outlooks = deriveOutlook(snapshot, views);
  const { calls, heldBack } = outlooks.lookout;
  const own = calls.filter((call) => call.pools.includes(view));
  const held = heldBack.filter((call) => call.pools.includes(view));
  return [
    ...own.map(
      (call) => `${callText(call, snapshot.takenAt)} -> ${answerText(call, { view, views, outlooks })}`,
    ),
    ...held.map((call) => `${callText(call, snapshot.takenAt)} -> ${heldText(call)}`),
    ...(own.length + held.length === 0 ? ['nothing is known that this pool would have to be awake for'] : []),
    ...(isForecastUnsure(organization, snapshot.takenAt)
      ? ['more may be due than is known, see findings']
      : []),
    ...asleepLines(view),
    `it starts ${seconds(leadOf(view))} before an autostart is due; stops and deletions share a start, up to ${ageText(pool.wake.maxDelayMs / 1000)} late (wake.maxDelay)`,
  ];
}

function heldText({ isWaiting, isOpen }: HeldBack): string {
  if (isOpen) return 'a daemon is there for it';
  return isWaiting ? 'nobody is woken for it' : 'a daemon that is kept anyway is to be there for it';
}

/** For what it is not woken, and why. */
function asleepLines({ pool, overrides, minFrom }: PoolView): readonly string[] {
  if (pool.retiring || isPaused(overrides) || minFrom === 'pin')
    return ['it is not woken while it is retiring, paused or pinned'];
  return [
    ...(pool.wake.autostart ? [] : ['wake.autostart is off: it is not woken for autostarts']),
    ...(pool.wake.autostop ? [] : ['wake.autostop is off: it is not woken for anything but autostarts']),
  ];
}

function callText({ group, ahead, refused, presumed }: WakeDemand, now: EpochMs): string {
  const putOff = putOffOf({ refused, ahead, presumed }).map(({ transition }) => transition);
  const parts = [
    ...(ahead.length > 0 ? [transitionsText(countTransitions(ahead, now))] : []),
    ...(presumed.length > 0
      ? [`${transitionsText(countTransitions(presumed, now))} that coderd has probably done`]
      : []),
    ...(putOff.length > 0
      ? [`${transitionsText(countTransitions(putOff, now))} that coderd has refused although it saw a daemon`]
      : []),
  ];
  return `${tagText(displayTags(group.tags))}: ${parts.join(', ')}`;
}

/** Refused, and the next try is not due. */
function putOffOf({ refused, ahead, presumed }: Pick<WakeDemand, 'refused' | 'ahead' | 'presumed'>) {
  const tried = new Set([...ahead, ...presumed]);
  return refused.filter(({ transition }) => !tried.has(transition));
}

type Surroundings = {
  readonly view: PoolView;
  readonly views: readonly PoolView[];
  readonly outlooks: Outlooks;
};

/** Who is awake for it, or when somebody is to be started for it. */
function answerText(call: WakeDemand, { view, views, outlooks: { openings } }: Surroundings): string {
  if (call.isOpen) return 'daemons of others are there for it';
  const [first] = [...call.presumed, ...call.ahead];
  if (first === undefined) {
    const next = Math.min(...call.refused.map(({ nextTryAt }) => nextTryAt));
    return `no pool is woken for it before ${isoTime(next)}`;
  }
  const awake = call.pools.find(({ pool }) => {
    const { due = [], soon = [] } = openings.get(pool.name) ?? {};
    return [...due, ...soon].some((transition) => transition === first);
  });
  if (awake !== undefined)
    return awake === view ? 'to be awake for it' : `pool "${awake.pool.name}" is to be awake for it`;
  if (call.wakeFor === 'autostop') {
    const delayMs = Math.min(...call.pools.map(({ pool }) => pool.wake.maxDelayMs));
    return `shares a start with others, and is done by ${isoTime(first.at + delayMs)} at the latest`;
  }
  const leadMs = Math.max(...views.filter((each) => fits(each, call.group)).map(leadOf));
  const at = isoTime(first.at - leadMs);
  const others = call.pools.filter((each) => each !== view).map(({ pool }) => `"${pool.name}"`);
  return `the start for it begins at ${at}${others.length === 0 ? '' : `, here or in ${others.join(' or ')}`}`;
}

/** Explains the forecast of one pool: what coderd will do, and which pool starts for it. */
import type { Deliberation } from '../../lambda/decision/decide.ts';
import { countTransitions } from '../../lambda/decision/demand/transitions.ts';
import { isForecastUnsure } from '../../lambda/decision/forecast/forecast.ts';
import type { PoolForecasts } from '../../lambda/decision/forecast/pool-forecast.ts';
import {
  type BlockedWakeDemand,
  fits,
  leadOf,
  MOST_DELAY_MS,
  type WakeDemand,
} from '../../lambda/decision/forecast/wake-demand.ts';
import { type EpochMs, isoTime } from '../../lambda/decision/model/brands.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { displayTags } from '../../lambda/decision/model/tags.ts';
import { isPaused } from '../../lambda/decision/settings/settings-in-force.ts';
import type { PoolView } from '../../lambda/decision/supply/supply.ts';
import { ageText, seconds, tagText, timeText, transitionsText } from '../../lambda/explain/format.ts';

/** One line for each tag set that this pool may start for, and one for each caveat. */
export function forecastLines(
  view: PoolView,
  { pools, forecasts }: Deliberation,
  snapshot: Snapshot,
): readonly string[] {
  const { organization } = view;
  if (organization?.workspaces === undefined)
    return ['the snapshot has no workspaces and templates of this organization, so nothing is forecast'];
  const views = pools.map(({ need }) => need.view);
  const { demands, heldBack, left } = forecasts.wakeDemands;
  const own = demands.filter((demand) => demand.pools.includes(view));
  const held = heldBack.filter((demand) => demand.pools.includes(view));
  const others = left.filter(({ group }) => fits(view, group));
  return [
    ...own.map(
      (demand) =>
        `${demandText(demand, snapshot.takenAt)} -> ${providerText(demand, { view, views, forecasts })}`,
    ),
    ...held.map((demand) => `${demandText(demand, snapshot.takenAt)} -> ${heldText(demand)}`),
    ...others.map(
      ({ peer, until, ...demand }) =>
        `${demandText({ ...demand, refused: [], presumed: [] }, snapshot.takenAt)} -> left to stack ${peer} until ${timeText(isoTime(until))}`,
    ),
    ...(own.length + held.length + others.length === 0 ? ['no known transition needs this pool'] : []),
    ...(isForecastUnsure(organization, snapshot.takenAt)
      ? ['the forecast is incomplete: more may be due (see findings)']
      : []),
    ...asleepLines(view),
    `the pool starts ${seconds(leadOf(view))} before an autostart is due. Stops and deletions wait up to ${ageText(MOST_DELAY_MS / 1000)} to share a start`,
  ];
}

function heldText({ isWaiting, isOpen }: BlockedWakeDemand): string {
  if (isOpen) return 'a daemon is available';
  return isWaiting
    ? 'no pool starts for it'
    : 'a daemon that the pool keeps for another reason will serve it';
}

/** The transitions that this pool does not start for, and why. */
function asleepLines({ pool, overrides, minFrom }: PoolView): readonly string[] {
  if (pool.retiring || isPaused(overrides) || minFrom === 'pin')
    return ['the pool does not start by itself while it is retiring, paused or pinned'];
  return pool.wake ? [] : ['wake is off: the pool starts for jobs only'];
}

type DemandRow = Pick<WakeDemand, 'group' | 'ahead' | 'refused' | 'presumed'>;

function demandText({ group, ahead, refused, presumed }: DemandRow, now: EpochMs): string {
  const retries = pendingRetriesOf({ refused, ahead, presumed }).map(({ transition }) => transition);
  const parts = [
    ...(ahead.length > 0 ? [transitionsText(countTransitions(ahead, now))] : []),
    ...(presumed.length > 0
      ? [`${transitionsText(countTransitions(presumed, now))} that coderd has probably made`]
      : []),
    ...(retries.length > 0
      ? [
          `${transitionsText(countTransitions(retries, now))} that coderd has refused although it saw a daemon`,
        ]
      : []),
  ];
  return `${tagText(displayTags(group.tags))}: ${parts.join(', ')}`;
}

/** Transitions that coderd refused and whose next try is not due yet. */
function pendingRetriesOf({ refused, ahead, presumed }: Pick<WakeDemand, 'refused' | 'ahead' | 'presumed'>) {
  const tried = new Set([...ahead, ...presumed]);
  return refused.filter(({ transition }) => !tried.has(transition));
}

type ForecastContext = {
  readonly view: PoolView;
  readonly views: readonly PoolView[];
  readonly forecasts: PoolForecasts;
};

/** Which pool has a daemon for a wake demand, or when a pool starts for it. */
function providerText(
  demand: WakeDemand,
  { view, views, forecasts: { wakeAssignments } }: ForecastContext,
): string {
  if (demand.isOpen) return 'daemons of others are available';
  const [first] = [...demand.presumed, ...demand.ahead];
  if (first === undefined) {
    const next = Math.min(...demand.refused.map(({ nextTryAt }) => nextTryAt));
    return `no pool starts for it before ${timeText(isoTime(next))}`;
  }
  const awake = demand.pools.find(({ pool }) => {
    const { due = [], soon = [] } = wakeAssignments.get(pool.name) ?? {};
    return [...due, ...soon].some((transition) => transition === first);
  });
  if (awake !== undefined)
    return awake === view ? 'this pool provides a daemon' : `pool "${awake.pool.name}" provides a daemon`;
  if (demand.wakeFor === 'autostop')
    return `shares a start with others, at ${timeText(isoTime(first.at + MOST_DELAY_MS))} at the latest`;
  const leadMs = Math.max(...views.filter((each) => fits(each, demand.group)).map(leadOf));
  const startsAt = timeText(isoTime(first.at - leadMs));
  const others = demand.pools.filter((each) => each !== view).map(({ pool }) => `"${pool.name}"`);
  return `${['this pool', ...others].join(' or ')} starts for it at ${startsAt}`;
}

/** The forecast in the plan: transitions that are due soon, and findings. */
import type { CountTransitions, Transition } from '../demand/transitions.ts';
import { emptyWorkspaces, type Refusal, type TransitionGroup } from '../forecast/forecast.ts';
import type { PoolForecasts } from '../forecast/pool-forecast.ts';
import {
  type BlockedWakeDemand,
  MOST_DELAY_MS,
  type WakeDemand,
  type WakeDemands,
} from '../forecast/wake-demand.ts';
import { type EpochMs, isoTime, isSpotPart, poolOfPart } from '../model/brands.ts';
import { by } from '../model/collections.ts';
import type { Finding, ForecastReadingName, ForecastRow } from '../model/plan.ts';
import type { OrganizationReadings, Reading, Snapshot, Workspace } from '../model/snapshot.ts';
import { displayTags } from '../model/tags.ts';
import { HOUR_MS } from '../model/units.ts';
import { wakeOverride } from '../settings/settings-in-force.ts';

/** The plan leaves out later transitions. */
const SHOWN_MS = HOUR_MS;

/** Reports the transitions of the forecast, and the findings about it. */
export function reportForecast(
  forecasts: PoolForecasts,
  snapshot: Snapshot,
  count: CountTransitions,
): { readonly rows: readonly ForecastRow[]; readonly findings: readonly Finding[] } {
  return {
    rows: rowsOf(forecasts, snapshot.takenAt, count),
    findings: findingsOf(forecasts.wakeDemands, snapshot, count),
  };
}

/** The transitions within the hour by tag set and kind, and the pool that wakes for them. */
function rowsOf(
  { wakeDemands: { demands, heldBack }, wakeAssignments }: Omit<PoolForecasts, 'poolForecasts'>,
  now: EpochMs,
  count: CountTransitions,
): readonly ForecastRow[] {
  const openers = new Map(
    [...wakeAssignments].flatMap(([name, { due, soon }]) =>
      [...due, ...soon].map((transition) => [transition, poolOfPart(name)] as const),
    ),
  );
  return [...demands, ...heldBack].flatMap(({ group, ahead }) => {
    const shown = ahead.filter(({ at }) => at <= now + SHOWN_MS);
    const byOpener = Map.groupBy(shown, (transition) => openers.get(transition) ?? null);
    return [...byOpener].flatMap(([pool, alike]) =>
      count(alike).map((counted) => ({ ...named(group), ...counted, pool })),
    );
  });
}

function findingsOf(
  wakeDemands: WakeDemands,
  snapshot: Snapshot,
  count: CountTransitions,
): readonly Finding[] {
  const organizations = snapshot.coder.organizations.toSorted(by(({ name }) => name));
  const retried = new Set(wakeDemands.demands.flatMap(({ refused }) => refused));
  return [
    ...organizations.flatMap(readingFindings),
    ...wakeDemands.withoutPool.flatMap(({ group, due }) =>
      count(due).map(
        (counted) => ({ code: 'transitions-without-pool', ...named(group), ...counted }) as const,
      ),
    ),
    ...wakeDemands.heldBack.flatMap((call) => heldFindings(call, count)),
    ...wakeDemands.groups.flatMap((group) =>
      refusedFindings(group, retried, { coder: snapshot.coder, count }),
    ),
    ...[...wakeDemands.demands, ...wakeDemands.heldBack.filter(({ isWaiting }) => !isWaiting)].flatMap(
      (call) =>
        count(lateOf(call, snapshot.takenAt)).map(
          (counted) => ({ code: 'transitions-late', ...named(call.group), ...counted }) as const,
        ),
    ),
  ];
}

/** The maximum number of workspace names in one finding. */
const MAX_NAMES = 10;

/** `retried`: those for which a pool wakes again. */
function refusedFindings(
  group: TransitionGroup,
  retried: ReadonlySet<Refusal>,
  { coder, count }: Pick<Snapshot, 'coder'> & { readonly count: CountTransitions },
): readonly Finding[] {
  const members = coder.organizations.find(({ id }) => id === group.organizationId)?.members;
  const membersWithStatus = new Set(
    members?.items.flatMap(({ user_id, status }) => (status == null ? [] : user_id)),
  );
  const byKind = Map.groupBy(group.refused, ({ transition }) => transition.kind);
  return [...byKind.values()].flatMap((refused) => {
    const workspaces = refused.map(({ transition }) => transition.workspace);
    const tries = refused.filter((refusal) => retried.has(refusal)).map(({ nextTryAt }) => nextTryAt);
    const nextTryAt = tries.length === 0 ? null : isoTime(Math.min(...tries));
    return count(refused.map(({ transition }) => transition)).map((counted) => ({
      code: 'transitions-refused',
      ...named(group),
      ...counted,
      workspaces: workspaces.slice(0, MAX_NAMES).map(nameOf),
      ownersUnknown: workspaces.filter(({ owner_id }) => !membersWithStatus.has(owner_id ?? '')).length,
      nextTryAt,
    }));
  });
}

function nameOf({ id, name, owner_name }: Workspace): string {
  return `${owner_name ?? 'unknown'}/${name ?? id}`;
}

function named({ organization, tags }: Pick<TransitionGroup, 'organization' | 'tags'>) {
  return { organization, tags: displayTags(tags) };
}

function heldFindings(
  { group, due, pools, isWaiting }: BlockedWakeDemand,
  count: CountTransitions,
): readonly Finding[] {
  if (!isWaiting) return [];
  const held = pools.flatMap(({ pool, overrides }) => {
    const override = wakeOverride(overrides);
    // the parts of a pool have the same overrides
    return override === undefined || isSpotPart(pool.name) ? [] : [{ name: pool.name, override }];
  });
  return count(due).map((counted) => ({
    code: 'transitions-held',
    ...named(group),
    pools: held,
    ...counted,
  }));
}

/** Late because no daemon opens the gate. Refused ones have their own finding. */
function lateOf({ ahead, refused, isOpen }: WakeDemand, now: EpochMs): readonly Transition[] {
  if (isOpen) return [];
  const refusedTransitions = new Set<Transition>(refused.map(({ transition }) => transition));
  const since = now - MOST_DELAY_MS;
  return ahead.filter((transition) => transition.at < since && !refusedTransitions.has(transition));
}

function readingFindings(organization: OrganizationReadings): readonly Finding[] {
  const { name, workspaces, templates } = organization;
  const jobs = emptyWorkspaces(organization);
  return [
    ...readingFinding('workspaces', workspaces, name),
    ...readingFinding('templates', templates, name),
    ...(jobs > 0 ? [{ code: 'workspaces-empty', organization: name, jobs } as const] : []),
  ];
}

function readingFinding(
  name: ForecastReadingName,
  reading: Reading<unknown> | undefined,
  organization: string,
): readonly Finding[] {
  if (reading === undefined || reading.status === 'ok') return [];
  const { status, error, takenAt, leftOut } = reading;
  return [
    {
      code: `${name}-${status}`,
      organization,
      error,
      ...(leftOut && { leftOut: leftOut.length }),
      ...(takenAt === undefined ? {} : { takenAt: isoTime(takenAt) }),
    },
  ];
}

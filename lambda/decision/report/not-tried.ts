/**
 * Since when a pool whose starts failed has not tried again. No job needs a task of it then, because coderd has
 * failed the jobs, or another pool has served them. The cause may last, so the finding does, for as long as ECS lists
 * a stopped task: about an hour.
 */
import type { EpochMs } from '../model/brands.ts';
import { HOUR_MS, MINUTE_MS } from '../model/units.ts';
import { launchesElsewhere } from '../supply/capacity.ts';
import { SILENT } from '../supply/placement.ts';
import type { PoolView } from '../supply/supply.ts';

/** One failed start may be a blip. */
const FAILURES = 2;
/** ECS writes no second event, so the time for which tasks were desired tells that it was no blip. */
const LASTED_MS = 10 * MINUTE_MS;
const KEPT_MS = HOUR_MS;

/** When the last start, or placement, failed. Undefined: it is tried, works, or is too long ago. */
type NotTried = { readonly ofStarts: EpochMs | undefined; readonly ofPlacement: EpochMs | undefined };

/** Derives both. `now`: by AWS's clock. */
export function notTriedSince(view: PoolView, now: EpochMs): NotTried {
  const { tasks, missing } = view;
  const isTrying = missing > 0 || tasks.some(({ state }) => state === 'starting');
  if (isTrying || launchesElsewhere(view)) return { ofStarts: undefined, ofPlacement: undefined };
  return { ofStarts: startsFailedAt(view), ofPlacement: placementFailedAt(view, now) };
}

function startsFailedAt({ failing: { count, recent, newestAt } }: PoolView): EpochMs | undefined {
  return count >= FAILURES && recent === 0 ? newestAt : undefined;
}

/** Until the desired count was lowered: then the service changed last. */
function placementFailedAt({ placement, service }: PoolView, now: EpochMs): EpochMs | undefined {
  if (placement === undefined || placement.reason === SILENT) return undefined;
  const changes = service?.deployments.flatMap(({ updatedAt }) => updatedAt ?? []) ?? [];
  const triedAt = Math.max(placement.since, ...changes) as EpochMs;
  const isShort = triedAt - placement.since < LASTED_MS;
  return isShort || now - triedAt >= KEPT_MS ? undefined : triedAt;
}

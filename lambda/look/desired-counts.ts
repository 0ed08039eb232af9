/**
 * What one process of the function knows of the desired counts: which it has seen and set, which others
 * changed, and since when tasks are missing. The function is several processes, and each may look. So a
 * process judges a change only if no other process can have looked since its own last look.
 */
import type { EpochMs, ServiceArn } from '../decision/model/brands.ts';
import type { Service, Shortage } from '../decision/model/snapshot.ts';
import { HOUR_MS } from '../decision/model/units.ts';
import { deriveOverrides } from '../decision/settings/overrides.ts';
import { isPaused } from '../decision/settings/settings-in-force.ts';
import type { CountMemory } from './ports.ts';

type Known = {
  readonly seen: number;
  readonly seenAt: EpochMs;
  /** When the service had changed last, by its deployments. */
  readonly updatedAt: number;
  /** Tasks that ECS ran or started then. */
  readonly tasks: number;
  /** Counts that this process set later and has not seen yet, newest last. */
  readonly set: readonly number[];
  /** The newest count that is certain: a fresh list showed it, or ECS confirmed that this process set it. */
  readonly latest: { readonly count: number; readonly at: EpochMs };
  /** When others changed the count. */
  readonly changes: readonly EpochMs[];
  readonly shortage: Shortage | undefined;
};

/** A process remembers a change by others, or a shortage, for this long. */
const REMEMBERED_MS = HOUR_MS;
/** Of two looks that are further apart, the later one does not know what happened in between. */
const WATCHED_MS = 90_000;
/** So long a list may lag behind a write. Then a count is believed even if somebody set it back at once. */
const LAG_MS = 30_000;

type Look = {
  /** The function's clock. */
  readonly now: EpochMs;
  /** Whether no other process of the function can have looked since this one's last look. */
  readonly isSole: boolean;
};

export class DesiredCounts implements CountMemory {
  readonly #known = new Map<ServiceArn, Known>();

  willSet(service: ServiceArn, count: number): void {
    const known = this.#known.get(service);
    if (known === undefined) return;
    this.#known.set(service, { ...known, set: [...known.set.filter((earlier) => earlier !== count), count] });
  }

  didSet(service: ServiceArn, count: number): void {
    const known = this.#known.get(service);
    if (known === undefined) return;
    this.#known.set(service, { ...known, latest: { count, at: known.seenAt } });
  }

  /**
   * The service with what this process remembers of it. A list that lags behind its last write, as far as it
   * can tell, shows that write: from an old count a raise could set less than it has set.
   */
  compare(service: Service, { now, isSole }: Look): Service {
    const { serviceArn, desiredCount, runningCount, pendingCount } = service;
    const known = this.#known.get(serviceArn);
    const updatedAt = Math.max(0, ...service.deployments.map((deployment) => deployment.updatedAt ?? 0));
    // ECS may answer with a state from before the one that this process has seen
    if (known !== undefined && updatedAt < known.updatedAt) {
      this.#known.set(serviceArn, { ...known, seenAt: now });
      return { ...service, ...newerCount(known, service, { now, isSole }), ...rememberedOf(known, now) };
    }
    const { seen = desiredCount, set = [], seenAt = now } = known ?? {};
    const index = set.indexOf(desiredCount);
    // ECS may still show the count from before the last write of this process. A pause leaves the count to people.
    const isKnown = index >= 0 || desiredCount === seen || isPaused(deriveOverrides(service, now).active);
    const isOwn = isKnown || !isSole || now - seenAt > WATCHED_MS;
    const unseen = isKnown ? set.slice(index + 1) : [];
    const isBehind = known !== undefined && unseen.length > 0;
    const next: Known = {
      seen: desiredCount,
      seenAt: now,
      updatedAt,
      tasks: runningCount + pendingCount,
      set: unseen,
      latest: isBehind ? known.latest : { count: desiredCount, at: now },
      changes: [...(known?.changes ?? []), ...(isOwn ? [] : [now])],
      shortage: shortageOf(service, { known, updatedAt, now }),
    };
    this.#known.set(serviceArn, next);
    return {
      ...service,
      ...(isBehind && newerCount(next, service, { now, isSole })),
      ...(isOwn ? {} : { changedFrom: set.at(-1) ?? seen }),
      ...rememberedOf(next, now),
    };
  }
}

/** Another process may have set a count since, and a paused pool has the count of a person. */
function newerCount({ latest }: Known, service: Service, { now, isSole }: Look): Partial<Service> {
  const isNewer = isSole && now - latest.at <= LAG_MS && !isPaused(deriveOverrides(service, now).active);
  return isNewer ? { desiredCount: latest.count } : {};
}

function rememberedOf({ changes, shortage }: Known, now: EpochMs): Partial<Service> {
  const changesByOthers = changes.filter((at) => now - at <= REMEMBERED_MS);
  return { ...(changesByOthers.length > 0 && { changesByOthers }), ...(shortage && { shortage }) };
}

/** Without creating one. A lowered count ends no shortage: ECS has still created nothing. */
function shortageOf(
  { desiredCount, runningCount, pendingCount }: Service,
  {
    known,
    updatedAt,
    now,
  }: { readonly known: Known | undefined; readonly updatedAt: number; readonly now: EpochMs },
): Shortage | undefined {
  const tasks = runningCount + pendingCount;
  const { shortage } = known ?? {};
  const isOver = shortage === undefined || known === undefined || tasks > known.tasks;
  const before = isOver || now - shortage.until > REMEMBERED_MS ? undefined : shortage;
  if (desiredCount <= tasks) return before;
  const wasShort = before !== undefined && before.until === known?.seenAt && now - before.until <= WATCHED_MS;
  const lastedMs = (before?.lastedMs ?? 0) + (wasShort ? now - before.until : 0);
  const changedAt = known === undefined && updatedAt > 0 ? (updatedAt as EpochMs) : before?.changedAt;
  return { lastedMs, until: now, ...(changedAt === undefined ? {} : { changedAt }) };
}

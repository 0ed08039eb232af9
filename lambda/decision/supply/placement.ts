/**
 * Placement: whether ECS can place the tasks that a service desires, from the service's events and
 * task records. ECS cannot place a task if a vCPU quota is used up, if there is no Fargate or Spot
 * capacity, or if it may not assume a role. Then there is no task record, only a service event. If
 * that is missing too, the time for which tasks are missing tells.
 */
import type { EpochMs } from '../model/brands.ts';
import { by } from '../model/collections.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { Service, ServiceEvent, Shortage, Task } from '../model/snapshot.ts';
import { HOUR_MS, MINUTE_MS } from '../model/units.ts';

/** Since when and why ECS cannot place tasks of a service. */
export type PlacementFailure = {
  /** The time of the first failure since ECS last placed a task. */
  readonly since: EpochMs;
  /** ECS's own words, if it has any. */
  readonly reason: string;
};

/** `(service web) was unable to place a task. Reason: …` (ECS developer guide). */
const FAILED = /was unable to place (?:a task|tasks)|failed to launch a task/i;
/** `(service web) has started 2 tasks: (task …) (task …).` */
const STARTED = /\bhas started \d+ tasks?\b/i;

const EVENTS_USED = 10;
/** ECS does not repeat an event until its cause is gone or six hours have passed. */
const EVENT_HOLDS_MS = 6 * HOUR_MS;
/** One attempt may place some tasks and fail for others: a start this close proves nothing. */
const SAME_ATTEMPT_MS = MINUTE_MS;
/** Twice the start time within these bounds, though ECS creates a task within seconds. */
const MISSING_MS = { least: 5 * MINUTE_MS, most: 15 * MINUTE_MS } as const;
export const SILENT = 'ECS wrote no service event that says why';

/** Selects the events about placement: at most ten, newest first. */
export const placementEvents = memoized((events: readonly ServiceEvent[]): readonly ServiceEvent[] =>
  events
    .filter(({ message }) => FAILED.test(message) || STARTED.test(message))
    .toSorted(by(({ createdAt }) => -createdAt))
    .slice(0, EVENTS_USED),
);

/**
 * Derives whether ECS cannot place tasks of this service now. A failure counts for six hours. It
 * counts no longer once ECS has placed a task: an event or a task record that is newer by more than
 * a minute shows that. Without an event, tasks that are missing for long show a failure.
 */
export function derivePlacement(
  { events = [], shortage }: Pick<Service, 'events' | 'shortage'>,
  tasks: readonly Task[],
  { now, startMs, waitingSince }: Expectation & { readonly now: EpochMs },
): PlacementFailure | undefined {
  const placed = [
    ...events.flatMap(({ message, createdAt }) => (STARTED.test(message) ? [createdAt] : [])),
    ...tasks.flatMap(({ createdAt }) => createdAt ?? []),
  ];
  const lastPlaced = placed.reduce((last, at) => Math.max(last, at), Number.NEGATIVE_INFINITY);
  const failures = events
    .filter(({ message, createdAt }) => FAILED.test(message) && lastPlaced <= createdAt + SAME_ATTEMPT_MS)
    .toSorted(by(({ createdAt }) => createdAt));
  const first = failures[0];
  const newest = failures.at(-1);
  if (first === undefined || newest === undefined || now - newest.createdAt > EVENT_HOLDS_MS)
    return silentFailure(shortage, { lastPlaced, startMs, waitingSince });
  return { since: first.createdAt, reason: reasonOf(newest.message) };
}

type Expectation = {
  readonly startMs: number;
  /** Since when a job waits that the pool can run. Undefined: none does, or ECS's tasks are unread. */
  readonly waitingSince?: (() => EpochMs | undefined) | undefined;
};

/**
 * Tasks that have been missing for much longer than a start takes. A process that has just started has not
 * seen since when: then they have been missing since the service changed last and a job has waited.
 */
function silentFailure(
  shortage: Shortage | undefined,
  { lastPlaced, startMs, waitingSince }: Expectation & { readonly lastPlaced: number },
): PlacementFailure | undefined {
  if (shortage === undefined) return undefined;
  const { until, lastedMs, changedAt } = shortage;
  const seen = until - lastedMs;
  const waiting = changedAt === undefined ? undefined : waitingSince?.();
  const told = changedAt === undefined || waiting === undefined ? seen : Math.max(changedAt, waiting);
  const since = Math.max(Math.min(seen, told), lastPlaced) as EpochMs;
  const expectedMs = Math.min(MISSING_MS.most, Math.max(MISSING_MS.least, 2 * startMs));
  return until - since < expectedMs ? undefined : { since, reason: SILENT };
}

/** Removes the name of the service and the text that all such events share. */
function reasonOf(message: string): string {
  return message
    .replace(
      /^\(service [^)]*\) (?:was unable to place a task(?: because no container instance met all of its requirements)?\.?\s*(?:Reason:)?)?\s*/i,
      '',
    )
    .trim();
}

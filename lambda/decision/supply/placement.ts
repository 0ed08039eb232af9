/**
 * Placement: whether ECS can place the tasks that a service desires. Where it cannot (a vCPU quota, no Fargate or Spot capacity, a role
 * that it may not assume) there is no task record, only a service event. Derived from the events of a service and its task records.
 */
import type { EpochMs } from '../model/brands.ts';
import { by } from '../model/collections.ts';
import type { Service, ServiceEvent, Task } from '../model/snapshot.ts';

/** ECS cannot place tasks of a service. */
export type PlacementFailure = {
  /** Of the first event since ECS last placed a task. */
  readonly since: EpochMs;
  /** ECS's own words. */
  readonly reason: string;
};

/** `(service web) was unable to place a task. Reason: …` (ECS developer guide, "Service event messages"). */
const FAILED = /was unable to place a task|failed to launch a task/i;
/** `(service web) has started 2 tasks: (task …) (task …).` */
const STARTED = /\bhas started \d+ tasks?\b/i;

const EVENTS_USED = 10;
/** ECS leaves out an event that says the same again, until the cause is gone or six hours have passed. */
const EVENT_HOLDS_MS = 6 * 3_600_000;
/** One try to reach a count may place some tasks and fail to place others: starts so close to a failure prove nothing. */
const SAME_TRY_MS = 60_000;

/** The events that tell of placement: at most ten, newest first. */
export function placementEvents(events: readonly ServiceEvent[]): readonly ServiceEvent[] {
  return events
    .filter(({ message }) => FAILED.test(message) || STARTED.test(message))
    .toSorted(by(({ createdAt }) => -createdAt))
    .slice(0, EVENTS_USED);
}

/**
 * Whether ECS cannot place tasks of this service now. A failure holds for six hours, or until an event or a task record that is
 * younger by more than a minute shows that ECS has placed a task.
 */
export function derivePlacement(
  { events = [] }: Pick<Service, 'events'>,
  tasks: readonly Task[],
  now: EpochMs,
): PlacementFailure | undefined {
  const placed = [
    ...events.flatMap(({ message, createdAt }) => (STARTED.test(message) ? [createdAt] : [])),
    ...tasks.flatMap(({ createdAt }) => createdAt ?? []),
  ];
  const lastPlaced = placed.reduce((last, at) => Math.max(last, at), Number.NEGATIVE_INFINITY);
  const failures = events
    .filter(({ message, createdAt }) => FAILED.test(message) && lastPlaced <= createdAt + SAME_TRY_MS)
    .toSorted(by(({ createdAt }) => createdAt));
  const [first, newest] = [failures[0], failures.at(-1)];
  if (first === undefined || newest === undefined || now - newest.createdAt > EVENT_HOLDS_MS)
    return undefined;
  return { since: first.createdAt, reason: reasonOf(newest.message) };
}

/** Without the name of the service, and what every such event says. */
function reasonOf(message: string): string {
  return message
    .replace(/^\(service [^)]*\)\s*(?:was unable to place a task\.?\s*(?:Reason:)?)?\s*/i, '')
    .trim();
}

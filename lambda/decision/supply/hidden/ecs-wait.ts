/**
 * ECS's own wait: after tasks that failed before they ran, it creates the next one later each time, after up to
 * 27 min (docs/internals/aws.md §2). No list shows the wait. It shows as a desired task that ECS does not create
 * although the newest one failed, for longer than it takes to create a task.
 */

import type { EpochMs } from '../../model/brands.ts';
import type { BeforeDeployment } from '../../model/plan.ts';
import type { Snapshot, Task } from '../../model/snapshot.ts';
import { awsTimeOf } from '../../model/snapshot.ts';
import { MINUTE_MS } from '../../model/units.ts';
import { SILENT } from '../placement.ts';
import { listsFor } from '../rows/left-out.ts';
import type { PoolView } from '../supply.ts';

export type EcsWait = {
  /** When the newest task failed. */
  readonly since: EpochMs;
  /** The name of the service. */
  readonly service: string;
  /** How long ago that was, in milliseconds. */
  readonly waitedMs: number;
  /** Empty: a person may end the wait now. */
  readonly before: readonly BeforeDeployment[];
};

/** ECS creates a task within seconds. */
const CREATED_WITHIN_MS = MINUTE_MS;
/** A task that is missing for longer is no wait of ECS's. */
const LONGEST_MS = 30 * MINUTE_MS;

/** Derives ECS's wait from the tasks of a pool; undefined: nothing shows one. */
export function deriveEcsWait(view: PoolView, snapshot: Snapshot): EcsWait | undefined {
  const { service, missing, placement } = view;
  const isPlacement = placement !== undefined && placement.reason !== SILENT;
  if (service === undefined || missing === 0 || isPlacement) return undefined;
  const tasks = view.starts.map(({ task }) => task);
  const now = awsTimeOf(snapshot);
  const since = lastOf(tasks, ({ stopCode, stoppedAt, stoppingAt }) =>
    stopCode === 'TaskFailedToStart' ? (stoppedAt ?? stoppingAt) : undefined,
  );
  const hasRunSince =
    since <
    lastOf(tasks, ({ startedAt, stopCode }) => (stopCode === 'TaskFailedToStart' ? undefined : startedAt));
  // the count may have been raised after that
  const desiredSince = Math.max(since, ...service.deployments.map(({ updatedAt = 0 }) => updatedAt));
  if (now - desiredSince < CREATED_WITHIN_MS || now - since > LONGEST_MS || hasRunSince) return undefined;
  const lists = listsFor(view, snapshot.ecs);
  const [deployment, ...others] = service.deployments;
  const is: Readonly<Record<BeforeDeployment, boolean>> = {
    'lists-are-whole': lists.services.status === 'ok' && lists.tasks.status === 'ok',
    'deployment-is-completed': others.length === 0 && deployment?.rolloutState === 'COMPLETED',
    'tasks-have-stopped': tasks.every(({ lastStatus }) => lastStatus === 'STOPPED'),
  };
  const before = (Object.keys(is) as BeforeDeployment[]).filter((each) => !is[each]);
  return { since: since as EpochMs, service: service.serviceName, waitedMs: now - since, before };
}

function lastOf(tasks: readonly Task[], at: (task: Task) => EpochMs | undefined): number {
  return Math.max(Number.NEGATIVE_INFINITY, ...tasks.map((task) => at(task) ?? Number.NEGATIVE_INFINITY));
}

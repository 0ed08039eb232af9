/** What the starts of one pool's tasks tell: how long they take, and whether they fail. */

import type { EpochMs } from '../model/brands.ts';
import type { PoolConfig } from '../model/config.ts';
import type { StartTime } from '../model/plan.ts';
import type { Service, Task } from '../model/snapshot.ts';
import type { Credential } from './credentials.ts';
import { derivePlacement, type PlacementFailure } from './placement.ts';
import {
  deriveFailingStarts,
  type FailingStarts,
  type Lateness,
  lateAfter,
  learnStartTime,
  type Starts,
} from './starts.ts';

export type PoolStarts = {
  readonly startTime: StartTime;
  readonly failing: FailingStarts;
  /** Why ECS cannot place the missing tasks. Undefined: nothing shows a problem. */
  readonly placement: PlacementFailure | undefined;
};

/** Derives them, and when a task of the pool is late. */
export function startsOf(
  starts: Starts,
  { pool, service, credentials, waitingSince, ...leases }: StartsInput,
): PoolStarts & Pick<Lateness, 'lateAfterMs'> {
  const { now } = leases;
  const startTime = learnStartTime({ ...starts, settingMs: pool.startTimeMs });
  // a deployment may delay the leases of new tasks (docs/internals/aws.md §1)
  const lateAfterMs = (service?.deployments.length ?? 0) > 1 ? undefined : lateAfter(startTime);
  const isOutdated = ({ taskDefinitionArn, createdAt = now }: Task): boolean =>
    (service !== undefined && taskDefinitionArn !== service.taskDefinition) ||
    credentials.some(({ changedAt }) => changedAt > createdAt);
  return {
    startTime,
    lateAfterMs,
    failing: deriveFailingStarts({ ...starts, ...leases, lateAfterMs, isOutdated }),
    placement:
      service &&
      derivePlacement(service, starts.tasks, {
        ...{ now, startMs: startTime.p95Ms },
        waitingSince,
      }),
  };
}

type StartsInput = {
  readonly pool: PoolConfig;
  readonly service: Service | undefined;
  readonly credentials: readonly Credential[];
  /** Since when a job waits that the pool can run. */
  readonly waitingSince: () => EpochMs | undefined;
} & Required<Pick<Lateness, 'now' | 'leasedAt'>>;

/** What the starts of one pool's tasks tell: how long they take, and whether they fail. */
import type { EpochMs } from '../model/brands.ts';
import type { PoolConfig } from '../model/config.ts';
import type { StartTime } from '../model/plan.ts';
import type { OrganizationReadings, Snapshot, Task } from '../model/snapshot.ts';
import { covers, normalizeTags } from '../model/tags.ts';
import { isRoleUntried } from './bound-role.ts';
import type { Credential } from './credentials.ts';
import { derivePlacement, type PlacementFailure } from './placement.ts';
import type { PoolFacts } from './rows/pool-rows.ts';
import {
  deriveFailingStarts,
  type Lateness,
  lateAfter,
  learnStartTime,
  type Start,
  type StartFailures,
} from './starts.ts';

export type PoolStarts = {
  readonly startTime: StartTime;
  readonly failures: StartFailures;
  /** Why ECS cannot place the missing tasks. Undefined: nothing shows a problem. */
  readonly placement: PlacementFailure | undefined;
  /** Whether one task has to launch first, to show that AWS gives leases to its role. */
  readonly isRoleUntried: boolean;
} & Pick<Lateness, 'lateAfterMs'>;

type OfPool = Pick<PoolFacts, 'pool' | 'organization' | 'service'> & {
  readonly credentials: readonly Credential[];
};

/** Derives them. `now` is AWS's time. */
export function startsOf(
  starts: readonly Start[],
  { pool, organization, service, credentials }: OfPool,
  { ecs }: Pick<Snapshot, 'ecs'>,
  now: EpochMs,
): PoolStarts {
  const startTime = learnStartTime(starts, pool.startTimeMs);
  // a deployment may delay the leases of new tasks (docs/internals/aws.md §1)
  const lateAfterMs = (service?.deployments.length ?? 0) > 1 ? undefined : lateAfter(startTime);
  const isOutdated = ({ taskDefinitionArn, createdAt = now }: Task): boolean =>
    (service !== undefined && taskDefinitionArn !== service.taskDefinition) ||
    credentials.some(({ changedAt }) => changedAt > createdAt);
  const tasks = starts.map(({ task }) => task);
  const expected = {
    startMs: startTime.p95Ms,
    waitingSince: () => (ecs.tasks.status === 'ok' ? waitingSince(pool, organization) : undefined),
  };
  return {
    startTime,
    lateAfterMs,
    isRoleUntried: isRoleUntried(pool, starts, service, now),
    failures: deriveFailingStarts(starts, { now, lateAfterMs, isOutdated }),
    placement: service && derivePlacement(service, tasks, { now, ...expected }),
  };
}

/** Since when the oldest job waits that a pool can run. */
function waitingSince(
  { tags }: PoolConfig,
  organization: OrganizationReadings | undefined,
): EpochMs | undefined {
  const own = normalizeTags(tags);
  return organization?.jobs.items.reduce<EpochMs | undefined>(
    (oldest, { status, created_at: at, tags: wanted }) =>
      status === 'pending' && at < (oldest ?? at + 1) && covers(own, normalizeTags(wanted)) ? at : oldest,
    undefined,
  );
}

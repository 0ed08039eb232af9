/**
 * Whether tasks of a pool have had a lease with their present role. The role of `bindTaskRole` has a condition that AWS
 * may refuse (docs/internals/aws.md §1, IAM), and then no daemon starts. So on the day of a deployment one task launches
 * first. ECS shows stopped tasks for an hour: after a quiet hour of that day one launches first again.
 */
import type { EpochMs } from '../model/brands.ts';
import type { PoolConfig } from '../model/config.ts';
import type { Service } from '../model/snapshot.ts';
import { DAY_MS } from '../model/units.ts';
import { isOldRevision } from './older-tasks.ts';
import type { Start } from './starts.ts';

/** Whether no task of the pool's present deployment, which is young, has had a lease or a daemon. */
export function isRoleUntried(
  { bindTaskRole = false }: PoolConfig,
  starts: readonly Start[],
  service: Service | undefined,
  now: EpochMs,
): boolean {
  if (!bindTaskRole || service === undefined) return false;
  const { createdAt = now } = service.deployments.find(({ status }) => status === 'PRIMARY') ?? {};
  if (now - createdAt >= DAY_MS) return false;
  const fresh = starts.filter(({ task }) => !isOldRevision(task, service));
  return !fresh.some(({ leasedAt, registered }) => leasedAt !== undefined || typeof registered === 'number');
}

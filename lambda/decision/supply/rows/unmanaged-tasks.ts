/** The tasks of a pool without one known service. The autoscaler touches none of them, and they count against limits. */
import { lastPart, poolOfPart } from '../../model/brands.ts';
import type { PoolConfig } from '../../model/config.ts';
import { isForeign, POOL_TAG, poolOfService, tagOf } from '../../model/service-tags.ts';
import type { Task } from '../../model/snapshot.ts';
import { type DaemonIndex, nameInParts, taskId } from './daemons.ts';
import { type Lists, tasksOfPool } from './pool-rows.ts';
import { isKeptRunning } from './task-row.ts';

/**
 * Counts the tasks of services that are several, that drain, whose rows could not be read, or that no list has.
 * Those of the last have tags; older ones lack them, so there are at least as many as coderd lists live daemons.
 */
export function countUnmanaged(
  { name, spot }: PoolConfig,
  index: DaemonIndex | undefined,
  lists: Lists,
): number {
  const { byGroup, snapshot } = lists;
  const { ecs } = snapshot;
  const pooled = poolOfPart(name);
  const tasksOf = (serviceName: string): readonly Task[] =>
    (byGroup.get(`service:${serviceName}`) ?? []).filter(isKeptRunning);
  const { items, leftOut = [] } = ecs.services;
  const own = items.filter((service) => tagOf(service, POOL_TAG) === name && !isForeign(service, ecs.stack));
  const daemons = index?.namedAfter(pooled) ?? [];
  const ids = new Set(daemons.map((daemon) => nameInParts(daemon.name).ending));
  const hidden = leftOut.flatMap(({ row, of }) => {
    const tasks = of === undefined || of === name ? tasksOf(lastPart(row)) : [];
    // whose service it is, only the names of the daemons tell
    return of === name ? tasks : tasks.filter(({ taskArn }) => ids.has(lastPart(taskArn)));
  });
  const tagged = [...byGroup.values()].flat().filter(({ tags = [] }) => poolOfService({ tags }) === pooled);
  const unlisted = tagged.filter((task) => isKeptRunning(task) && isOnSpot(task) === spot);
  const counted = [...own.flatMap(({ serviceName }) => tasksOf(serviceName)), ...hidden, ...unlisted];
  // the daemons of the other part's tasks have the same name
  const others = new Set([...tasksOfPool({ name }, lists), ...tagged].map(taskId)).difference(
    new Set(counted.map(taskId)),
  );
  const live = daemons.filter(
    (daemon) => index?.activity(daemon) !== 'offline' && !others.has(nameInParts(daemon.name).ending),
  );
  return Math.max(counted.length, live.length);
}

const isOnSpot = ({ capacityProviderName }: Task): boolean => capacityProviderName === 'FARGATE_SPOT';

/**
 * Rows of ECS's lists that could not be read. They concern the pools that they may belong to, for which the list is
 * incomplete. For other pools it is whole.
 */
import { poolOfPart } from '../../model/brands.ts';
import { poolOfService } from '../../model/service-tags.ts';
import type { LeftOutRow, Reading, Service, Snapshot, Task } from '../../model/snapshot.ts';

export type ClusterLists = Pick<Snapshot['ecs'], 'services' | 'tasks' | 'protections'>;

/** A pool, or a part of one, that may miss a row. */
type Owner = {
  readonly pool: { readonly name: string };
  readonly service: Service | undefined;
  readonly tasks: readonly { readonly task: Task }[];
};

/** The lists of the cluster as they are for one pool. */
export function listsFor({ pool, service, tasks }: Owner, lists: ClusterLists): ClusterLists {
  return {
    ...listsOfTasks({ pool, service }, lists),
    protections: listFor(
      lists.protections,
      (of) => of === undefined || tasks.some(({ task }) => task.taskArn === of),
    ),
  };
}

/** The lists that say which tasks a pool has. */
function listsOfTasks(
  { pool: { name }, service }: Omit<Owner, 'tasks'>,
  { services, tasks }: Pick<ClusterLists, 'services' | 'tasks'>,
): Pick<ClusterLists, 'services' | 'tasks'> {
  const pool = poolOfPart(name);
  const isGroup = (of: string): boolean =>
    services.items.some((it) => of === `service:${it.serviceName}` && poolOfService(it) === pool);
  return {
    // a service of which nothing is known may be that of a pool which seems to have none
    services: listFor(services, (of) => (of === undefined ? service === undefined : poolOfPart(of) === pool)),
    tasks: listFor(tasks, (of) => of === undefined || isGroup(of)),
  };
}

function listFor<T>(reading: Reading<T>, isOwn: (owner: LeftOutRow['of']) => boolean): Reading<T> {
  const { leftOut } = reading;
  return leftOut === undefined || leftOut.some(({ of }) => isOwn(of))
    ? reading
    : { ...reading, status: 'ok' };
}

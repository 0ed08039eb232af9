/** The tasks of the pools of one stack. */
import type { EcsAdapter } from '../../adapters/ecs/ecs.ts';
import type { EpochMs } from '../../decision/model/brands.ts';
import { isForeign, poolOfService } from '../../decision/model/service-tags.ts';
import type { Reading, Service, Task } from '../../decision/model/snapshot.ts';
import { taskId } from '../../decision/supply/rows/daemons.ts';
import { KeysError } from '../model/keys-error.ts';
import type { PoolTask, PoolTasks } from '../model/ports.ts';

/** `ecs`: an adapter for one invocation, which lists services once. */
export function poolTasks(ecs: () => Pick<EcsAdapter, 'services' | 'tasks'>, stack: string): PoolTasks {
  return {
    running: async () => {
      const adapter = ecs();
      const services = whole(await adapter.services()).filter((service) => !isForeign(service, stack));
      const tasks = whole(await adapter.tasks(services)).filter(({ lastStatus }) => lastStatus !== 'STOPPED');
      const byGroup = Map.groupBy(tasks, ({ group }) => group ?? '');
      const byPool = Map.groupBy(services, (service) => poolOfService(service) ?? '');
      const tasksOf = ({ serviceName }: Service): readonly Task[] =>
        byGroup.get(`service:${serviceName}`) ?? [];
      return new Map([...byPool].map(([pool, of]) => [pool, of.flatMap(tasksOf).map(poolTask)]));
    },
  };
}

/** ECS tells `createdAt` of every task; without it the task counts as old. */
function poolTask(task: Task): PoolTask {
  return { id: taskId(task), createdAt: task.createdAt ?? (0 as EpochMs) };
}

function whole<T>({ status, error, items }: Reading<T>): readonly T[] {
  if (status === 'ok') return items;
  throw new KeysError('unanswered', error ?? `listing tasks: the list is ${status}`);
}

/** The tasks of the pools of one stack. */
import type { EcsAdapter } from '../../adapters/ecs/ecs.ts';
import type { EpochMs } from '../../decision/model/brands.ts';
import { isForeign, poolOfService } from '../../decision/model/service-tags.ts';
import type { Service, Task } from '../../decision/model/snapshot.ts';
import { taskId } from '../../decision/supply/daemons.ts';
import { KeysError } from '../model/keys-error.ts';
import type { PoolTask, PoolTasks } from '../model/ports.ts';

export class EcsPoolTasks implements PoolTasks {
  readonly #ecs: () => Pick<EcsAdapter, 'services' | 'tasks'>;
  readonly #stack: string;

  /** `ecs`: an adapter for one invocation, which lists services once. */
  constructor(ecs: () => Pick<EcsAdapter, 'services' | 'tasks'>, stack: string) {
    this.#ecs = ecs;
    this.#stack = stack;
  }

  async running(): Promise<ReadonlyMap<string, readonly PoolTask[]>> {
    const ecs = this.#ecs();
    const services = whole(await ecs.services()).filter((service) => !isForeign(service, this.#stack));
    const tasks = whole(await ecs.tasks(services)).filter(({ lastStatus }) => lastStatus !== 'STOPPED');
    const byGroup = Map.groupBy(tasks, ({ group }) => group ?? '');
    const byPool = Map.groupBy(services, (service) => poolOfService(service) ?? '');
    const tasksOf = ({ serviceName }: Service): readonly Task[] =>
      byGroup.get(`service:${serviceName}`) ?? [];
    return new Map([...byPool].map(([pool, of]) => [pool, of.flatMap(tasksOf).map(poolTask)]));
  }
}

/** ECS tells `createdAt` of every task; without it the task counts as old. */
function poolTask(task: Task): PoolTask {
  return { id: taskId(task), createdAt: task.createdAt ?? (0 as EpochMs) };
}

type ListOf<T> = {
  readonly status: string;
  readonly error?: string | undefined;
  readonly items: readonly T[];
};

function whole<T>({ status, error, items }: ListOf<T>): readonly T[] {
  if (status === 'ok') return items;
  throw new KeysError('unanswered', error ?? `listing tasks: the list is ${status}`);
}

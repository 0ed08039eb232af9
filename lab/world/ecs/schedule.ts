/**
 * The service scheduler: how many tasks of which revision to start, and which to stop. Rolling deployments keep at
 * least minimumHealthyPercent running and at most maximumPercent in all. Protected tasks are never stopped.
 */
import type { Random } from '../base/random.ts';
import { type Candidate, harmOf, pickVictim, type Victims } from './placement.ts';

export type ScheduledTask = Candidate & {
  readonly deploymentId: string;
  readonly isRunning: boolean;
};

type ScheduleInput<T extends ScheduledTask> = {
  readonly desiredCount: number;
  readonly primaryId: string;
  readonly minimumHealthyPercent: number;
  readonly maximumPercent: number;
  /** The service's tasks whose desired status is RUNNING. */
  readonly tasks: readonly T[];
  /** How many tasks of the old revision ECS still has to start. @default 0 */
  readonly owedOld?: number;
  /** Whether old tasks that are still starting are kept until they run. @default false */
  readonly keepsStartingOld?: boolean;
  /** Whether old tasks count against the desired count. @default true */
  readonly countsOld?: boolean | undefined;
};

type Schedule<T> = {
  readonly stop: readonly T[];
  readonly start: number;
  readonly startOld: number;
};

type Choice = { readonly random: Random; readonly victims: Victims };

export function scheduleTasks<T extends ScheduledTask>(input: ScheduleInput<T>, choice: Choice): Schedule<T> {
  const outgoing = oldTasksToStop(input, choice);
  const rest = input.tasks.filter((task) => !outgoing.includes(task));
  const limit = Math.floor((input.desiredCount * input.maximumPercent) / 100);
  const counted = input.countsOld === false ? rest.filter((task) => !isOld(input, task)) : rest;
  const surplus = surplusTasks(input, counted, limit, choice);
  const left = counted.filter((task) => !surplus.includes(task));
  const fresh = left.filter((task) => !isOld(input, task));
  const { owedOld = 0 } = input;
  const startOld = input.countsOld === false ? owedOld : Math.max(0, Math.min(owedOld, limit - left.length));
  const start = Math.min(input.desiredCount - fresh.length, limit - left.length - startOld);
  return { stop: [...outgoing, ...surplus], start: Math.max(0, start), startOld };
}

/** As long as enough running ones remain. Booting ones first: they do not count as running. */
function oldTasksToStop<T extends ScheduledTask>(input: ScheduleInput<T>, { victims }: Choice): readonly T[] {
  const floor = Math.ceil((input.desiredCount * input.minimumHealthyPercent) / 100);
  const free = input.tasks.filter((task) => isOld(input, task) && !task.isProtected);
  const running = input.tasks.filter((task) => task.isRunning).length;
  const spare = Math.max(0, running - floor);
  const going = free.filter((task) => task.isRunning);
  const inOrder = victims === 'worst' ? going.toSorted((a, b) => harmOf(b) - harmOf(a)) : going;
  const starting = input.keepsStartingOld ? [] : free.filter((task) => !task.isRunning);
  return [...starting, ...inOrder.slice(0, spare)];
}

/** Above the desired count of the primary deployment, or above maximumPercent in all. */
function surplusTasks<T extends ScheduledTask>(
  input: ScheduleInput<T>,
  tasks: readonly T[],
  limit: number,
  choice: Choice,
): readonly T[] {
  const fresh = tasks.filter((task) => !isOld(input, task));
  const count = Math.max(tasks.length - limit, fresh.length - input.desiredCount);
  const victims: T[] = [];
  let rest = tasks;
  while (victims.length < count) {
    const victim = pickVictim(rest, choice);
    if (victim === undefined) break;
    victims.push(victim);
    rest = rest.filter((task) => task !== victim);
  }
  return victims;
}

function isOld<T extends ScheduledTask>(input: ScheduleInput<T>, task: T): boolean {
  return task.deploymentId !== input.primaryId;
}

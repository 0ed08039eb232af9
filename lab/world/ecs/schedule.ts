/**
 * The service scheduler: how many tasks of which revision to start, and which to stop. Rolling deployments keep at
 * least minimumHealthyPercent running and at most maximumPercent in all. Protected tasks are never stopped. The model
 * check (lab/proof/model-check/) asks the same counts, and tries every choice of the tasks to stop.
 */
import type { Random } from '../base/random.ts';
import { type Candidate, harmOf, pickVictim, type Victims } from './placement.ts';

export type ScheduledTask = Candidate & {
  readonly deploymentId: string;
  readonly isRunning: boolean;
};

type ServiceCounts = {
  readonly desiredCount: number;
  readonly primaryId: string;
  readonly maximumPercent: number;
  /** How many tasks of the old revision ECS still has to start. @default 0 */
  readonly owedOld?: number;
  /** Whether old tasks count against the desired count. @default true */
  readonly countsOld?: boolean | undefined;
};

type ScheduleInput<T extends ScheduledTask> = ServiceCounts & {
  readonly minimumHealthyPercent: number;
  /** The service's tasks whose desired status is RUNNING. */
  readonly tasks: readonly T[];
  /** Whether old tasks that are still starting are kept until they run. @default false */
  readonly keepsStartingOld?: boolean;
};

type Starts = { readonly start: number; readonly startOld: number };
type Schedule<T> = Starts & { readonly stop: readonly T[] };

type Choice = { readonly random: Random; readonly victims: Victims };
type Revised = Pick<ScheduledTask, 'deploymentId'>;

export function scheduleTasks<T extends ScheduledTask>(input: ScheduleInput<T>, choice: Choice): Schedule<T> {
  const outgoing = oldTasksToStop(input, choice);
  const rest = input.tasks.filter((task) => !outgoing.includes(task));
  const surplus = pickVictims(countedOf(input, rest), surplusOf(input, rest), choice);
  const left = rest.filter((task) => !surplus.includes(task));
  return { stop: [...outgoing, ...surplus], ...startsOf(input, left) };
}

/** How many tasks are above the desired count of the primary deployment, or above maximumPercent in all. */
export function surplusOf(service: ServiceCounts, tasks: readonly Revised[]): number {
  const counted = countedOf(service, tasks);
  const fresh = counted.filter((task) => !isOld(service, task));
  return Math.max(0, counted.length - limitOf(service), fresh.length - service.desiredCount);
}

/** How many tasks of each revision ECS starts beside these. */
export function startsOf(service: ServiceCounts, tasks: readonly Revised[]): Starts {
  const counted = countedOf(service, tasks);
  const fresh = counted.filter((task) => !isOld(service, task));
  const room = limitOf(service) - counted.length;
  const { owedOld = 0, desiredCount } = service;
  const startOld = service.countsOld === false ? owedOld : Math.max(0, Math.min(owedOld, room));
  return { start: Math.max(0, Math.min(desiredCount - fresh.length, room - startOld)), startOld };
}

function countedOf<T extends Revised>(service: ServiceCounts, tasks: readonly T[]): readonly T[] {
  return service.countsOld === false ? tasks.filter((task) => !isOld(service, task)) : tasks;
}

function limitOf({ desiredCount, maximumPercent }: ServiceCounts): number {
  return Math.floor((desiredCount * maximumPercent) / 100);
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

function pickVictims<T extends ScheduledTask>(
  tasks: readonly T[],
  count: number,
  choice: Choice,
): readonly T[] {
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

function isOld({ primaryId }: ServiceCounts, { deploymentId }: Revised): boolean {
  return deploymentId !== primaryId;
}

/** Mutants: each breaks a rule of "The lease" (docs/internals/architecture.md). And assumptions left out. */
import { decide } from '../../../lambda/decision/decide.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import type { Action } from '../../../lambda/decision/model/plan.ts';
import type { Reading, Snapshot, Task } from '../../../lambda/decision/model/snapshot.ts';
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import {
  GUARD_TABLE,
  type GuardEffect,
  type GuardInput,
  type GuardPhase,
  type GuardTable,
} from '../../world/task/guard-table.ts';
import type { Decide } from './deciders/decider.ts';
import { AS_IT_IS, type Variant } from './explorations.ts';

export type Mutant = { readonly name: string; readonly variant: Variant };

export const MUTANTS: readonly Mutant[] = [
  { name: 'a drain request sets a few hours instead of 23 h', variant: { ...AS_IT_IS, ask: 1 } },
  ofGuard('the guard releases the protection before the daemon exits', [
    'working',
    'ask-seen',
    'draining',
    'terminate-daemon',
    'release',
  ]),
  ofAutoscaler('the autoscaler lowers the count before the task has left', lowersWithAsk),
  ofAutoscaler('the autoscaler takes an expired protection for "left"', onSnapshot(withoutUnprotected)),
  ofGuard('the guard renews over a drain request', ['working', 'ask-seen', 'working', 'renew']),
  ofGuard('the guard starts the daemon without reading the lease back', [
    'leasing',
    'no-lease-read',
    'working',
    'start-daemon',
  ]),
  ofAutoscaler('the autoscaler lowers the count during a deployment', onSnapshot(withoutDeployment)),
  ofAutoscaler(
    'the autoscaler takes a missing daemon row for "left"',
    onSnapshot(({ coder, ...rest }) => ({ ...rest, coder: withoutStrayJobs(coder) })),
  ),
  ofGuard('the guard does not drain after it could not look for 6 h', ['working', 'blind-for-6h', 'working']),
  ofGuard('the guard does not drain when nothing renews its lease any more', [
    'working',
    'keeper-ended',
    'working',
  ]),
  ofGuard(
    'the guard does not drain when its lease runs out or has expired',
    ['working', 'ask-seen', 'working'],
    ['working', 'ask-seen-low', 'working'],
    ['working', 'gone-seen', 'working'],
  ),
  ofGuard('the guard does not drain after two refused renewals', [
    'working',
    'renewal-refused-again',
    'working',
  ]),
  ofAutoscaler('the autoscaler takes a starting task for "left"', onSnapshot(withoutYouth)),
  // These show only with two tasks.
  ofAutoscaler(
    'the autoscaler lowers the count while a task is starting',
    onSnapshot((snapshot) => withLeases(snapshot, ({ lastStatus }) => lastStatus === 'PENDING')),
  ),
  ofAutoscaler(
    'the autoscaler lowers the count while a task is unguarded',
    onSnapshot((snapshot) => withLeases(snapshot, (task) => isUnguarded(snapshot, task))),
  ),
  ofAutoscaler('the autoscaler gives up tasks that ECS cannot place while a task is unguarded', givesUp),
  ofAutoscaler('the autoscaler raises a count that is below the tasks above max', raisesToTasks),
  ofAutoscaler(
    'where starts keep failing, the autoscaler gives up starting tasks beside an unguarded one',
    onSnapshot((snapshot) =>
      snapshot.ecs.tasks.items.some(({ lastStatus }) => lastStatus === 'STOPPED')
        ? withLeases(snapshot, (task) => isUnguarded(snapshot, task))
        : snapshot,
    ),
  ),
  // These show only with two pools.
  ofAutoscaler(
    'maxTasks limits each pool alone',
    withMoreRoom(({ limits, pools }) => limits.maxTasks * (pools.length - 1)),
  ),
  ofAutoscaler('leaving tasks do not count against maxTasks', withMoreRoom(leavingTasks)),
  ofAutoscaler('tasks that ECS cannot place count against maxTasks', onSnapshot(withoutEvents)),
  ofAutoscaler('a stock daemon does not drain for a job of another pool', keepsStock),
];

/** The assumptions behind safety, each with a variant of the world in which it does not hold. */
export const ASSUMPTIONS: readonly Mutant[] = [
  {
    name: 'a daemon that starts after ECS has chosen its task is stopped before coderd hands it a job',
    variant: { ...AS_IT_IS, stopsPromptly: false },
  },
  {
    name: 'a job of a draining daemon ends within 17 h, or its guard can renew the protection of 23 h',
    variant: { ...AS_IT_IS, drainsInTime: false },
  },
];

type Row = readonly [GuardPhase, GuardInput, GuardPhase, ...(readonly GuardEffect[])];

function ofGuard(name: string, ...rows: readonly Row[]): Mutant {
  const withRow = (table: GuardTable, [phase, input, to, ...effects]: Row): GuardTable => ({
    ...table,
    [phase]: { ...table[phase], [input]: { to, effects } },
  });
  return { name, variant: { ...AS_IT_IS, table: rows.reduce(withRow, GUARD_TABLE) } };
}

function ofAutoscaler(name: string, mutant: Decide): Mutant {
  return { name, variant: { ...AS_IT_IS, decide: mutant } };
}

function onSnapshot(change: (snapshot: Snapshot) => Snapshot): Decide {
  return (snapshot, config) => decide(change(snapshot), config).actions;
}

function lowersWithAsk(...given: Parameters<Decide>): readonly Action[] {
  const [snapshot, config] = given;
  const { actions } = decide(snapshot, config);
  const service = snapshot.ecs.services.items[0];
  const asks = actions.filter(({ kind }) => kind === 'ask-to-leave');
  const [first] = asks;
  if (service === undefined || first === undefined || asks.length !== actions.length) return actions;
  const from = service.desiredCount;
  const { serviceArn } = service;
  const lower = {
    kind: 'set-desired',
    pool: first.pool,
    service: serviceArn,
    from,
    to: from - asks.length,
  } as const;
  return [...actions, { ...lower, why: 'tasks-left' }];
}

/** Shows unprotected tasks as if their daemons had exited. */
function withoutUnprotected({ coder, ecs, ...rest }: Snapshot): Snapshot {
  const free = ecs.protections.items
    .filter(({ protectionEnabled }) => !protectionEnabled)
    .map(({ taskArn }) => taskArn.slice(-32));
  const isFree = (name: string): boolean => free.some((id) => name.endsWith(id));
  const organizations = coder.organizations.map((organization) => {
    const gone = organization.daemons.items.filter(({ name }) => isFree(name)).map(({ id }) => id);
    return {
      ...organization,
      daemons: only(organization.daemons, ({ id }) => !gone.includes(id)),
      jobs: only(organization.jobs, ({ worker_id }) => worker_id == null || !gone.includes(worker_id)),
    };
  });
  const tasks = mapped(ecs.tasks, (task) => (isFree(task.taskArn) ? aged(task) : task));
  return { ...rest, coder: { ...coder, organizations }, ecs: { ...ecs, tasks } };
}

function withoutDeployment({ ecs, ...rest }: Snapshot): Snapshot {
  const services = mapped(ecs.services, (service) => ({
    ...service,
    deployments: service.deployments.slice(0, 1).map((it) => ({ ...it, rolloutState: 'COMPLETED' })),
  }));
  return { ...rest, ecs: { ...ecs, services } };
}

/** Leaves out the jobs of daemons that coderd does not list. */
function withoutStrayJobs(coder: Snapshot['coder']): Snapshot['coder'] {
  const organizations = coder.organizations.map((organization) => {
    const known = new Set(organization.daemons.items.map(({ id }) => id));
    return {
      ...organization,
      jobs: only(organization.jobs, ({ worker_id }) => worker_id == null || known.has(worker_id)),
    };
  });
  return { ...coder, organizations };
}

function withoutYouth({ ecs, ...rest }: Snapshot): Snapshot {
  return { ...rest, ecs: { ...ecs, tasks: mapped(ecs.tasks, aged) } };
}

/** Shows these tasks as if they had been RUNNING with a lease for an hour. */
function withLeases({ ecs, takenAt, ...rest }: Snapshot, isShown: (task: Task) => boolean): Snapshot {
  const arns = new Set(ecs.tasks.items.filter(isShown).map(({ taskArn }) => taskArn));
  const expirationDate = plusMs(takenAt, 47 * HOUR_MS);
  const startedAt = plusMs(takenAt, -HOUR_MS);
  const leases = [...arns].map((taskArn) => ({ taskArn, protectionEnabled: true, expirationDate }));
  const others = only(ecs.protections, ({ taskArn }) => !arns.has(taskArn));
  return {
    ...rest,
    takenAt,
    ecs: {
      ...ecs,
      tasks: mapped(ecs.tasks, (task) =>
        arns.has(task.taskArn) ? { ...task, lastStatus: 'RUNNING', createdAt: startedAt, startedAt } : task,
      ),
      protections: { ...others, items: [...others.items, ...leases] },
    },
  };
}

/** Whether the task is unprotected and its daemon is not offline. */
function isUnguarded({ coder, ecs }: Snapshot, { taskArn }: Task): boolean {
  const daemons = coder.organizations.flatMap((organization) => organization.daemons.items);
  return (
    ecs.protections.items.some((item) => item.taskArn === taskArn && !item.protectionEnabled) &&
    daemons.some(({ name, status }) => name.endsWith(taskArn.slice(-32)) && status !== 'offline')
  );
}

function givesUp(...given: Parameters<Decide>): readonly Action[] {
  const [snapshot, config] = given;
  const { actions } = decide(snapshot, config);
  const tasks = snapshot.ecs.tasks.items;
  const [service] = snapshot.ecs.services.items;
  const [pool] = config.pools;
  if (service?.events === undefined || pool === undefined || actions.length > 0) return actions;
  const isBeside = tasks.some((task) => isUnguarded(snapshot, task)) && service.desiredCount > tasks.length;
  if (!isBeside) return actions;
  const { serviceArn, desiredCount: from } = service;
  const to = tasks.length;
  return [{ kind: 'set-desired', pool: pool.name, service: serviceArn, from, to, why: 'placement-failing' }];
}

function raisesToTasks(...given: Parameters<Decide>): readonly Action[] {
  const [snapshot] = given;
  const { actions } = decide(...given);
  const to = snapshot.ecs.tasks.items.length;
  return actions.map((action) =>
    action.kind === 'set-desired' && action.why === 'count-below-tasks' ? { ...action, to } : action,
  );
}

function withMoreRoom(more: (config: Config, snapshot: Snapshot) => number): Decide {
  return (snapshot, config) => {
    const limits = { ...config.limits, maxTasks: config.limits.maxTasks + more(config, snapshot) };
    return decide(snapshot, { ...config, limits }).actions;
  };
}

function leavingTasks(_: Config, { ecs, takenAt }: Snapshot): number {
  const dayFromNow = plusMs(takenAt, 24 * HOUR_MS);
  return ecs.protections.items.filter(({ expirationDate }) => (expirationDate ?? dayFromNow) < dayFromNow)
    .length;
}

/** Leaves out ECS's events, so tasks that ECS cannot place count as starting. */
function withoutEvents({ ecs, ...rest }: Snapshot): Snapshot {
  return {
    ...rest,
    ecs: { ...ecs, services: mapped(ecs.services, (service) => ({ ...service, events: [] })) },
  };
}

function keepsStock(...given: Parameters<Decide>): readonly Action[] {
  const { actions, pools } = decide(...given);
  const giving = pools.filter(({ why }) => why.some(({ code }) => code === 'making-room'));
  const names = new Set(giving.map(({ name }) => name));
  return actions.filter(({ kind, pool }) => kind !== 'ask-to-leave' || !names.has(pool));
}

function aged(task: Task): Task {
  const { startedAt } = task;
  return startedAt === undefined ? task : { ...task, startedAt: (startedAt - HOUR_MS) as typeof startedAt };
}

function mapped<T>(reading: Reading<T>, change: (item: T) => T): Reading<T> {
  return { ...reading, items: reading.items.map(change) };
}

function only<T>(reading: Reading<T>, isKept: (item: T) => boolean): Reading<T> {
  return { ...reading, items: reading.items.filter(isKept) };
}

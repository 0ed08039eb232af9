/** Mutants of the protocol: each leaves something out that docs/architecture.md, "The lease" asks for, and has to be caught. */

import { decide } from '../../lambda/decision/decide.ts';
import { plusMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { Action } from '../../lambda/decision/model/plan.ts';
import type { Reading, Snapshot, Task } from '../../lambda/decision/model/snapshot.ts';
import {
  GUARD_TABLE,
  type GuardEffect,
  type GuardInput,
  type GuardPhase,
  type GuardTable,
} from '../../simulator/task/guard-table.ts';
import type { Decide } from './deciders/decider.ts';
import { AS_IT_IS, type Variant } from './explorations.ts';

export type Mutant = { readonly name: string; readonly variant: Variant };

export const MUTANTS: readonly Mutant[] = [
  { name: 'an ask in minutes', variant: { ...AS_IT_IS, ask: 1 } },
  ofGuard('released before the daemon exits', [
    'working',
    'ask-seen',
    'draining',
    'terminate-daemon',
    'release',
  ]),
  ofAutoscaler('the count is lowered before the task has left', lowersWithAsk),
  ofAutoscaler('an expired protection is taken for "left"', onSnapshot(withoutUnprotected)),
  ofGuard('a renewal overwrites an ask', ['working', 'ask-seen', 'working', 'renew']),
  ofGuard('no read-back before the daemon starts', ['leasing', 'no-lease-read', 'working', 'start-daemon']),
  ofAutoscaler('the count is lowered during a deployment', onSnapshot(withoutDeployment)),
  ofAutoscaler(
    'a missing daemon row is taken for "left"',
    onSnapshot(({ coder, ...rest }) => ({ ...rest, coder: withoutStrayJobs(coder) })),
  ),
  ofGuard('no drain when blind for 6 h', ['working', 'blind-for-6h', 'working']),
  ofGuard(
    'no 24 h rule: no lease that runs out, or has, makes it drain',
    ['working', 'ask-seen', 'working'],
    ['working', 'ask-seen-low', 'working'],
    ['working', 'gone-seen', 'working'],
  ),
  ofGuard('a refused renewal is no ask', ['working', 'renewal-refused-again', 'working']),
  ofAutoscaler('a task that boots is taken for one that has left', onSnapshot(withoutYouth)),
  // these take two tasks
  ofAutoscaler(
    'the count is lowered beside a task that is starting',
    onSnapshot((snapshot) => withLeases(snapshot, ({ lastStatus }) => lastStatus === 'PENDING')),
  ),
  ofAutoscaler(
    'the count is lowered beside a task that is unguarded',
    onSnapshot((snapshot) => withLeases(snapshot, (task) => isUnguarded(snapshot, task))),
  ),
  ofAutoscaler('what ECS cannot place is given up beside a task that is unguarded', givesUp),
  // these take two pools
  ofAutoscaler(
    'maxTasks bounds each pool alone',
    withMoreRoom(({ limits, pools }) => limits.maxTasks * (pools.length - 1)),
  ),
  ofAutoscaler('tasks that leave take no room', withMoreRoom(leavingTasks)),
  ofAutoscaler('what ECS cannot place takes room', onSnapshot(withoutEvents)),
  ofAutoscaler('stock makes no room for the job of another pool', keepsStock),
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

/** The product, upon another snapshot than it was given. */
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

/** What nothing protects is shown as if its daemon had gone. */
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

/** Jobs of daemons that coderd does not list are not there. */
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

/** These tasks are shown as if they had been RUNNING with a lease for an hour. */
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

/** Nothing protects it, and its daemon lives. */
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

/** The product, with a higher limit. */
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

/** ECS's events are not read: what it cannot place counts as starting. */
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

const HOUR_MS = 3_600_000;

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

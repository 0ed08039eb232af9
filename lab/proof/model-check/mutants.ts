/** Mutants: each breaks a rule of "The lease" (docs/internals/architecture.md). And assumptions left out. */
import { decide } from '../../../lambda/decision/decide.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import type { Action } from '../../../lambda/decision/model/plan.ts';
import type { Snapshot, Task } from '../../../lambda/decision/model/snapshot.ts';
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import {
  GUARD_TABLE,
  type GuardEffect,
  type GuardInput,
  type GuardPhase,
  type GuardTable,
} from '../../world/task/guard-table.ts';
import { type Decide, type LookRules, PRODUCT, type Readings } from './deciders/decider.ts';
import { type DaemonView, type EcsTaskView, NO_DAEMON } from './deciders/view.ts';
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
  ofReadings(
    'the autoscaler takes an expired protection for "left"',
    eachTask((task, daemon) =>
      isUnprotected(task) ? [{ ...task, isYoung: false }, NO_DAEMON] : [task, daemon],
    ),
  ),
  ofGuard('the guard renews over a drain request', ['working', 'ask-seen', 'working', 'renew']),
  ofGuard('the guard starts the daemon without reading the lease back', [
    'leasing',
    'no-lease-read',
    'working',
    'start-daemon',
  ]),
  ofReadings('the autoscaler lowers the count during a deployment', ({ ecs, coder }) => ({
    ecs: { ...ecs, isDeploying: false },
    coder,
  })),
  ofReadings(
    'the autoscaler takes a missing daemon row for "left"',
    eachTask((task, { row, hasJob }) => [task, { row, hasJob: hasJob && row !== 'none' }]),
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
  ofReadings(
    'the autoscaler takes a starting task for "left"',
    eachTask((task, daemon) => [{ ...task, isYoung: false }, daemon]),
  ),
  // These show only with two tasks.
  ofReadings(
    'the autoscaler lowers the count while a task is starting',
    eachTask((task, daemon) => [task.isRunning ? task : leased(task), daemon]),
  ),
  ofReadings('the autoscaler lowers the count while a task is unguarded', withoutUnguarded),
  ofAutoscaler('the autoscaler gives up tasks that ECS cannot place while a task is unguarded', givesUp),
  ofAutoscaler('the autoscaler raises a count that is below the tasks above max', raisesToTasks),
  ofReadings(
    'where starts keep failing, the autoscaler gives up starting tasks beside an unguarded one',
    (read) => (read.ecs.startsFail === true ? withoutUnguarded(read) : read),
  ),
  // These show only with two pools.
  ofAutoscaler(
    'maxTasks limits each pool alone',
    withMoreRoom(({ limits, pools }) => limits.maxTasks * (pools.length - 1)),
  ),
  ofAutoscaler('leaving tasks do not count against maxTasks', withMoreRoom(leavingTasks)),
  ofReadings('tasks that ECS cannot place count against maxTasks', ({ ecs, coder }) => ({
    ecs: { ...ecs, isUnplaced: false },
    coder,
  })),
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

function ofAutoscaler(name: string, decideWrongly: Decide): Mutant {
  return { name, variant: { ...AS_IT_IS, look: { ...PRODUCT, decide: decideWrongly } } };
}

function ofReadings(name: string, see: LookRules['see']): Mutant {
  return { name, variant: { ...AS_IT_IS, look: { ...PRODUCT, see } } };
}

type SeenTask = readonly [task: EcsTaskView, daemon: DaemonView];

function eachTask(change: (...seen: SeenTask) => SeenTask): LookRules['see'] {
  return ({ ecs, coder }) => {
    const seen = ecs.tasks.map((task, slot): readonly [EcsTaskView | undefined, DaemonView] => {
      const daemon = coder.daemons[slot] ?? NO_DAEMON;
      return task === undefined ? [task, daemon] : change(task, daemon);
    });
    return {
      ecs: { ...ecs, tasks: seen.map(([task]) => task) },
      coder: { ...coder, daemons: seen.map(([, daemon]) => daemon) },
    };
  };
}

const isUnprotected = ({ isRunning, protection }: EcsTaskView): boolean => isRunning && protection === 'none';

/** The task as if it had been RUNNING with a lease for an hour. */
const leased = ({ revision }: EcsTaskView): EcsTaskView => ({
  ...{ revision, isRunning: true, protection: 'lease', isYoung: false },
});

function withoutUnguarded(read: Readings): Readings {
  const hidden = eachTask((task, daemon) => [
    isUnprotected(task) && daemon.row === 'live' ? leased(task) : task,
    daemon,
  ]);
  return hidden(read);
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

function keepsStock(...given: Parameters<Decide>): readonly Action[] {
  const { actions, pools } = decide(...given);
  const giving = pools.filter(({ why }) => why.some(({ code }) => code === 'making-room'));
  const names = new Set(giving.map(({ name }) => name));
  return actions.filter(({ kind, pool }) => kind !== 'ask-to-leave' || !names.has(pool));
}

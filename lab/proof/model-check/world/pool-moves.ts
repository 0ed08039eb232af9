/**
 * What can happen to one task in pool.ts, which tells counts, revisions and rows apart. Calls of
 * guards take effect at once or not at all, and whatever takes long may end at any moment.
 */
import type { GuardInput, GuardTable } from '../../../world/task/guard-table.ts';
import { feed, judgeLook, type Move } from './guard-step.ts';
import { ASKED_BELOW, type ModelTask, PUTS } from './task.ts';

export type TaskRules = {
  readonly table: GuardTable;
  /**
   * Whether coderd ends the session of a daemon whose key was deleted, once it holds no job
   * (docs/internals/coder.md §3: after 2.36). Before that coderd may hand it further jobs.
   */
  readonly endsSessions: boolean;
};

/** Every step of a task, its guard and its daemon. */
export function poolMovesOf(task: ModelTask, rules: TaskRules): readonly Move[] {
  if (task.ecs === 'pending') return [{ what: 'starts to run', to: { ...task, ecs: 'running' } }];
  return [...guardMoves(task, rules.table), ...daemonMoves(task, rules), ...rowMoves(task)];
}

/** The task after its provisioner key was deleted: coderd deletes the daemon's row with the key. */
export function withoutKey(task: ModelTask, { endsSessions }: TaskRules): ModelTask {
  if (task.row !== 'live' && task.row !== 'offline') return task;
  return withoutSession({ ...task, row: 'none' }, endsSessions);
}

function withoutSession(task: ModelTask, endsSessions: boolean): ModelTask {
  const isEnded = endsSessions && task.daemon === 'idle' && task.row === 'none';
  return isEnded ? { ...task, daemon: 'starting' } : task;
}

/** The steps of a guard's input. A PUT that the guard sends takes effect, or is refused or lost. */
function inputMoves(what: string, task: ModelTask, input: GuardInput, table: GuardTable): readonly Move[] {
  const move = feed(what, task, input, table);
  if (move.to === undefined || move.to.write === 'none') return [move];
  const { write } = move.to;
  const done: ModelTask = { ...move.to, write: 'none' };
  return [
    { what: `${what}; PUT ${write} takes effect`, to: { ...done, protection: PUTS[write] } },
    { what: `${what}; PUT ${write} does not take effect`, to: done },
  ];
}

function guardMoves(task: ModelTask, table: GuardTable): readonly Move[] {
  const inputs = (what: string, ...list: readonly GuardInput[]): readonly Move[] =>
    list.flatMap((input) => inputMoves(`${what}${input}`, task, input, table));
  switch (task.guard) {
    case 'leasing':
      return [
        ...inputs('the guard reads back: ', task.protection >= ASKED_BELOW ? 'lease-read' : 'no-lease-read'),
        ...inputs('', 'lease-time-over'),
      ];
    case 'working':
      return [
        ...inputs('the guard sees ', judgeLook(task), 'renewal-refused-again', 'blind-for-6h'),
        ...inputs('', 'keeper-ended'),
      ];
    case 'draining':
      return inputs('the guard sees ', judgeLook(task));
    case 'left':
    case 'died':
      return [...inputs('the guard sees ', judgeLook(task)), ...inputs('', 'wait-over')];
    case 'stopping':
    case 'ended':
      return [];
    default:
      return task.guard satisfies never;
  }
}

function daemonMoves(task: ModelTask, { table, endsSessions }: TaskRules): readonly Move[] {
  const becomes = (what: string, change: Partial<ModelTask>): Move => ({
    what,
    to: { ...task, unitsOfJob: 0, ...change },
  });
  const exits = (what: string): readonly Move[] =>
    inputMoves(what, { ...task, daemon: 'none' }, 'daemon-exited', table);
  switch (task.daemon) {
    case 'starting':
      // No daemon registers after 15 minutes: if it could not by then, coderd refuses it.
      return task.row === 'young' ? [becomes('the daemon registers', { daemon: 'idle', row: 'live' })] : [];
    case 'idle':
      return [
        { ...becomes('coderd hands the daemon a job', { daemon: 'busy' }), takesJob: true },
        ...exits('the daemon dies'),
      ];
    case 'busy':
      return [{ what: 'the job ends', to: withoutSession({ ...task, daemon: 'idle' }, endsSessions) }];
    case 'finishing':
      return [becomes('the job ends', { daemon: 'exiting' })];
    case 'exiting':
      return exits('the daemon exits');
    case 'none':
      return [];
    default:
      return task.daemon satisfies never;
  }
}

function rowMoves(task: ModelTask): readonly Move[] {
  const hasDaemon = task.daemon !== 'none';
  // A guard without a lease gives up after 10 min, before this.
  if (task.row === 'young' && task.guard !== 'leasing')
    return [{ what: 'has been RUNNING for 15 min', to: { ...task, row: 'none' } }];
  if (task.row === 'live' && !hasDaemon)
    return [{ what: 'coderd lists its daemon as offline', to: { ...task, row: 'offline' } }];
  return [];
}

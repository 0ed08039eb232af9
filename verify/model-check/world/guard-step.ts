/** The guard of one task: its table, stepped, with the table's effects put into the state of the task. */
import {
  type GuardEffect,
  type GuardInput,
  type GuardTable,
  stepGuard,
} from '../../../simulator/task/guard-table.ts';
import {
  ASKED_BELOW,
  forget,
  holdsJob,
  LOW_BELOW,
  type TaskState,
  UNITS_OF_DRAINED_JOB,
  UNPROTECTED,
} from './task.ts';

/** What became of a task whose guard got an input. */
export type Fed =
  | { readonly kind: 'goes-on'; readonly task: TaskState }
  /** The guard has exited, and ECS with it stops the task. */
  | { readonly kind: 'exited'; readonly overJob: boolean };

/** Gives the guard an input. PUTs are only sent: they are in `write` until they take effect or are lost. */
export function feed(task: TaskState, input: GuardInput, table: GuardTable): Fed {
  const { to, effects } = stepGuard(task.guard, input, table);
  let next: TaskState = { ...task, guard: to };
  for (const effect of effects) {
    if (EXITS.has(effect)) return { kind: 'exited', overJob: holdsJob(next) };
    next = EFFECTS[effect](next);
  }
  return { kind: 'goes-on', task: forget(next) };
}

/** Whether the guard would send a PUT upon this input: it sends one at a time. */
export function sendsWrite(task: TaskState, input: GuardInput, table: GuardTable): boolean {
  return stepGuard(task.guard, input, table).effects.some((effect) => WRITES.has(effect));
}

/** What a look tells, but for whether it is time to renew. */
export function judgeLook({ protection }: TaskState): GuardInput {
  if (protection === UNPROTECTED) return 'gone-seen';
  if (protection < LOW_BELOW) return 'ask-seen-low';
  return protection < ASKED_BELOW ? 'ask-seen' : 'lease-seen';
}

const EXITS: ReadonlySet<GuardEffect> = new Set(['exit-0', 'exit-75', 'exit-code']);
const WRITES: ReadonlySet<GuardEffect> = new Set(['take-lease', 'renew', 'hold', 'release']);

const keep = (task: TaskState): TaskState => task;

const EFFECTS: Readonly<Record<GuardEffect, (task: TaskState) => TaskState>> = {
  'take-lease': (task) => ({ ...task, write: 'lease' }),
  'start-daemon': (task) => ({ ...task, daemon: 'starting' }),
  renew: (task) => ({ ...task, write: 'lease' }),
  hold: (task) => ({ ...task, write: 'hold' }),
  release: (task) => ({ ...task, write: 'release' }),
  'terminate-daemon': terminate,
  'exit-0': keep,
  'exit-75': keep,
  'exit-code': keep,
};

function terminate(task: TaskState): TaskState {
  if (task.daemon === 'starting' || task.daemon === 'idle') return { ...task, daemon: 'exiting' };
  if (task.daemon === 'busy') return { ...task, daemon: 'finishing', unitsOfJob: UNITS_OF_DRAINED_JOB };
  return task;
}

/** Steps the guard of one task by its table, and applies the table's effects to the task. */
import {
  type GuardEffect,
  type GuardInput,
  type GuardTable,
  stepGuard,
} from '../../../world/task/guard-table.ts';
import {
  ASKED_BELOW,
  forget,
  holdsJob,
  LOW_BELOW,
  type ModelTask,
  UNITS_OF_DRAINED_JOB,
  UNPROTECTED,
} from './task.ts';

export type Move = {
  readonly what: string;
  /** Undefined: the task is gone. */
  readonly to: ModelTask | undefined;
  readonly takesJob?: boolean;
  readonly fails?: string;
};

/** Gives the guard an input. A PUT stays in `write` until it is settled. If the guard exits, ECS stops it. */
export function feed(what: string, task: ModelTask, input: GuardInput, table: GuardTable): Move {
  const { to, effects } = stepGuard(task.guard, input, table);
  let next: ModelTask = { ...task, guard: to };
  for (const effect of effects) {
    if (EXITS.has(effect)) {
      const fails = holdsJob(next) ? { fails: 'the guard exits while its daemon holds a job' } : {};
      return { what, to: undefined, ...fails };
    }
    next = EFFECTS[effect](next);
  }
  return { what, to: forget(next) };
}

/** Whether the guard sends a PUT for this input. It sends one at a time. */
export function sendsWrite(task: ModelTask, input: GuardInput, table: GuardTable): boolean {
  return stepGuard(task.guard, input, table).effects.some((effect) => WRITES.has(effect));
}

/** The input that a look of the guard gives, except for whether a renewal is due. */
export function judgeLook({ protection }: ModelTask): GuardInput {
  if (protection === UNPROTECTED) return 'gone-seen';
  if (protection < LOW_BELOW) return 'ask-seen-low';
  return protection < ASKED_BELOW ? 'ask-seen' : 'lease-seen';
}

const EXITS: ReadonlySet<GuardEffect> = new Set(['exit-0', 'exit-75', 'exit-77', 'exit-79', 'exit-code']);
const WRITES: ReadonlySet<GuardEffect> = new Set(['take-lease', 'renew', 'hold', 'release']);

const keep = (task: ModelTask): ModelTask => task;

const EFFECTS: Readonly<Record<GuardEffect, (task: ModelTask) => ModelTask>> = {
  'take-lease': (task) => ({ ...task, write: 'lease' }),
  'start-daemon': (task) => ({ ...task, daemon: 'starting' }),
  renew: (task) => ({ ...task, write: 'lease' }),
  hold: (task) => ({ ...task, write: 'hold' }),
  release: (task) => ({ ...task, write: 'release' }),
  'terminate-daemon': terminate,
  'exit-0': keep,
  'exit-75': keep,
  'exit-77': keep,
  'exit-79': keep,
  'exit-code': keep,
};

function terminate(task: ModelTask): ModelTask {
  if (task.daemon === 'starting' || task.daemon === 'idle') return { ...task, daemon: 'exiting' };
  if (task.daemon === 'busy') return { ...task, daemon: 'finishing', unitsOfJob: UNITS_OF_DRAINED_JOB };
  return task;
}

/**
 * What can happen to one task in the exploration of guards (guards.ts): every call of its guard is under way for a while, may
 * take effect and not be answered, be refused, or be lost; looks may fail for as long as they like.
 */
import type { GuardInput, GuardTable } from '../../../simulator/task/guard-table.ts';
import { type Fed, feed, judgeLook, sendsWrite } from './guard-step.ts';
import { ASK, ASKED_BELOW, holdsJob, isAtRisk, LEASE, type TaskState, UNPROTECTED } from './task.ts';

export type Rules = {
  readonly table: GuardTable;
  /** What an ask leaves of a lease, in units plus one. */
  readonly ask: number;
  /** Whether the answer to a look may come late: what it tells is not so any more. */
  readonly hasLateLooks: boolean;
  /** Whether a daemon that was started after ECS had chosen its task is stopped before coderd hands it a job. */
  readonly stopsPromptly: boolean;
  /** Whether a job that is being drained ends within the units that it may take. */
  readonly drainsInTime: boolean;
};

export type Move = {
  readonly what: string;
  /** Undefined: the task is gone. */
  readonly to: TaskState | undefined;
  /** Needs a job that no daemon holds yet. */
  readonly takesJob?: boolean;
  /** A step that must not be. */
  readonly fails?: string;
};

export const OVER_JOB = 'the guard exits while its daemon holds a job';

/** Everything that can happen to a task but for the passing of time. */
export function movesOf(task: TaskState, rules: Rules): readonly Move[] {
  return [
    ...asks(task, rules),
    ...ecsMoves(task),
    ...(task.ecs === 'pending'
      ? []
      : [...writeMoves(task, rules), ...guardMoves(task, rules), ...daemonMoves(task, rules)]),
  ];
}

/** Six hours later; undefined while something is under way that takes minutes at the most. */
export function later(task: TaskState, { drainsInTime }: Rules): TaskState | undefined {
  if (task.ecs === 'pending') return { ...task, protection: Math.max(UNPROTECTED, task.protection - 1) };
  const isBrief =
    task.ecs === 'chosen' ||
    task.guard === 'leasing' ||
    task.guard === 'left' ||
    task.guard === 'died' ||
    task.write !== 'none' ||
    task.look !== 'none' ||
    task.daemon === 'exiting';
  // a guard that has not looked for a unit has drained by then; a job that drains has ended by then
  const isJobOver = drainsInTime && task.daemon === 'finishing' && task.unitsOfJob === 0;
  if (isBrief || task.blind === 1 || isJobOver) return undefined;
  return {
    ...task,
    protection: Math.max(UNPROTECTED, task.protection - 1),
    blind: task.guard === 'working' && task.blind === 0 ? 1 : task.blind,
    unitsOfJob: Math.max(0, task.unitsOfJob - 1),
  };
}

function asks(task: TaskState, { ask }: Rules): readonly Move[] {
  return [{ what: 'the autoscaler asks it to leave', to: { ...task, protection: ask } }];
}

/** The count and the revisions are whatever is worst: ECS may stop any task that is not protected. */
function ecsMoves(task: TaskState): readonly Move[] {
  if (task.ecs === 'chosen') {
    const wasHandedJob = task.daemon === 'idle' || holdsJob(task);
    const fails = wasHandedJob ? { fails: 'ECS stops a task whose daemon holds a job, or may' } : {};
    return [{ what: 'ECS tells it to stop', to: undefined, ...fails }];
  }
  const run: Move = {
    what: 'begins to run; the guard sends PUT 48 h',
    to: { ...task, ecs: 'running', write: 'lease' },
  };
  const starts = task.ecs === 'pending' ? [run] : [];
  if (task.protection !== UNPROTECTED) return starts;
  const what = 'ECS chooses to stop it';
  if (isAtRisk(task))
    return [...starts, { what, to: task, fails: 'ECS stops a task whose daemon holds a job, or may' }];
  // only a guard that may still start its daemon makes a difference between now and the stop
  const isToBeWatched = task.ecs === 'running' && task.guard === 'leasing';
  return [...starts, { what, to: isToBeWatched ? { ...task, ecs: 'chosen' } : undefined }];
}

function writeMoves(task: TaskState, rules: Rules): readonly Move[] {
  const { write } = task;
  if (write === 'none') return [];
  const done: TaskState = { ...task, write: 'none' };
  const taken: TaskState = {
    ...done,
    protection: write === 'lease' ? LEASE : write === 'hold' ? ASK : UNPROTECTED,
  };
  const answered = (what: string, to: TaskState, input: GuardInput): readonly Move[] =>
    write === 'lease' ? fed(what, to, input, rules) : [{ what, to }];
  const refusal = task.isRefused ? 'renewal-refused-again' : 'renewal-refused';
  return [
    ...answered(`PUT ${write} takes effect`, { ...taken, isRefused: false }, 'renewed'),
    ...answered(`PUT ${write} takes effect, its answer is lost`, taken, 'renewal-unanswered'),
    ...answered(`PUT ${write} is lost`, done, 'renewal-unanswered'),
    ...(write === 'release'
      ? []
      : answered(
          `PUT ${write} is refused`,
          { ...done, isRefused: write === 'lease' && task.guard === 'working' },
          refusal,
        )),
  ];
}

function guardMoves(task: TaskState, rules: Rules): readonly Move[] {
  const { guard, blind } = task;
  const isOver = guard === 'left' || guard === 'died';
  if (guard === 'ended') return [];
  return [
    ...lookMoves(task, rules),
    ...(guard === 'leasing' ? inputs('10 min are over: ', 'lease-time-over', task, rules) : []),
    ...(isOver ? inputs('a look fails: ', 'blind', task, rules) : []),
    ...(blind > 0 ? inputs('looks have failed for 6 h: ', 'blind-for-6h', { ...task, blind: 2 }, rules) : []),
    ...(isOver ? inputs('it has waited: ', 'wait-over', task, rules) : []),
  ];
}

function lookMoves(task: TaskState, rules: Rules): readonly Move[] {
  const hears = (look: GuardInput): readonly Move[] =>
    inputs('the guard sees ', look, { ...task, look: 'none', blind: 0 }, rules);
  if (task.look !== 'none')
    return [...hears(task.look), { what: 'the answer to a look is lost', to: { ...task, look: 'none' } }];
  const answers = answersTo(task);
  if (!rules.hasLateLooks) return answers.flatMap(hears);
  return answers.map((look) => ({ what: `the agent answers a look: ${look}`, to: { ...task, look } }));
}

function answersTo(task: TaskState): readonly GuardInput[] {
  if (task.guard === 'leasing') return [task.protection >= ASKED_BELOW ? 'lease-read' : 'no-lease-read'];
  const seen = judgeLook(task);
  return seen === 'lease-seen' ? [seen, 'renewal-due'] : [seen];
}

/** One PUT at a time: the one under way ends first. */
function inputs(what: string, input: GuardInput, task: TaskState, rules: Rules): readonly Move[] {
  if (task.write !== 'none' && sendsWrite(task, input, rules.table)) return [];
  return fed(`${what}${input}`, task, input, rules);
}

function daemonMoves(task: TaskState, rules: Rules): readonly Move[] {
  const becomes = (what: string, daemon: TaskState['daemon'], takesJob = false): Move => ({
    what,
    to: { ...task, daemon, unitsOfJob: 0 },
    takesJob,
  });
  const exits = (what: string): readonly Move[] =>
    task.write === 'none' || task.guard === 'stopping'
      ? fed(what, { ...task, daemon: 'none' }, 'daemon-exited', rules)
      : [];
  switch (task.daemon) {
    case 'starting':
      return task.ecs === 'chosen' && rules.stopsPromptly
        ? []
        : [becomes('the daemon registers', 'idle'), ...exits('the daemon dies')];
    case 'idle':
      return [becomes('the daemon is handed a job', 'busy', true), ...exits('the daemon dies')];
    case 'busy':
      return [becomes('the job ends', 'idle'), ...exits('the daemon dies')];
    case 'finishing':
      return [becomes('the job ends', 'exiting')];
    case 'exiting':
      return exits('the daemon exits');
    case 'none':
      return [];
    default:
      return task.daemon satisfies never;
  }
}

function fed(what: string, task: TaskState, input: GuardInput, { table }: Rules): readonly Move[] {
  const result: Fed = feed(task, input, table);
  if (result.kind === 'goes-on') return [{ what, to: result.task }];
  return [{ what, to: undefined, ...(result.overJob ? { fails: OVER_JOB } : {}) }];
}

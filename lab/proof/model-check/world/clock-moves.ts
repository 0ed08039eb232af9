/**
 * What can happen to one task in guards.ts. Calls of its guard are in flight for a while, and may
 * take effect without an answer, be refused or be lost. Its looks may fail for any time.
 */
import type { GuardInput, GuardTable } from '../../../world/task/guard-table.ts';
import { feed, judgeLook, type Move, sendsWrite } from './guard-step.ts';
import { ASKED_BELOW, holdsJob, isAtRisk, type ModelTask, PUTS, UNPROTECTED } from './task.ts';

export type Rules = {
  readonly table: GuardTable;
  /** What a drain request leaves of a lease, in units plus one. */
  readonly ask: number;
  /** Whether the answer to a look may come late, when it is no longer true. */
  readonly hasLateLooks: boolean;
  /** Whether a daemon that starts after ECS has chosen its task is stopped before coderd hands it a job. */
  readonly stopsPromptly: boolean;
  /** Whether a job of a draining daemon ends within the units that it may take. */
  readonly drainsInTime: boolean;
};

/** Every step of a task except the passing of time. */
export function movesOf(task: ModelTask, rules: Rules): readonly Move[] {
  return [
    ...asks(task, rules),
    ...ecsMoves(task),
    ...(task.ecs === 'pending'
      ? []
      : [...writeMoves(task, rules), ...guardMoves(task, rules), ...daemonMoves(task, rules)]),
  ];
}

/** The task six hours later; undefined while something is in progress that takes minutes at most. */
export function later(task: ModelTask, { drainsInTime }: Rules): ModelTask | undefined {
  if (task.ecs === 'pending') return { ...task, protection: Math.max(UNPROTECTED, task.protection - 1) };
  const isBrief =
    task.ecs === 'chosen' ||
    task.guard === 'leasing' ||
    task.guard === 'left' ||
    task.guard === 'died' ||
    task.write !== 'none' ||
    task.look !== 'none' ||
    task.daemon === 'exiting';
  // By then a guard that could not look for a unit has drained, and a job of a draining daemon has
  // ended.
  const isJobOver = drainsInTime && task.daemon === 'finishing' && task.unitsOfJob === 0;
  if (isBrief || task.blind === 1 || isJobOver) return undefined;
  return {
    ...task,
    protection: Math.max(UNPROTECTED, task.protection - 1),
    blind: task.guard === 'working' && task.blind === 0 ? 1 : task.blind,
    unitsOfJob: Math.max(0, task.unitsOfJob - 1),
  };
}

function asks(task: ModelTask, { ask }: Rules): readonly Move[] {
  return [{ what: 'the autoscaler sends it a drain request', to: { ...task, protection: ask } }];
}

/** The count and the revisions are always the worst ones: ECS may stop any unprotected task. */
function ecsMoves(task: ModelTask): readonly Move[] {
  if (task.ecs === 'chosen') {
    const wasHandedJob = task.daemon === 'idle' || holdsJob(task);
    const fails = wasHandedJob ? { fails: 'ECS stops a task whose daemon holds a job or may get one' } : {};
    return [{ what: 'ECS tells it to stop', to: undefined, ...fails }];
  }
  const run: Move = {
    what: 'starts to run; the guard sends PUT 48 h',
    to: { ...task, ecs: 'running', write: 'lease' },
  };
  const starts = task.ecs === 'pending' ? [run] : [];
  if (task.protection !== UNPROTECTED) return starts;
  const what = 'ECS chooses to stop it';
  if (isAtRisk(task))
    return [...starts, { what, to: task, fails: 'ECS stops a task whose daemon holds a job or may get one' }];
  // The time between the choice and the stop matters only for a guard that may still start its
  // daemon.
  const mayStartDaemon = task.ecs === 'running' && task.guard === 'leasing';
  return [...starts, { what, to: mayStartDaemon ? { ...task, ecs: 'chosen' } : undefined }];
}

function writeMoves(task: ModelTask, rules: Rules): readonly Move[] {
  const { write } = task;
  if (write === 'none') return [];
  const done: ModelTask = { ...task, write: 'none' };
  const taken: ModelTask = {
    ...done,
    protection: PUTS[write],
  };
  const answered = (what: string, to: ModelTask, input: GuardInput): readonly Move[] =>
    write === 'lease' ? feedMoves(what, to, input, rules) : [{ what, to }];
  const refusal = task.isRefused ? 'renewal-refused-again' : 'renewal-refused';
  return [
    ...answered(`PUT ${write} takes effect`, { ...taken, isRefused: false }, 'renewed'),
    ...answered(`PUT ${write} takes effect, but its answer is lost`, taken, 'renewal-unanswered'),
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

function guardMoves(task: ModelTask, rules: Rules): readonly Move[] {
  const { guard, blind } = task;
  const hasDaemonExited = guard === 'left' || guard === 'died';
  if (guard === 'ended' || blind === 3) return [];
  return [
    ...lookMoves(task, rules),
    ...(guard === 'leasing' ? inputs('10 min are over: ', 'lease-time-over', task, rules) : []),
    ...(guard === 'working' ? inputs('', 'keeper-ended', { ...task, look: 'none', blind: 3 }, rules) : []),
    ...(hasDaemonExited ? inputs('a look fails: ', 'blind', task, rules) : []),
    ...(blind > 0 ? inputs('looks have failed for 6 h: ', 'blind-for-6h', { ...task, blind: 2 }, rules) : []),
    ...(hasDaemonExited ? inputs('its wait is over: ', 'wait-over', task, rules) : []),
  ];
}

function lookMoves(task: ModelTask, rules: Rules): readonly Move[] {
  const hears = (look: GuardInput): readonly Move[] =>
    inputs('the guard sees ', look, { ...task, look: 'none', blind: 0 }, rules);
  if (task.look !== 'none')
    return [...hears(task.look), { what: 'the answer to a look is lost', to: { ...task, look: 'none' } }];
  const answers = answersTo(task);
  if (!rules.hasLateLooks) return answers.flatMap(hears);
  return answers.map((look) => ({ what: `the agent answers a look: ${look}`, to: { ...task, look } }));
}

function answersTo(task: ModelTask): readonly GuardInput[] {
  if (task.guard === 'leasing') return [task.protection >= ASKED_BELOW ? 'lease-read' : 'no-lease-read'];
  const seen = judgeLook(task);
  return seen === 'lease-seen' ? [seen, 'renewal-due'] : [seen];
}

/** The steps of an input. The guard sends one PUT at a time, so an input that sends one waits. */
function inputs(what: string, input: GuardInput, task: ModelTask, rules: Rules): readonly Move[] {
  if (task.write !== 'none' && sendsWrite(task, input, rules.table)) return [];
  return feedMoves(`${what}${input}`, task, input, rules);
}

function daemonMoves(task: ModelTask, rules: Rules): readonly Move[] {
  const becomes = (what: string, daemon: ModelTask['daemon'], takesJob = false): Move => ({
    what,
    to: { ...task, daemon, unitsOfJob: 0 },
    takesJob,
  });
  const exits = (what: string): readonly Move[] =>
    task.write === 'none' || task.guard === 'stopping'
      ? feedMoves(what, { ...task, daemon: 'none' }, 'daemon-exited', rules)
      : [];
  switch (task.daemon) {
    case 'starting':
      return task.ecs === 'chosen' && rules.stopsPromptly
        ? []
        : [becomes('the daemon registers', 'idle'), ...exits('the daemon dies')];
    case 'idle':
      return [becomes('coderd hands the daemon a job', 'busy', true), ...exits('the daemon dies')];
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

function feedMoves(what: string, task: ModelTask, input: GuardInput, { table }: Rules): readonly Move[] {
  return [feed(what, task, input, table)];
}

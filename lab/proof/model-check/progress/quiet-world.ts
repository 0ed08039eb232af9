/**
 * A quiet world: agents answer, calls arrive, jobs end, no deployment starts, looks see the current
 * state. ECS refuses calls as one reading of DEPLOYMENT_BLOCKED says (docs/internals/aws.md §1).
 */
import { isBlocked, type RuleReading } from '../../../world/ecs/protection.ts';
import type { GuardInput, GuardTable } from '../../../world/task/guard-table.ts';
import type { Decider, Write } from '../deciders/decider.ts';
import { seenByCoder, seenByEcs } from '../deciders/view.ts';
import { feed, judgeLook } from '../world/guard-step.ts';
import { missingIn, type Scheduled, surplusIn } from '../world/scheduler.ts';
import {
  ASK,
  ASKED_BELOW,
  keyOf as keyOfTask,
  LEASE,
  type ModelTask,
  NEW_TASK,
  PUTS,
  UNPROTECTED,
} from '../world/task.ts';

export type QuietWorld = {
  readonly tasks: readonly (ModelTask | undefined)[];
  readonly desired: number;
  readonly pending: number;
  readonly isDeploying: boolean;
  /** Whether ECS said that it cannot place a task, and has started none since. */
  readonly isUnplaced: boolean;
};

export type QuietRules = {
  readonly table: GuardTable;
  readonly reading: RuleReading;
  readonly decider: Decider;
};

/** Number of looks, a minute apart, before any wait of ten minutes ends. */
const LOOKS = 6;

/** Every world that may exist half an hour later: chance decides about victims and who is asked first. */
export function afterRound(world: QuietWorld, rules: QuietRules): readonly QuietWorld[] {
  const minute = (worlds: readonly QuietWorld[]): readonly QuietWorld[] =>
    distinct(worlds.map((it) => minutesPass(it, rules)).flatMap((it) => schedule(it, rules.reading))).map(
      (it) => minutesPass(it, rules),
    );
  let worlds = minute([world]);
  for (let count = 0; count < LOOKS; count++) worlds = minute(worlds.flatMap((it) => oneLook(it, rules)));
  return worlds.map((it) => timeIsOver(it, rules));
}

function distinct(worlds: readonly QuietWorld[]): readonly QuietWorld[] {
  if (worlds.length < 2) return worlds;
  const keyOf = ({ tasks, desired, pending, isDeploying, isUnplaced }: QuietWorld): string =>
    `${tasks.map(keyOfTask).sort().join()} ${desired} ${pending} ${isDeploying} ${isUnplaced}`;
  return [...new Map(worlds.map((world) => [keyOf(world), world])).values()];
}

/** Whether the pool has settled: no drain request, no old task, and as many working tasks as wanted. */
export function isSettled({ tasks, desired, pending, isDeploying }: QuietWorld, min: number): boolean {
  const there = tasks.filter((task) => task !== undefined);
  return (
    pending === 0 &&
    !isDeploying &&
    desired === min &&
    there.length === min &&
    there.every(
      ({ guard, daemon, revision, row, protection }) =>
        guard === 'working' &&
        daemon === 'idle' &&
        revision === 'new' &&
        row === 'live' &&
        protection === LEASE,
    )
  );
}

function minutesPass(world: QuietWorld, rules: QuietRules): QuietWorld {
  let now = world;
  for (;;) {
    const next = changeEach(now, (task, all) => nextChange(task, all, rules));
    if (next === undefined) return now;
    now = next;
  }
}

/** What becomes of a task without ECS's answers; the same for all readings. */
export function calmed(task: ModelTask, table: GuardTable): ModelTask {
  let now = task;
  for (;;) {
    const change = nextChange(now, ALONE, { table });
    if (change?.task === undefined) return now;
    now = change.task;
  }
}

/** Stands for no world: PUTs that ECS might refuse are not answered. */
const ALONE = undefined;

type Around = QuietWorld | typeof ALONE;
type GuardRules = { readonly table: GuardTable; readonly reading?: RuleReading };
type Change = { readonly task: ModelTask | undefined; readonly takesJob?: boolean };
type ChangeOf = (task: ModelTask, world: QuietWorld) => Change | undefined;

/** The world after each task has changed once; undefined if none changes. */
function changeEach(world: QuietWorld, changeOf: ChangeOf): QuietWorld | undefined {
  let now = world;
  for (const [slot, task] of world.tasks.entries()) {
    const change = task && changeOf(task, now);
    if (change === undefined) continue;
    const pending = now.pending - (change.takesJob === true ? 1 : 0);
    now = { ...now, pending, tasks: now.tasks.with(slot, change.task) };
  }
  return now === world ? undefined : now;
}

function nextChange(task: ModelTask, world: Around, rules: GuardRules): Change | undefined {
  if (task.ecs === 'pending') return { task: { ...task, ecs: 'running' } };
  const daemon = daemonChange(task, world);
  if (daemon !== undefined) return daemon;
  if (task.daemon === 'exiting')
    return afterInput({ ...task, daemon: 'none' }, 'daemon-exited', world, rules);
  if (task.row === 'live' && task.daemon === 'none') return { task: { ...task, row: 'offline' } };
  if (task.guard === 'leasing')
    return afterInput(task, task.protection >= ASKED_BELOW ? 'lease-read' : 'no-lease-read', world, rules);
  return afterInput(task, judgeLook(task), world, rules);
}

function daemonChange(task: ModelTask, world: Around): Change | undefined {
  switch (task.daemon) {
    case 'starting':
      return task.row === 'young' ? { task: { ...task, daemon: 'idle', row: 'live' } } : undefined;
    case 'idle':
      // Its key is gone, and its session ends soon: it redials without end (docs/internals/coder.md
      // §3).
      if (task.row === 'none') return { task: { ...task, daemon: 'starting' } };
      return (world?.pending ?? 0) > 0 ? { task, takesJob: true } : undefined;
    case 'busy':
      return { task: { ...task, daemon: 'idle' } };
    case 'finishing':
      return { task: { ...task, daemon: 'exiting', unitsOfJob: 0 } };
    default:
      return undefined;
  }
}

/** The task after an input, with ECS's answer to its PUT; undefined if nothing changes. */
function afterInput(
  task: ModelTask,
  input: GuardInput,
  world: Around,
  rules: GuardRules,
): Change | undefined {
  const { to } = feed('', task, input, rules.table);
  if (to === undefined) return { task: undefined };
  if (world === ALONE && (to.write === 'lease' || to.write === 'hold')) return undefined;
  const next = settleWrite(to, world, rules);
  const isSame =
    next.guard === task.guard && next.protection === task.protection && next.daemon === task.daemon;
  return isSame ? undefined : { task: next };
}

function settleWrite(task: ModelTask, world: Around, { reading }: GuardRules): ModelTask {
  const { write } = task;
  if (write === 'none') return task;
  const isRefused = write !== 'release' && world !== ALONE && refuses(task, world, reading);
  return { ...task, write: 'none', protection: isRefused ? task.protection : PUTS[write] };
}

const NOTHING_REFUSED: RuleReading = { calls: 'off', tasks: 'all' };

function refuses(task: ModelTask, world: QuietWorld, reading: RuleReading = NOTHING_REFUSED): boolean {
  const protectableOf = ({ protection, revision }: ModelTask) => ({
    isProtected: protection !== UNPROTECTED,
    startedBy: revision,
  });
  const tasks = world.tasks.filter((it) => it !== undefined).map(protectableOf);
  const cleanup = world.isDeploying ? undefined : reading.cleanup;
  return isBlocked(
    protectableOf(task),
    { desiredCount: world.desired, primaryId: 'new', tasks, cleanup },
    reading,
  );
}

/** The scheduler of ECS: stops unprotected old tasks, stops surplus tasks, starts missing ones. */
function schedule(world: QuietWorld, reading: RuleReading): readonly QuietWorld[] {
  const isFree = (task: ModelTask | undefined): boolean => task?.protection === UNPROTECTED;
  const kept = world.tasks.map((task) => (isFree(task) && task?.revision === 'old' ? undefined : task));
  const free = [...kept.keys()].filter((slot) => isFree(kept[slot]));
  const surplus = Math.min(surplusIn(scheduledOf({ ...world, tasks: kept }, reading)), free.length);
  return choices(free, surplus).map((victims) => {
    const left = kept.map((task, slot) => (victims.includes(slot) ? undefined : task));
    const next = started({ ...world, tasks: left }, reading);
    const isUnplaced = world.isUnplaced && !next.tasks.some((task, slot) => task !== left[slot]);
    return completed({ ...next, isUnplaced }, reading);
  });
}

function started(world: QuietWorld, reading: RuleReading): QuietWorld {
  let missing = missingIn(scheduledOf(world, reading));
  return { ...world, tasks: world.tasks.map((task) => task ?? (missing-- > 0 ? NEW_TASK : undefined)) };
}

function scheduledOf({ tasks, desired, isDeploying }: QuietWorld, { cleanup }: RuleReading): Scheduled {
  const revisions = tasks.flatMap((task) => (task === undefined ? [] : { deploymentId: task.revision }));
  return { desired, revisions, countsOld: isDeploying || cleanup?.counts !== false };
}

function completed(world: QuietWorld, { cleanup }: RuleReading): QuietWorld {
  const there = world.tasks.filter((task) => task !== undefined);
  const fresh = there.filter(({ revision }) => revision === 'new');
  const running = fresh.filter(({ ecs }) => ecs === 'running').length;
  const isClean = running >= world.desired && fresh.length === there.length;
  const isOver = isClean || (cleanup !== undefined && running > 0);
  return world.isDeploying && isOver ? { ...world, isDeploying: false } : world;
}

function choices(from: readonly number[], count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  return from.flatMap((first, at) => choices(from.slice(at + 1), count - 1).map((rest) => [first, ...rest]));
}

function oneLook(world: QuietWorld, rules: QuietRules): readonly QuietWorld[] {
  const { tasks, desired, pending, isDeploying, isUnplaced } = world;
  const ecs = { tasks: tasks.map((task) => seenByEcs(task)), desired, isDeploying, isUnplaced };
  const lists = rules.decider(ecs, { daemons: tasks.map(seenByCoder), pending });
  return lists.map((writes) => writes.reduce((now, write) => afterWrite(now, write, rules), world));
}

function afterWrite(world: QuietWorld, write: Write, rules: QuietRules): QuietWorld {
  if (write.kind === 'set') return { ...world, desired: write.desired };
  const asked = (task: ModelTask): ModelTask =>
    refuses(task, world, rules.reading) ? task : { ...task, protection: ASK };
  return {
    ...world,
    tasks: world.tasks.map((task, slot) => (task && write.slots.includes(slot) ? asked(task) : task)),
  };
}

/** Ends what takes ten minutes to an hour: waits, and renewals that were refused twice. */
function timeIsOver(world: QuietWorld, rules: QuietRules): QuietWorld {
  const next = changeEach(world, (task, all) => {
    if (task.guard === 'leasing') return afterInput(task, 'lease-time-over', all, rules);
    if (task.guard === 'left' || task.guard === 'died') return afterInput(task, 'wait-over', all, rules);
    const isRefused =
      task.guard === 'working' && task.protection >= ASKED_BELOW && refuses(task, all, rules.reading);
    return isRefused ? afterInput(task, 'renewal-refused-again', all, rules) : undefined;
  });
  return next ?? world;
}

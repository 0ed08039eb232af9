/** Words the reasons and overrides of a plan as sentences. */
import type { DaemonCounts, Doubt, Override, Reason, ReasonOf } from '../decision/model/plan.ts';
import { ageText, few, readingPhrase, some, timeText, transitionsText } from './format.ts';
import { oldSecretText } from './secret-text.ts';
import { startHint } from './start-hints.ts';

export function reasonSentence(reason: Reason): string {
  return (WORDS[reason.code] as (reason: Reason) => string)(reason);
}

/** Words the reasons of a pool by its counts, which tell tasks that have just left from those without a lease. */
export function reasonIn({ unguarded }: Pick<DaemonCounts, 'unguarded'>): (reason: Reason) => string {
  return (reason) =>
    reason.code === 'holding-for-unguarded' && unguarded === 0
      ? justLeftText(reason)
      : reasonSentence(reason);
}

const WORDS: { readonly [Code in Reason['code']]: (reason: ReasonOf<Code>) => string } = {
  'pending-jobs': ({ jobs }) => `${some(jobs, 'pending job')} ${jobs === 1 ? 'needs' : 'need'} a new task`,
  'served-by-free': ({ jobs }) => `free daemons will take ${some(jobs, 'pending job')}`,
  'served-by-starting': ({ jobs }) => `starting daemons will take ${some(jobs, 'pending job')}`,
  'served-by-busy': ({ jobs }) =>
    `${some(jobs, 'pending job')} ${jobs === 1 ? 'waits' : 'wait'} for a busy daemon`,
  'left-to-peers': ({ jobs, peers, until }) =>
    `${some(jobs, 'pending job')} ${jobs === 1 ? 'is' : 'are'} left to stack ${peers.join(', ')} until ${timeText(until)}`,
  floor: ({ from, count }) => FLOORS[from](count),
  stock: stockText,
  'holding-for-record': ({ tasks }) =>
    `${some(tasks, 'idle daemon')} kept: the autoscaler has not learned from enough builds yet`,
  'making-room': ({ tasks }) =>
    `draining ${some(tasks, 'idle daemon')}: a limit over all pools is reached and another pool needs capacity`,
  'awake-for': ({ for: due }) => `needs a daemon for ${transitionsText(due)}`,
  'holding-for-forecast': () =>
    'last daemon kept: the forecast of what coderd will do is incomplete (see findings)',
  'not-woken-for': ({ for: due }) => `starts no daemon for ${transitionsText(due)} (see findings)`,
  prewarm: ({ daemons, due }) =>
    `prepares ${some(daemons, 'daemon')} for ${some(due, 'job')} that coderd is about to create`,
  'capped-at-prewarm-max': ({ due, max }) =>
    `${some(due, 'job')} due, limited to ${some(max, 'daemon')} by max until coderd creates the jobs`,
  'launching-for-jobs-only': ({ wanted }) =>
    `needs ${some(wanted, 'task')}, but only pending jobs launch tasks now (see findings)`,
  'launching-to-be-seen': () =>
    'launches 1 task, so that coderd sees a daemon of this pool (one an hour while coderd lists none, or heartbeats look old)',
  'launching-beside-unseen': ({ tasks }) =>
    `launches 1 task beside ${tasks === 1 ? 'one whose daemon' : `${tasks} whose daemons`} coderd does not list. If the new daemon registers, the others get replaced`,
  pinned: (reason) => `needs ${some(reason.wanted, 'task')}, pinned at ${reason.count} ${originText(reason)}`,
  'above-pin': ({ tasks }) =>
    `${some(tasks, 'task')} above the pin. Running builds finish; idle daemons drain after idleTimeout`,
  paused: (reason) => `paused ${originText(reason)}: no launch, no drain`,
  'scale-in-paused': (reason) => `scale-in paused ${originText(reason)}`,
  'retiring-waits': retiringText,
  retired: () => 'no tasks remain. Remove the pool from the configuration',
  'capped-at-max': ({ wanted, max }) => `needs ${some(wanted, 'task')}, limited to ${max} by max`,
  'on-demand-instead': insteadText,
  'capped-at-max-tasks': (reason) =>
    `needs ${some(reason.wanted, 'task')}, limited to ${reason.granted} by limits.maxTasks ${reason.maxTasks}${addedWaitText(reason)}`,
  'capped-at-dollars-per-hour': (reason) =>
    `needs ${some(reason.wanted, 'task')}, limited to ${reason.granted} by limits.dollarsPerHour ${reason.dollarsPerHour}${addedWaitText(reason)}`,
  'capped-at-prebuilds-max-tasks': ({ jobs, maxTasks }) =>
    `${some(jobs, 'prebuild')} on hold: launches for prebuilds stop at ${some(maxTasks, 'task')} (4/5 of max)`,
  'left-to-next-look': ({ to, changes }) =>
    `the desired count becomes ${to} at a later look: a look changes ${changes} counts, so that ECS refuses none`,
  'idle-long-enough': ({ tasks }) => `draining ${some(tasks, 'idle daemon')}`,
  'idle-too-briefly': ({ tasks }) => `${some(tasks, 'idle daemon')} will drain after idleTimeout`,
  retiring: (reason) => `${some(reason.tasks, 'task')} of a retiring pool: ${turnText(reason)}`,
  'no-daemon': (reason) =>
    `${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'holds' : 'hold'} a lease and ${reason.tasks === 1 ? 'has' : 'have'} no daemon: ${turnText(reason)}`,
  'wrong-key': (reason) =>
    `${some(reason.tasks, 'daemon')} ${reason.tasks === 1 ? 'has' : 'have'} the wrong provisioner key: ${turnText(reason)}`,
  'old-revision': (reason) => `${some(reason.tasks, 'task')} of an old revision: ${turnText(reason)}`,
  'old-secret': oldSecretText,
  protecting: ({ tasks }) =>
    `protecting ${some(tasks, 'task')} that ${tasks === 1 ? 'has' : 'have'} no guard`,
  'tasks-left': ({ tasks }) => `${some(tasks, 'task')} ${tasks === 1 ? 'has' : 'have'} drained`,
  'includes-leaving': ({ tasks }) =>
    `the desired count includes ${some(tasks, 'leaving task')} until ECS has stopped ${tasks === 1 ? 'it' : 'them'}`,
  'count-below-tasks': ({ desired, tasks, to }) =>
    `desired count ${desired} is lower than the ${some(tasks, 'task')} that ${tasks === 1 ? 'has' : 'have'} not drained${to < tasks ? `, limited to ${to} by max` : ''}`,
  'holding-for-starting': ({ tasks }) =>
    `desired count not lowered while ${some(tasks, 'task')} ${tasks === 1 ? 'is' : 'are'} starting`,
  'holding-for-unguarded': ({ tasks }) =>
    `scale-in on hold: ${some(tasks, 'task')} without a lease, until coderd lists ${tasks === 1 ? 'its daemon' : 'their daemons'} as offline`,
  'holding-for-deployment': () =>
    'idle daemons stay and the desired count does not fall while a deployment is in progress',
  'holding-for-doubt': ({ doubts }) =>
    `${areJobsUnknown(doubts) ? 'launches for jobs and ' : ''}scale-in on hold: ${doubts.map(doubtPhrase).join(', ')}`,
  'starts-failing': (reason) =>
    `${reason.failures === 0 ? 'tasks do not start' : `ECS lists ${some(reason.failures, 'failed start')} since the last success`}, ${TRIES[reason.tries]} (needs ${some(reason.wanted, 'task')}, gets ${reason.granted}). Cause: ${startHint(reason.reason)}`,
  'role-untried': ({ wanted, granted }) =>
    `needs ${some(wanted, 'task')}, gets ${granted} for now: no task has had a lease with its new role yet (bindTaskRoles). The others launch once one has`,
  'starts-unread': ({ wanted, granted }) =>
    `needs ${some(wanted, 'task')}, gets ${granted} for now: without the unread lists nothing tells whether starts fail. One more may start each 10 min`,
  'counts-unread-pools': ({ pools }) =>
    `the limit counts ${some(
      pools.reduce((all, { tasks }) => all + tasks, 0),
      'task',
    )} of pools whose services cannot be read: ${few(pools.map(({ pool, tasks, from }) => `${pool} ${tasks} (${UNREAD[from]})`))}`,
  'placement-failing': (reason) =>
    `ECS has failed to place ${reason.tasks === 0 ? 'tasks' : some(reason.tasks, 'task')} since ${timeText(reason.since)}, trying one task at a time (needs ${some(reason.wanted, 'task')}, gets ${reason.granted}). Cause: ${startHint(reason.reason)}`,
  'starts-throttled': ({ tasks, since, waitedMs }) =>
    `ECS has not tried to start ${some(tasks, 'task')} for ${ageText(waitedMs / 1000)}, since a start failed at ${timeText(since)}. It waits longer after each failure, up to 27 min`,
  'waiting-for-vacant': ({ tasks }) =>
    `launches on hold until ECS stops ${some(tasks, 'task')} whose daemon never registered`,
  'license-missing': ({ wanted }) =>
    `needs ${some(wanted, 'task')} and launches none: coderd has no license for external daemons and refuses them`,
  'server-too-old': ({ version, oldest }) => `coderd ${version} is too old. Upgrade it to ${oldest} or newer`,
  'no-service': () => "not exactly one ECS service has this pool's tag (see findings)",
  'nothing-to-do': () => 'nothing to do',
};

const UNREAD = {
  tasks: 'listed by ECS',
  memory: 'as last seen',
  max: 'its max, as nothing is known',
} as const;

const TRIES: Readonly<Record<ReasonOf<'starts-failing'>['tries'], string>> = {
  few: 'trying few tasks at a time',
  one: 'trying one task at a time',
  later: 'pausing before the next try',
};

/**
 * `keeps 2 daemons free, learned from 31 builds in 40 h. Rule: 3 free until 1 h after the last
 * build, spare ones stay 10 min. Weighted for this hour, it costs $0.31 an hour ($0.18 tasks, $0.13
 * waiting), with 2 free $0.33, with 5 free $0.39`.
 */
function stockText(reason: ReasonOf<'stock'>): string {
  const { daemons, learned } = reason;
  const kept = `keeps ${some(daemons, 'daemon')} free`;
  const rule = `Rule: ${ruleText(reason)}${wouldHaveText(reason)}`;
  if (learned === null) return `${kept}, nothing learned from builds yet. ${rule}`;
  const { builds, hours, dollarsPerHour, others } = learned;
  const { tasks, waiting } = dollarsPerHour;
  const digits = tasks + waiting < 0.1 ? 3 : 2;
  const dollars = (amount: number): string => `$${amount.toFixed(digits)}`;
  const alternatives = others.map((other) => {
    const isCheaper = other.dollarsPerHour < tasks + waiting;
    return `with ${other.free} free ${dollars(other.dollarsPerHour)}${isCheaper ? ' (not clearly cheaper yet)' : ''}`;
  });
  const costs = [
    `${dollars(tasks + waiting)} an hour (${dollars(tasks)} tasks, ${dollars(waiting)} waiting)`,
  ];
  return `${kept}, learned from ${some(builds, 'build')} in ${periodText(hours)}. ${rule}. Weighted for this hour, it costs ${[...costs, ...alternatives].join(', ')}`;
}

function ruleText({ free, spare, spareMinutes, afterBuildMinutes, countsBusy }: ReasonOf<'stock'>): string {
  if (free === 0) return `idle daemons stay ${minutesText(spareMinutes)}`;
  const counted = countsBusy ? 'free or busy' : 'free';
  const until =
    afterBuildMinutes === null ? '' : ` until ${minutesText(afterBuildMinutes)} after the last build`;
  const now = spare === 0 ? '' : ` (${spare} now)`;
  return `${free} ${counted}${until}, spare ones${now} stay ${minutesText(spareMinutes)}`;
}

function wouldHaveText({ wouldHave }: ReasonOf<'stock'>): string {
  return wouldHave === null ? '' : ` (it would have ${wouldHave} by now, busy ones included)`;
}

function minutesText(minutes: number): string {
  return minutes < 60 ? `${minutes} min` : `${minutes / 60} h`;
}

function periodText(hours: number): string {
  if (hours < 1) return `${Math.round(hours * 60)} min`;
  return hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`;
}

function addedWaitText({ waitMinutesPerHour }: { readonly waitMinutesPerHour: number }): string {
  return waitMinutesPerHour === 0 ? '' : `; people wait ${waitMinutesPerHour} more minutes an hour`;
}

const FLOORS: Readonly<Record<ReasonOf<'floor'>['from'], (count: number) => string>> = {
  min: (count) => `min keeps ${some(count, 'task')}`,
  warm: (count) => `warm keeps ${some(count, 'daemon')}, busy ones included`,
  schedule: (count) => `a schedule keeps ${some(count, 'daemon')}, busy ones included`,
  pin: (count) => `a pin keeps ${some(count, 'task')}`,
  override: (count) => `an override keeps ${some(count, 'task')}`,
};

export function overrideText({ kind, count = 0, ...origin }: Override): string {
  const effect = {
    pause: 'paused',
    'pause-scale-in': 'scale-in paused',
    pin: `pinned at ${some(count, 'task')}`,
    floor: `at least ${some(count, 'task')}`,
  };
  return `${effect[kind]} ${originText(origin)}`;
}

function retiringText({ starting, leaving, unguarded }: ReasonOf<'retiring-waits'>): string {
  const parts = [
    ...(leaving > 0 ? [some(leaving, 'draining task')] : []),
    ...(starting > 0 ? [some(starting, 'starting task')] : []),
    ...(unguarded > 0 ? [`${some(unguarded, 'task')} without a lease`] : []),
  ];
  const stuck =
    unguarded > 0
      ? '. The autoscaler cannot drain tasks without a lease: remove the pool when no build runs in it'
      : '';
  return `waits for ${parts.join(', ')}${stuck}`;
}

function originText({ until, by, why }: Pick<Override, 'until' | 'by' | 'why'>): string {
  return `until ${timeText(until)} by ${by} (${why})`;
}

/** How many of the tasks to be replaced get a drain request now. */
function turnText({ tasks, asked }: { readonly tasks: number; readonly asked: number }): string {
  if (asked === 0) return `waiting for ${tasks === 1 ? 'its' : 'their'} turn to be replaced`;
  if (asked < tasks) return `draining ${asked} of them`;
  return `draining ${tasks === 1 ? 'it' : 'them'}`;
}

/** A task that has just left has no lease either, and its daemon reads idle for up to 90 s. */
function justLeftText({ tasks }: ReasonOf<'holding-for-unguarded'>): string {
  return `${some(tasks, 'task')} ${tasks === 1 ? 'has' : 'have'} left; the desired count follows within about 90 s`;
}

/** Whether no pending job can be seen, so that none launches a task. */
function areJobsUnknown(doubts: readonly Doubt[]): boolean {
  return doubts.some((doubt) => doubt === 'jobs-failed' || doubt === 'jobs-forbidden');
}

function doubtPhrase(doubt: Doubt): string {
  switch (doubt) {
    case 'organization-unknown':
      return 'coderd does not list its organization';
    case 'daemons-empty-while-leased':
      return 'coderd lists no daemons, but tasks hold leases';
    case 'jobs-empty-while-busy':
      return 'coderd lists no jobs, but daemons are busy';
    case 'worker-unknown':
      return 'coderd does not list the daemon of a running job';
    case 'daemons-share-task':
      return 'several daemons may be that of one task';
    case 'heartbeats-old':
      return 'the heartbeats of its daemons look old (see findings)';
    case 'clocks-differ':
      return 'clocks differ (see findings)';
    case 'server-too-old':
      return 'coderd is too old';
    case 'license-missing':
      return 'coderd has no license for external daemons, so no daemon could take the place of another';
    case 'tasks-fewer-than-counted':
      return 'ECS lists fewer tasks than it counts';
    case 'count-contested':
      return 'others keep changing the desired count (see findings)';
    case 'override-malformed':
      return 'an override is invalid (see findings)';
    case 'scale-in-paused':
      return 'scale-in is paused';
    default:
      return readingPhrase(doubt);
  }
}

function insteadText(reason: ReasonOf<'on-demand-instead'>): string {
  const lost = `AWS took back ${some(reason.interruptions, 'Spot task')} in the last hour`;
  const why = {
    'placement-failing': 'ECS cannot place Spot tasks',
    'starts-failing': 'Spot tasks fail to start',
    'no-service': 'the pool has no service on Spot',
    interrupted: `${lost}. With the lost builds a Spot task costs $${reason.spotDollarsPerHour.toFixed(2)} an hour`,
  }[reason.because];
  return `launching on demand: ${why}`;
}

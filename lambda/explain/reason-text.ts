/** Words the reasons and overrides of a plan as sentences. */
import type { Doubt, Override, Reason } from '../decision/model/plan.ts';
import { readingPhrase, some, timeText, transitionsText } from './format.ts';
import { oldSecretText } from './secret-text.ts';
import { startHint } from './start-hint.ts';

/** One reason as a sentence. */
export function reasonSentence(reason: Reason): string {
  switch (reason.code) {
    case 'pending-jobs':
      return `${some(reason.jobs, 'pending job')} ${reason.jobs === 1 ? 'needs' : 'need'} a new task`;
    case 'served-by-free':
      return `free daemons will take ${some(reason.jobs, 'pending job')}`;
    case 'served-by-starting':
      return `starting daemons will take ${some(reason.jobs, 'pending job')}`;
    case 'floor':
      return FLOORS[reason.from](reason.count);
    case 'stock':
      return stockText(reason);
    case 'holding-for-record':
      return `${some(reason.tasks, 'idle daemon')} kept: the autoscaler has not learned from enough builds yet`;
    case 'making-room':
      return `draining ${some(reason.tasks, 'idle daemon')}: a limit over all pools is reached and another pool needs capacity`;
    case 'awake-for':
      return `needs a daemon for ${transitionsText(reason.for)}`;
    case 'holding-for-forecast':
      return 'last daemon kept: the forecast of what coderd will do is incomplete (see findings)';
    case 'not-woken-for':
      return `starts no daemon for ${transitionsText(reason.for)} (see findings)`;
    case 'prewarm':
      return `prepares ${some(reason.daemons, 'daemon')} for ${some(reason.due, 'job')} that coderd is about to create`;
    case 'capped-at-prewarm-max':
      return `${some(reason.due, 'job')} due, limited to ${some(reason.max, 'daemon')} by prewarm.max until coderd creates the jobs`;
    case 'launching-for-jobs-only':
      return `needs ${some(reason.wanted, 'task')}, but only pending jobs launch tasks now (see findings)`;
    case 'pinned':
      return `needs ${some(reason.wanted, 'task')}, pinned at ${reason.count} ${originText(reason)}`;
    case 'above-pin':
      return `${some(reason.tasks, 'task')} above the pin. Running builds finish; idle daemons drain after idleTimeout`;
    case 'paused':
      return `paused ${originText(reason)}: no launch, no drain`;
    case 'scale-in-paused':
      return `scale-in paused ${originText(reason)}`;
    case 'retiring-waits':
      return retiringText(reason);
    case 'retired':
      return 'no tasks remain. Remove the pool from the configuration';
    case 'capped-at-max':
      return `needs ${some(reason.wanted, 'task')}, limited to ${reason.max} by max`;
    case 'capped-at-max-tasks':
      return `needs ${some(reason.wanted, 'task')}, limited to ${reason.granted} by limits.maxTasks ${reason.maxTasks}${addedWaitText(reason)}`;
    case 'capped-at-dollars-per-hour':
      return `needs ${some(reason.wanted, 'task')}, limited to ${reason.granted} by limits.dollarsPerHour ${reason.dollarsPerHour}${addedWaitText(reason)}`;
    case 'capped-at-prebuilds-max-tasks':
      return `${some(reason.jobs, 'prebuild')} on hold: launches for prebuilds stop at ${some(reason.maxTasks, 'task')} (prebuilds.maxTasks)`;
    case 'idle-long-enough':
      return `draining ${some(reason.tasks, 'idle daemon')}`;
    case 'idle-too-briefly':
      return `${some(reason.tasks, 'idle daemon')} will drain after idleTimeout`;
    case 'retiring':
      return `${some(reason.tasks, 'task')} of a retiring pool: ${turnText(reason)}`;
    case 'no-daemon':
      return `${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'holds' : 'hold'} a lease and ${reason.tasks === 1 ? 'has' : 'have'} no daemon: ${turnText(reason)}`;
    case 'wrong-key':
      return `${some(reason.tasks, 'daemon')} ${reason.tasks === 1 ? 'has' : 'have'} the wrong provisioner key: ${turnText(reason)}`;
    case 'old-revision':
      return `${some(reason.tasks, 'task')} of an old revision: ${turnText(reason)}`;
    case 'old-secret':
      return oldSecretText(reason);
    case 'protecting':
      return `protecting ${some(reason.tasks, 'task')} that ${reason.tasks === 1 ? 'has' : 'have'} no guard`;
    case 'stopping-after-confirmation':
      return reason.unprotected === 0
        ? `${some(reason.tasks, 'idle daemon')} will stop after a second look confirms it`
        : `${some(reason.tasks, 'idle daemon')} will stop after ${some(reason.unprotected, 'other task')} ${reason.unprotected === 1 ? 'is' : 'are'} protected`;
    case 'holding-for-protection':
      return `${some(reason.tasks, 'idle daemon')} kept: ${reason.tasks === 1 ? 'its' : 'their'} protection for the last build has not ended`;
    case 'never-scaled-in':
      return `${some(reason.tasks, 'idle daemon')} kept: this pool has scaleIn: never`;
    case 'tasks-left':
      return `${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'has' : 'have'} drained`;
    case 'count-below-tasks':
      return `desired count ${reason.desired} is lower than the ${some(reason.tasks, 'task')} that ${reason.tasks === 1 ? 'has' : 'have'} not drained`;
    case 'holding-for-starting':
      return `desired count not lowered while ${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'is' : 'are'} starting`;
    case 'holding-for-leaving':
      return `desired count not lowered while ${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'drains' : 'drain'}`;
    case 'holding-for-unguarded':
      return `scale-in on hold: ${some(reason.tasks, 'task')} without a lease, until coderd lists ${reason.tasks === 1 ? 'its daemon' : 'their daemons'} as offline`;
    case 'holding-for-deployment':
      return 'scale-in on hold: a deployment is in progress';
    case 'holding-for-doubt':
      return `${areJobsUnknown(reason.doubts) ? 'launches for jobs and ' : ''}scale-in on hold: ${reason.doubts.map(doubtPhrase).join(', ')}`;
    case 'starts-failing':
      return `${reason.failures === 0 ? 'tasks do not start' : `${some(reason.failures, 'start')} failed since the last success`}, trying one task at a time (needs ${some(reason.wanted, 'task')}, gets ${reason.granted}): ${startHint(reason.reason)}`;
    case 'placement-failing':
      return `ECS has failed to place ${reason.tasks === 0 ? 'tasks' : some(reason.tasks, 'task')} since ${timeText(reason.since)}, trying one task at a time (needs ${some(reason.wanted, 'task')}, gets ${reason.granted}): ${startHint(reason.reason)}`;
    case 'waiting-for-vacant':
      return `launches on hold until ECS stops ${some(reason.tasks, 'task')} whose daemon never registered`;
    case 'server-too-old':
      return `coderd ${reason.version} is too old. Upgrade it to ${reason.oldest} or newer`;
    case 'no-service':
      return 'this pool has no ECS service';
    case 'nothing-to-do':
      return 'nothing to do';
    default:
      return reason satisfies never;
  }
}

/**
 * `keeps 2 daemons free. Rule: 3 free until 1 h after the last build, spare ones stay 10 min. Over
 * 31 builds in 40 h, weighted for this hour, this rule costs $0.31 an hour ($0.18 tasks, $0.13
 * waiting), with 2 free $0.33, with 5 free $0.39`.
 */
function stockText(reason: Extract<Reason, { readonly code: 'stock' }>): string {
  const { daemons, learned } = reason;
  const kept = `keeps ${some(daemons, 'daemon')} free. Rule: ${ruleText(reason)}`;
  if (learned === null) return `${kept}. Too few builds are known to choose a better one`;
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
  return `${kept}. Over ${some(builds, 'build')} in ${periodText(hours)}, weighted for this hour, this rule costs ${[...costs, ...alternatives].join(', ')}`;
}

function ruleText({
  free,
  spareMinutes,
  afterBuildMinutes,
  countsEnding,
}: Extract<Reason, { readonly code: 'stock' }>): string {
  if (free === 0) return `idle daemons stay ${minutesText(spareMinutes)}`;
  const ending = countsEnding ? ', counting builds that end soon' : '';
  const until =
    afterBuildMinutes === null ? '' : ` until ${minutesText(afterBuildMinutes)} after the last build`;
  return `${free} free${until}${ending}, spare ones stay ${minutesText(spareMinutes)}`;
}

function minutesText(minutes: number): string {
  return minutes < 60 ? `${minutes} min` : `${minutes / 60} h`;
}

function periodText(hours: number): string {
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

function addedWaitText({ waitMinutesPerHour }: { readonly waitMinutesPerHour: number }): string {
  return waitMinutesPerHour === 0 ? '' : `; people wait ${waitMinutesPerHour} more minutes an hour`;
}

const FLOORS: Readonly<
  Record<Extract<Reason, { readonly code: 'floor' }>['from'], (count: number) => string>
> = {
  min: (count) => `min keeps ${some(count, 'task')}`,
  warm: (count) => `warm keeps ${some(count, 'daemon')}, busy ones included`,
  schedule: (count) => `a schedule keeps ${some(count, 'daemon')}, busy ones included`,
  pin: (count) => `a pin keeps ${some(count, 'task')}`,
  override: (count) => `an override keeps ${some(count, 'task')}`,
  'when-blind': (count) => `whenBlind keeps ${some(count, 'task')} while the autoscaler cannot read coderd`,
};

/** An override as a sentence. */
export function overrideText({ kind, count = 0, ...origin }: Override): string {
  const effect = {
    pause: 'paused',
    'pause-scale-in': 'scale-in paused',
    pin: `pinned at ${some(count, 'task')}`,
    floor: `at least ${some(count, 'task')}`,
  };
  return `${effect[kind]} ${originText(origin)}`;
}

function retiringText({
  starting,
  leaving,
  unguarded,
}: Extract<Reason, { readonly code: 'retiring-waits' }>): string {
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
    case 'clocks-differ':
      return 'clocks differ (see findings)';
    case 'server-too-old':
      return 'coderd is too old';
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

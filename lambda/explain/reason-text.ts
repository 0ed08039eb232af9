/** Sentences for the reasons of a pool, and for overrides. */
import type { Doubt, Override, Reason } from '../decision/model/plan.ts';
import { readingPhrase, some, transitionsText } from './format.ts';
import { startHint } from './start-hint.ts';

/** One reason as a sentence. */
export function reasonSentence(reason: Reason): string {
  switch (reason.code) {
    case 'pending-jobs':
      return `${some(reason.jobs, 'pending job')} ${reason.jobs === 1 ? 'needs' : 'need'} a new task`;
    case 'served-by-free':
      return `${some(reason.jobs, 'pending job')} for free daemons`;
    case 'served-by-starting':
      return `${some(reason.jobs, 'pending job')} for daemons that are starting`;
    case 'floor':
      return FLOORS[reason.from](reason.count);
    case 'stock':
      return stockText(reason);
    case 'holding-for-record':
      return `${some(reason.tasks, 'idle daemon')} kept: the function has just started and does not know enough earlier builds yet`;
    case 'making-room':
      return `draining ${some(reason.tasks, 'idle daemon')}: a limit over all pools leaves no room for more`;
    case 'awake-for':
      return `to be awake for ${transitionsText(reason.for)}`;
    case 'holding-for-forecast':
      return 'its last daemon stays, since not all that coderd will do by itself is known (see findings)';
    case 'not-woken-for':
      return `not woken for ${transitionsText(reason.for)} (see findings)`;
    case 'prewarm':
      return `coderd is about to create ${some(reason.due, 'job')}: ${some(reason.daemons, 'daemon')} will be ready`;
    case 'capped-at-prewarm-max':
      return `${some(reason.due, 'job')} due, limited to ${some(reason.max, 'daemon')} by prewarm.max until coderd creates the jobs`;
    case 'launching-for-jobs-only':
      return `wants ${some(reason.wanted, 'task')}, but clocks differ: only pending jobs launch tasks (see findings)`;
    case 'pinned':
      return `wants ${reason.wanted}, pinned at ${reason.count} ${saidText(reason)}`;
    case 'above-pin':
      return `${some(reason.tasks, 'task')} above the pin. Running builds finish; idle daemons drain after idleTimeout`;
    case 'paused':
      return `paused ${saidText(reason)}: nothing is done but to protect tasks that have no guard`;
    case 'scale-in-paused':
      return `scale-in paused ${saidText(reason)}`;
    case 'retiring-waits':
      return retiringText(reason);
    case 'retired':
      return 'no task left; remove the pool from the configuration';
    case 'capped-at-max':
      return `needs ${some(reason.wanted, 'task')}, limited to ${reason.max} by max`;
    case 'capped-at-max-tasks':
      return `needs ${some(reason.wanted, 'task')}, limited to ${reason.granted} by limits.maxTasks ${reason.maxTasks}${heldText(reason)}`;
    case 'capped-at-dollars-per-hour':
      return `needs ${some(reason.wanted, 'task')}, limited to ${reason.granted} by limits.dollarsPerHour ${reason.dollarsPerHour}${heldText(reason)}`;
    case 'capped-at-prebuilds-max-tasks':
      return `${some(reason.jobs, 'prebuild')} held back: launches for prebuilds stop at ${some(reason.maxTasks, 'task')} (prebuilds.maxTasks)`;
    case 'idle-long-enough':
      return `draining ${some(reason.tasks, 'idle daemon')}`;
    case 'idle-too-briefly':
      return `${some(reason.tasks, 'idle daemon')} to drain after idleTimeout`;
    case 'retiring':
      return `${some(reason.tasks, 'task')} to leave for good; ${turnText(reason)}`;
    case 'no-daemon':
      return `${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'holds' : 'hold'} a lease and ${reason.tasks === 1 ? 'has' : 'have'} no daemon; ${turnText(reason)}`;
    case 'wrong-key':
      return `${some(reason.tasks, 'daemon')} with another key than the pool's; ${turnText(reason)}`;
    case 'old-revision':
      return `${some(reason.tasks, 'task')} of an old revision; ${turnText(reason)}`;
    case 'protecting':
      return `protecting ${some(reason.tasks, 'task')} that ${reason.tasks === 1 ? 'has' : 'have'} no guard`;
    case 'stopping-after-confirmation':
      return reason.unprotected === 0
        ? `${some(reason.tasks, 'idle daemon')} to be stopped once a second look confirms it`
        : `${some(reason.tasks, 'idle daemon')} to be stopped once ${some(reason.unprotected, 'other task')} ${reason.unprotected === 1 ? 'is' : 'are'} protected`;
    case 'holding-for-protection':
      return `${some(reason.tasks, 'spare daemon')} still protected from the last build`;
    case 'never-scaled-in':
      return `${some(reason.tasks, 'spare daemon')}, which nobody asks to leave`;
    case 'tasks-left':
      return `${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'has' : 'have'} left`;
    case 'count-below-tasks':
      return `the desired count ${reason.desired} is below the ${some(reason.tasks, 'task')} that ${reason.tasks === 1 ? 'has' : 'have'} not left`;
    case 'holding-for-starting':
      return `not lowered while ${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'is' : 'are'} starting`;
    case 'holding-for-leaving':
      return `not lowered while ${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'is' : 'are'} leaving`;
    case 'holding-for-unguarded':
      return `not lowered while ${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'runs' : 'run'} without a lease`;
    case 'holding-for-deployment':
      return 'not scaled in while a deployment is in progress';
    case 'holding-for-doubt':
      return `not scaled in: ${reason.doubts.map(doubtPhrase).join(', ')}`;
    case 'starts-failing':
      return `${reason.failures === 0 ? 'tasks do not start' : `${some(reason.failures, 'start')} failed and none has succeeded since`}, so one probe at a time (wants ${reason.wanted}, gets ${reason.granted}): ${startHint(reason.reason)}`;
    case 'placement-failing':
      return `ECS has failed to place ${reason.tasks === 0 ? 'tasks' : some(reason.tasks, 'task')} since ${reason.since}; one task at a time is tried (needs ${reason.wanted}, gets ${reason.granted}): ${startHint(reason.reason)}`;
    case 'waiting-for-vacant':
      return `nothing is launched before ${some(reason.tasks, 'task')} that never had a daemon ${reason.tasks === 1 ? 'is' : 'are'} gone`;
    case 'server-too-old':
      return `coderd ${reason.version} is too old; ${reason.oldest} or newer is needed`;
    case 'no-service':
      return 'no ECS service to act on';
    case 'nothing-to-do':
      return 'nothing to do';
    default:
      return reason satisfies never;
  }
}

/** `keeps 5 free: 0.9 builds a minute, a replacement takes 64 s. One more would be used once in 20 h, save $0.010 an hour and cost $0.050`. */
function stockText({
  daemons,
  perMinute,
  replaceSeconds,
  next,
}: Extract<Reason, { readonly code: 'stock' }>): string {
  const { savesPerHour, costsPerHour, usedEveryHours } = next;
  const used = usedEveryHours === null ? 'never be used' : `be used once in ${hoursText(usedEveryHours)}`;
  return `keeps ${daemons} free: ${rateText(perMinute)}, a replacement takes ${replaceSeconds} s. One more would ${used}, save $${savesPerHour.toFixed(3)} an hour and cost $${costsPerHour.toFixed(3)}`;
}

function rateText(perMinute: number): string {
  if (perMinute >= 0.5) return `${perMinute.toFixed(1)} builds a minute`;
  if (perMinute >= 0.5 / 60) return `${(perMinute * 60).toFixed(1)} builds an hour`;
  return `${(perMinute * 1440).toFixed(1)} builds a day`;
}

function hoursText(hours: number): string {
  if (hours < 1) return `${Math.max(1, Math.round(hours * 60))} min`;
  return hours < 100 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`;
}

function heldText({ waitMinutesPerHour }: { readonly waitMinutesPerHour: number }): string {
  return waitMinutesPerHour === 0 ? '' : `; people wait ${waitMinutesPerHour} more minutes an hour`;
}

const FLOORS: Readonly<
  Record<Extract<Reason, { readonly code: 'floor' }>['from'], (count: number) => string>
> = {
  min: (count) => `min keeps ${count}`,
  warm: (count) => `warm keeps ${count}, busy daemons included`,
  schedule: (count) => `a schedule keeps ${count}, busy daemons included`,
  pin: (count) => `a pin keeps ${count}`,
  override: (count) => `an override keeps ${count}`,
  'when-blind': (count) => `whenBlind keeps ${count} while coderd cannot be read`,
};

/** An override as a sentence. */
export function overrideText({ kind, count = 0, ...said }: Override): string {
  const what = {
    pause: 'paused',
    'pause-scale-in': 'scale-in paused',
    pin: `pinned at ${some(count, 'task')}`,
    floor: `kept at ${some(count, 'task')} or more`,
  };
  return `${what[kind]} ${saidText(said)}`;
}

function retiringText({
  starting,
  leaving,
  unguarded,
}: Extract<Reason, { readonly code: 'retiring-waits' }>): string {
  const parts = [
    ...(leaving > 0 ? [`${leaving} that ${leaving === 1 ? 'is' : 'are'} leaving`] : []),
    ...(starting > 0 ? [`${starting} that ${starting === 1 ? 'is' : 'are'} starting`] : []),
    ...(unguarded > 0 ? [`${unguarded} without a lease`] : []),
  ];
  const stuck =
    unguarded > 0
      ? ', which nobody can ask: once no build runs in the pool it can be removed all the same'
      : '';
  return `waits for ${parts.join(', ')}${stuck}`;
}

function saidText({ until, by, why }: Pick<Override, 'until' | 'by' | 'why'>): string {
  return `until ${until} by ${by} (${why})`;
}

/** Those that are replaced: how many are asked now. */
function turnText({ tasks, asked }: { readonly tasks: number; readonly asked: number }): string {
  if (asked === tasks) return `asking ${tasks === 1 ? 'it' : 'them'} to leave`;
  return asked === 0
    ? `${tasks === 1 ? 'it waits for its' : 'they wait for their'} turn to be replaced`
    : `asking ${asked} of them to leave`;
}

function doubtPhrase(doubt: Doubt): string {
  switch (doubt) {
    case 'organization-unknown':
      return 'its organization is not in sight';
    case 'daemons-empty-while-leased':
      return 'coderd lists no daemon although tasks hold leases';
    case 'jobs-empty-while-busy':
      return 'coderd lists no job although daemons are busy';
    case 'worker-unknown':
      return 'a running job has a worker that coderd does not list';
    case 'daemons-share-name':
      return 'two daemons have one name';
    case 'clocks-differ':
      return 'clocks differ';
    case 'server-too-old':
      return 'coderd is too old';
    case 'tasks-fewer-than-counted':
      return 'ECS lists fewer tasks than it counts';
    case 'override-malformed':
      return 'an override can not be read';
    case 'scale-in-paused':
      return 'scale-in is paused';
    default:
      return readingPhrase(doubt);
  }
}

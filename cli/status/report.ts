/** The status as data, from a snapshot, its plan and the function's log. `--json` prints it unchanged. */
import type { Deliberation } from '../../lambda/decision/decide.ts';
import { poolOfPart } from '../../lambda/decision/model/brands.ts';
import { ownValue, sum } from '../../lambda/decision/model/collections.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { AssignmentRow, Limit, PoolPlan, Reason, ReasonOf } from '../../lambda/decision/model/plan.ts';
import type { PromisedPlan } from '../../lambda/decision/model/promise.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { withPromises } from '../../lambda/decision/promise/promise.ts';
import type { PoolView } from '../../lambda/decision/supply/supply.ts';
import { findingLines } from '../../lambda/explain/finding-text.ts';
import { some, tagText } from '../../lambda/explain/format.ts';
import { servedText, unservedSentence } from '../../lambda/explain/text.ts';
import { groupRows } from '../../lambda/look/look-groups.ts';
import { withAdvice } from '../shared/aws-advice.ts';
import { deployedSeconds, isLooking, type LogFacts, lateText, saidByFunction } from './read-log.ts';

/** Combines a live look with what the function logged. */
export function statusOf(
  snapshot: Snapshot,
  deliberation: Deliberation,
  config: Config,
  { lastLook, waits }: LogFacts,
) {
  const plan = withPromises(deliberation, snapshot);
  const own = findingLines(plan.findings);
  const deployed = deployedSeconds(snapshot.ecs.services.items, snapshot.takenAt);
  const late = lateText(lastLook, deployed);
  const isLooked = isLooking(lastLook, deployed);
  const waiting = waitingOf(snapshot, plan);
  const views = Map.groupBy(
    deliberation.pools.map(({ need: { view } }) => view),
    ({ pool }) => poolOfPart(pool.name),
  );
  return {
    version: 1,
    takenAt: plan.takenAt,
    waiting: isLooked ? waiting : withoutStarts(waiting),
    pools: plan.pools.map((pool) => poolStatus(pool, views.get(pool.name) ?? [], snapshot, config)),
    // the advice for errors of AWS is about this machine
    broken: [
      ...own.map(withAdvice),
      ...(late === undefined ? [] : [late]),
      ...saidByFunction(lastLook, own).map((line) => `the function says: ${line}`),
    ],
    /** False: no look comes, so no task starts. */
    isLooking: isLooked,
    overrides: plan.pools.flatMap(({ name, overrides }) =>
      overrides.map((override) => ({ pool: name, ...override })),
    ),
    lastLook,
    waits,
  };
}

export type Status = ReturnType<typeof statusOf>;

function waitingOf(snapshot: Snapshot, plan: PromisedPlan) {
  const pending = groupRows(snapshot, plan).filter((group) => group.pending > 0);
  const places = Map.groupBy(plan.assignment, ({ organization, tags }) => `${organization} ${tagText(tags)}`);
  const groups = pending.flatMap(({ organization, tags, pending: jobs, oldestSeconds }) => {
    const found = places.get(`${organization} ${tags}`);
    if (found === undefined) return [];
    return [
      { organization, tags, jobs, oldestSeconds, places: found.map((row) => placeOf(row, plan.pools)) },
    ];
  });
  return {
    jobs: sum(pending, (group) => group.pending),
    /** Unschedulable ones among the jobs. */
    unserved: sum(plan.unserved, ({ jobs }) => jobs),
    oldestSeconds: Math.max(0, ...pending.slice(0, 1).map(({ oldestSeconds }) => oldestSeconds)),
    isComplete: snapshot.coder.organizations.every(({ jobs }) => jobs.status === 'ok'),
    /** Schedulable jobs by tag set, the longest waiting first. */
    groups,
    nobody: plan.unserved.map((row) => unservedSentence(row, plan.takenAt)),
    pendingJobs: plan.pendingJobs,
    pendingJobsLeftOut: plan.pendingJobsLeftOut,
  };
}

/** Which daemon will run the jobs: `waiting for a launch in "gpu" (max 2 is reached)`. */
export function placeText({ limit, ...place }: WaitingGroup['places'][number]): string {
  return limit === undefined ? servedText(place) : `${servedText(place)} (${limit})`;
}

export type WaitingJobs = ReturnType<typeof waitingOf>;
export type WaitingGroup = WaitingJobs['groups'][number];

/** Without looks nothing is promised. */
function withoutStarts(waiting: WaitingJobs): WaitingJobs {
  return { ...waiting, pendingJobs: waiting.pendingJobs.map((job) => ({ ...job, startsAt: null })) };
}

/** `limit`: why jobs of the pool wait for a launch, as `max 2 is reached`. */
export const placeOf = ({ jobs, pool, served }: AssignmentRow, pools: readonly PoolPlan[]) => {
  const plan = served === 'when-there-is-room' ? pools.find(({ name }) => name === pool) : undefined;
  // without starts a higher limit helps nobody
  const limit = plan?.why.flatMap(startsOf)[0] ?? plan?.why.flatMap(limitOf)[0];
  return { jobs, pool, served, ...(limit !== undefined && { limit }) };
};

function startsOf({ code }: Reason): readonly string[] {
  if (code === 'starts-throttled') return ['ECS waits after failed starts'];
  return code === 'starts-failing' || code === 'placement-failing' ? ['starts fail'] : [];
}

function limitOf(reason: Reason): readonly string[] {
  const words = ownValue<(reason: never) => string | null>(LIMIT_WORDS, reason.code)?.(reason as never);
  return words == null ? [] : [words];
}

/** Null: `startsOf` or a finding has other words, or the reasons of the pool are enough. */
const LIMIT_WORDS: { readonly [Code in Limit]: (reason: ReasonOf<Code>) => string | null } = {
  'capped-at-max': ({ max }) => `max ${max} is reached`,
  'capped-at-max-tasks': ({ maxTasks }) => `limits.maxTasks ${maxTasks} is reached`,
  'capped-at-dollars-per-hour': ({ dollarsPerHour }) => `limits.dollarsPerHour ${dollarsPerHour} is reached`,
  'capped-at-prebuilds-max-tasks': ({ maxTasks }) =>
    `launches for prebuilds stop at ${some(maxTasks, 'task')}`,
  paused: () => 'the pool is paused',
  pinned: () => 'the pool is pinned',
  'role-untried': () => null,
  'starts-failing': () => null,
  'placement-failing': () => null,
  'starts-throttled': () => null,
  'waiting-for-vacant': () => null,
  'license-missing': () => null,
  'no-service': () => null,
};

function poolStatus(plan: PoolPlan, views: readonly PoolView[], { ecs }: Snapshot, config: Config) {
  const organization = views[0]?.organization;
  const lists = [ecs.services, ecs.tasks, ecs.protections, organization?.daemons, organization?.jobs];
  const { busy, idle, starting, leaving, left, unguarded } = plan.daemons;
  const isSeen = plan.service !== null && lists.every((list) => list?.status === 'ok');
  return {
    name: plan.name as string,
    retiring: plan.retiring,
    /** A retiring pool without tasks: you can remove it. */
    isGone: plan.why.some(({ code }) => code === 'retired'),
    /** The desired count; null without a service. */
    tasks: plan.desired.from,
    // null if a list is missing; a task that runs a job without a lease is busy too
    daemons: isSeen ? { busy: busy + unguarded, idle, starting, leaving: leaving + left } : null,
    /** Tasks whose daemon has a job, including draining ones. */
    building: views.flatMap(({ tasks }) => tasks).filter(({ use }) => use === 'busy').length,
    floor: plan.floor.count,
    // the configured max: an override limits the effective one and has its own section
    max: config.pools.find(({ name }) => name === plan.name)?.max ?? 0,
    oldSecret: plan.why.find((reason) => reason.code === 'old-secret') ?? null,
    ...(plan.parts && { parts: plan.parts }),
  };
}

export type PoolStatus = ReturnType<typeof poolStatus>;

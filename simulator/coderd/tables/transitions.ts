/**
 * Derives which transition of a workspace is due when (getNextTransition and its rules,
 * docs/internals/coder.md §10), in order of precedence.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';
import { nextAllowedAutostart } from './autostart-schedule.ts';
import type { Due, WorkspaceRecord } from './workspace-records.ts';

/** The rules that depend on the release. */
export type LifecycleRules = { readonly cleansUpFailedStops: boolean };

type Rule = (workspace: WorkspaceRecord, rules: LifecycleRules) => Due | undefined;

/** The transitions of a workspace; none for prebuilt ones, which their reconciler manages. */
export function transitionsOf(workspace: WorkspaceRecord, rules: LifecycleRules): readonly Due[] {
  if (workspace.prebuilt) return [];
  return [autostop, autostart, failedCleanup, dormancy, deletion].flatMap(
    (rule) => rule(workspace, rules) ?? [],
  );
}

export function isDue({ at, later }: Due, tick: EpochMs): boolean {
  return later ? tick > at : tick >= at;
}

/** The next poll stops the workspaces of a suspended user, but not those of a dormant one. */
const autostop: Rule = ({ latestBuild, dormantAt, owner }) => {
  const { transition, deadline, job } = latestBuild;
  if (job.status === 'failed' || dormantAt !== undefined || transition !== 'start') return undefined;
  const at = owner.status === 'suspended' ? Number.NEGATIVE_INFINITY : deadline;
  return at === undefined ? undefined : { at, later: true, transition: 'stop', reason: 'autostop' };
};

/**
 * Due at next_start_at: the first allowed time after the stop was inserted, or after it ended. If
 * it is missing, the poll that computes it again starts from the time of the stop.
 */
const autostart: Rule = (workspace) => {
  const { latestBuild, dormantAt, owner, schedule, nextStartAt, template } = workspace;
  const { transition, job } = latestBuild;
  if (owner.status !== 'active') return undefined;
  if (job.status === 'failed' || dormantAt !== undefined || transition !== 'stop') return undefined;
  if (!template.allowUserAutostart || schedule === undefined) return undefined;
  const at = nextStartAt ?? nextAllowedAutostart(latestBuild.createdAt, schedule, template.autostartDays);
  return at === undefined ? undefined : { at, later: false, transition: 'start', reason: 'autostart' };
};

const failedCleanup: Rule = ({ latestBuild, template: { failureTtlMs } }, { cleansUpFailedStops }) => {
  const { transition, job } = latestBuild;
  const { status, completedAt } = job;
  const isCleanedUp = transition === 'start' || (transition === 'stop' && cleansUpFailedStops);
  if (failureTtlMs === 0 || status !== 'failed' || !isCleanedUp || completedAt === undefined)
    return undefined;
  return { at: completedAt + failureTtlMs, later: true, transition: 'stop', reason: 'autostop' };
};

const dormancy: Rule = ({ latestBuild, dormantAt, lastUsedAt, template: { timeTilDormantMs } }) => {
  if (dormantAt !== undefined || timeTilDormantMs === 0) return undefined;
  const transition = latestBuild.transition === 'start' ? 'stop' : undefined;
  return { at: lastUsedAt + timeTilDormantMs, later: true, transition, reason: 'dormancy' };
};

/** coderd retries a failed delete after a day. */
const deletion: Rule = ({ latestBuild: { transition, job }, deletingAt }) => {
  if (deletingAt === undefined) return undefined;
  const hasFailed = transition === 'delete' && job.status === 'failed';
  const pausedUntil = hasFailed ? (job.completedAt ?? 0) + DAY_MS : 0;
  const at = Math.max(deletingAt, pausedUntil);
  return { at, later: true, transition: 'delete', reason: 'autodelete' };
};

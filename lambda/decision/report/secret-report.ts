/** The reason and the findings about changed secrets, from the pools' tasks and the reading. */
import type { LeaveDecision } from '../drain/leaving.ts';
import { type EpochMs, isoTime } from '../model/brands.ts';
import type { ChangedSecret, Finding, OldSecretReason } from '../model/plan.ts';
import { SPREADS_WITHIN_MS } from '../model/secrets.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { awsTimeOf } from '../model/snapshot.ts';
import { HOUR_MS, MINUTE_MS } from '../model/units.ts';
import { type Credential, outdatedCredential, unprovenPsk } from '../supply/credentials.ts';
import type { PoolView } from '../supply/supply.ts';
import type { TaskView } from '../supply/task-state.ts';

/** Tells how many tasks still have an earlier value of a secret. None if all have the present ones. */
export function oldSecretReasons(
  view: PoolView,
  leaving: readonly LeaveDecision[],
): readonly OldSecretReason[] {
  const tasks = present(view);
  const old = tasks.filter((task) => outdatedCredential(view, task) !== undefined);
  const credential = latestOf(view, old);
  if (credential === undefined || view.pool.retiring) return [];
  return [
    {
      code: 'old-secret',
      tasks: old.length,
      of: tasks.length,
      draining: old.filter(({ state }) => state === 'leaving').length,
      asked: leaving.filter(({ kind, task }) => kind === 'leave' && old.includes(task)).length,
      held: unprovenPsk(view) === undefined ? null : 'until-connected',
      ...changeOf(credential),
    },
  ];
}

/** The tasks that may have a daemon. */
function present({ tasks }: PoolView): readonly TaskView[] {
  return tasks.filter(({ state }) => state !== 'left');
}

/** The latest change that concerns one of these tasks. */
function latestOf(view: PoolView, old: readonly TaskView[]): Credential | undefined {
  const concerned = new Set(old.map((task) => outdatedCredential(view, task)));
  return view.credentials.find((credential) => concerned.has(credential));
}

function changeOf({ secret, kind, changedAt, previousAt }: Credential): ChangedSecret {
  return {
    ...{ secret, kind, changedAt: isoTime(changedAt) },
    previousAt: previousAt === undefined || previousAt > changedAt ? null : isoTime(previousAt),
  };
}

/** A single failed call needs no finding. */
const STALE_AFTER_MS = 15 * MINUTE_MS;

/** Finds a list of secrets that could not be read: what it does not tell replaces no task. */
export function secretReadingFindings(snapshot: Snapshot): readonly Finding[] {
  const { status = 'ok', error, takenAt } = snapshot.secrets ?? {};
  if (status === 'ok' || status === 'truncated') return [];
  if (status !== 'stale') return [{ code: `secrets-${status}`, error }];
  if (takenAt === undefined || awsTimeOf(snapshot) - takenAt < STALE_AFTER_MS) return [];
  return [{ code: 'secrets-stale', error, takenAt: isoTime(takenAt) }];
}

/** By this time most builds have ended, so that all tasks should have been replaced. */
const LASTS_MS = HOUR_MS;

/** Finds changed secrets of a pool that wait for a person, or whose tasks stay for long. */
export function secretFindings(view: PoolView, now: EpochMs): readonly Finding[] {
  const pool = view.pool.name;
  const psk = unprovenPsk(view);
  if (psk !== undefined) return [{ code: 'psk-changed', pool, ...changeOf(psk) }];
  const tasks = present(view);
  const old = tasks.filter((task) => {
    const credential = outdatedCredential(view, task);
    return credential !== undefined && now - credential.changedAt >= LASTS_MS + SPREADS_WITHIN_MS;
  });
  const credential = latestOf(view, old);
  if (credential === undefined || view.pool.retiring) return [];
  return [
    {
      ...{ code: 'tasks-with-old-secret', pool, of: tasks.length },
      ...changeOf(credential),
      tasks: old.map(({ task }) => task.taskArn),
    },
  ];
}

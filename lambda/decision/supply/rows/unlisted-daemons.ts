/** The daemons that no listed task of a pool explains: its own without a task, and those of others. */
import { type EpochMs, poolOfPart } from '../../model/brands.ts';
import type { Daemon, OrganizationReadings, Task } from '../../model/snapshot.ts';
import { type Claims, type DaemonIndex, isAlive, poolNamed, taskId } from './daemons.ts';

/** A pool, and the daemons that claim its tasks. */
type Owning = { readonly pool: { readonly name: string }; readonly owned: ReadonlySet<Daemon> };

/** All rows that claim one of these tasks. */
export function claimants(claims: readonly Claims[]): ReadonlySet<Daemon> {
  return new Set(
    claims.flatMap(({ daemon, rivals, strangers }) => [
      ...(daemon === undefined ? [] : [daemon]),
      ...rivals,
      ...strangers,
    ]),
  );
}

type Unlisted = Owning & {
  readonly index: DaemonIndex | undefined;
  /** All tasks of the pool, those of its other parts too. */
  readonly tasks: () => readonly Task[];
};

/** How many of the daemons without a listed task are busy, and the names of those that are alive. */
export function judgeUnlisted({ now, ...pool }: Unlisted & { readonly now: EpochMs }) {
  const daemons = unlistedDaemons(pool);
  return {
    busy: daemons.filter((daemon) => pool.index?.activity(daemon) === 'busy').length,
    orphans: daemons
      .filter((daemon) => isAlive(daemon, now))
      .map(({ name }) => name)
      .sort(),
  };
}

/** The daemons that have this pool's name but belong to none of these tasks. */
function unlistedDaemons({ pool, tasks, index, owned }: Unlisted): readonly Daemon[] {
  const pooled = poolOfPart(pool.name);
  const others = (index?.namedAfter(pooled) ?? []).filter((daemon) => !owned.has(daemon));
  if (others.length === 0) return [];
  const ids = new Set(tasks().map(taskId));
  return others.filter(({ name }) => !ids.has(name.slice(pooled.length + 1)));
}

export type ForeignIn = (organization: OrganizationReadings) => readonly Daemon[];

/**
 * Makes a function that selects the live daemons of an organization that the autoscaler does not own:
 * no task of a pool has it, and its name is not that of a pool's daemon. A daemon whose task is gone
 * still reads idle for up to 90 s (docs/internals/coder.md §2).
 */
export function foreignTo(pools: readonly Owning[], now: EpochMs): ForeignIn {
  const names = new Set<string>(pools.map(({ pool }) => poolOfPart(pool.name)));
  const isForeign = (daemon: Daemon): boolean => {
    const named = poolNamed(daemon);
    if (named !== undefined && names.has(named)) return false;
    return !pools.some(({ owned }) => owned.has(daemon));
  };
  return ({ daemons }) => daemons.items.filter((daemon) => isAlive(daemon, now) && isForeign(daemon));
}

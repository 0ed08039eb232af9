/**
 * Sorts builds by what their task had run before. One task is one daemon with a row of its own, so
 * the builds with one `worker_id` are those of one task.
 */
import type { TimedBuild } from '../../lambda/adapters/coderd/build-timings.ts';
import { PREBUILDS_USER } from '../../lambda/decision/demand/record.ts';
import type { DaemonId, EpochMs } from '../../lambda/decision/model/brands.ts';
import { by } from '../../lambda/decision/model/collections.ts';
import type { Waiting } from '../../lambda/decision/model/config.ts';
import type { Daemon } from '../../lambda/decision/model/snapshot.ts';
import { poolNamed } from '../../lambda/decision/supply/daemons.ts';

/**
 * `first`: the task had run nothing. `new`: it had run builds, but none of this template version.
 * `warm`: it had run a build of this version that succeeded. `unsure`: it may have run a job that
 * cannot be seen.
 */
export type Group = 'first' | 'new' | 'unsure' | 'warm';

/** Why a build is left out: its daemon is not listed, or is not of a task of these pools. */
export type Omission = 'unlisted' | 'foreign';

/** A workspace whose builds are read, and its template. */
export type Source = { readonly workspace: string; readonly template: string };

/** A build that a daemon has begun. */
export type KnownBuild = Source & {
  readonly id: string;
  readonly version: string;
  readonly worker: DaemonId;
  readonly startedAt: EpochMs;
  readonly status: string;
  /** Which price its waiting has. */
  readonly kind: keyof Waiting;
};

export type GroupedBuild = KnownBuild & { readonly group: Group; readonly pool: string };

export type GroupedBuilds = {
  readonly builds: readonly GroupedBuild[];
  readonly omitted: Readonly<Record<Omission, number>>;
};

/**
 * A daemon that was registered this much earlier, or less, cannot have run a job before: a job of a
 * new task takes longer.
 */
const SURELY_FIRST_MS = 5_000;

/** The builds that have ended, by themselves: canceled ones only count as something that ran. */
const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed']);

/** Groups the builds of the tasks of these pools. */
export function groupBuilds(
  builds: readonly KnownBuild[],
  daemons: ReadonlyMap<DaemonId, Daemon>,
  pools: ReadonlySet<string>,
): GroupedBuilds {
  const grouped: GroupedBuild[] = [];
  const omitted = { unlisted: 0, foreign: 0 };
  for (const [worker, its] of Map.groupBy(builds, (build) => build.worker)) {
    const daemon = daemons.get(worker);
    const pool = poolOf(daemon, pools);
    const ended = its.filter(({ status }) => ENDED.has(status)).length;
    if (daemon === undefined) omitted.unlisted += ended;
    else if (pool === undefined) omitted.foreign += ended;
    else grouped.push(...groupsOfTask(its, daemon).map((build) => ({ ...build, pool })));
  }
  return { builds: grouped, omitted };
}

/** A daemon of a guarded task has the name `<pool>-<task id>`. Other names may come again. */
function poolOf(daemon: Daemon | undefined, pools: ReadonlySet<string>): string | undefined {
  const pool = daemon && poolNamed(daemon);
  return pool !== undefined && pools.has(pool) ? pool : undefined;
}

function groupsOfTask(builds: readonly KnownBuild[], daemon: Daemon) {
  const inOrder = builds.toSorted(by(({ startedAt }) => startedAt));
  return inOrder
    .map((build, index) => ({ ...build, group: groupOf(build, inOrder.slice(0, index), daemon) }))
    .filter(({ status }) => ENDED.has(status));
}

function groupOf(build: KnownBuild, earlier: readonly KnownBuild[], { created_at }: Daemon): Group {
  if (earlier.length === 0) return build.startedAt - created_at <= SURELY_FIRST_MS ? 'first' : 'unsure';
  const same = earlier.filter(({ version }) => version === build.version);
  if (same.some(({ status }) => status === 'succeeded')) return 'warm';
  return same.length === 0 ? 'new' : 'unsure';
}

/** Undefined if no daemon has begun it. */
export function knownBuild(build: TimedBuild, source: Source): KnownBuild | undefined {
  const { started_at: startedAt, worker_id: worker, status } = build.job;
  if (startedAt == null || worker == null) return undefined;
  const { id, template_version_id: version } = build;
  return { ...source, id, version, worker, startedAt, status, kind: kindOf(build) };
}

/** The prices of builds that coderd's lifecycle executor makes (docs/internals/coder.md §10). */
const KIND_OF_REASON: ReadonlyMap<string, keyof Waiting> = new Map([
  ['autostart', 'autostart'],
  ['autostop', 'stop'],
  ['task_auto_pause', 'stop'],
  ['dormancy', 'stop'],
  ['autodelete', 'stop'],
]);

function kindOf({ initiator_id, reason }: TimedBuild): keyof Waiting {
  return initiator_id === PREBUILDS_USER ? 'prebuild' : (KIND_OF_REASON.get(reason) ?? 'person');
}

/**
 * What the empty caches of a world really cost: from the downloads of all its jobs, also of those
 * that no list shows. The noise of an init has a mean of 1, so a download counts with its own time.
 */
import { by, meanOf, sum } from '../../lambda/decision/model/collections.ts';
import type { JobRecord } from '../../simulator/coderd/tables/jobs.ts';
import type { ColdWorld } from './world.ts';

type Penalty = { readonly job: JobRecord; readonly isFirst: boolean; readonly seconds: number };

export type Truth = {
  /** Seconds that the first build of a task is longer, by name of the template. 0 without any. */
  readonly longer: ReadonlyMap<string, number>;
  /** Of all builds that have ended, in 30 days like these, by name of the template. */
  readonly monthSeconds: ReadonlyMap<string, number>;
  readonly firstBuilds: number;
  readonly builds: number;
};

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed']);
const DAYS = { month: 30, week: 7 };

export function truthOf({ model }: ColdWorld): Truth {
  const started = model.jobs().filter(({ workerId }) => workerId !== undefined);
  const penalties = [...Map.groupBy(started, ({ workerId }) => workerId).values()].flatMap(penaltiesOf);
  const builds = penalties.filter(({ job }) => job.type === 'workspace_build' && ENDED.has(job.status));
  const first = builds.filter(({ isFirst }) => isFirst);
  const byTemplate = [...Map.groupBy(first, ({ job }) => job.template.name)];
  return {
    longer: new Map(byTemplate.map(([name, its]) => [name, meanOf(its.map(({ seconds }) => seconds))])),
    monthSeconds: new Map(
      [...Map.groupBy(builds, ({ job }) => job.template.name)].map(([name, its]) => [
        name,
        (sum(its, ({ seconds }) => seconds) * DAYS.month) / DAYS.week,
      ]),
    ),
    firstBuilds: first.length,
    builds: builds.length,
  };
}

/** The jobs of one task in order, each with the downloads of what its task did not have yet. */
function penaltiesOf(jobs: readonly JobRecord[]): readonly Penalty[] {
  const cached = new Set<string>();
  return jobs.toSorted(by(({ startedAt = 0 }) => startedAt)).map((job, index) => {
    const missing = Object.entries(job.template.init?.providers ?? {}).filter(([name]) => !cached.has(name));
    for (const [name] of missing) cached.add(name);
    return { job, isFirst: index === 0, seconds: sum(missing, ([, ms]) => ms) / 1000 };
  });
}

import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { canRun, tagKey } from '../../../lambda/decision/model/tags.ts';
import type { TraceJob } from '../trace/trace.ts';

/** Returns a function that finds the pools that can run a job, as indexes of `pools`. Caches by tag set. */
export function fittingOf({
  pools,
}: Pick<Deployment, 'pools'>): (job: Pick<TraceJob, 'organization' | 'tags'>) => readonly number[] {
  const known = new Map<string, readonly number[]>();
  return ({ organization, tags }) => {
    const key = `${organization} ${tagKey(tags)}`;
    const find = (): readonly number[] =>
      pools.flatMap((pool, index) =>
        pool.organization === organization && canRun(pool.tags, tags) ? [index] : [],
      );
    const found = known.get(key) ?? find();
    known.set(key, found);
    return found;
  };
}

/** Chooses the builds whose timings are read, and reads them. */
import { readInitSeconds } from '../../lambda/adapters/coderd/build-timings.ts';
import { partition, unique } from '../../lambda/decision/model/collections.ts';
import { some } from '../../lambda/explain/format.ts';
import { Random } from '../../simulator/base/random.ts';
import { orRefuse } from '../trace/history.ts';
import type { GroupedBuild } from './build-groups.ts';
import { type Reader, timeFor, unlessHidden } from './history.ts';
import { isEnough } from './month.ts';
import { readEach } from './pace.ts';

const SEED = 6;

/**
 * At most `most` builds of each group of each template, by chance, and of different tasks first.
 * None of a template that has too few builds to compare. coderd has timings of builds that
 * succeeded.
 */
export function chooseBuilds(builds: readonly GroupedBuild[], most: number): readonly GroupedBuild[] {
  const random = new Random(SEED);
  const timed = builds.filter(({ status }) => status === 'succeeded');
  return [...Map.groupBy(timed, ({ template }) => template).values()].flatMap((its) => {
    const groups = Map.groupBy(its, ({ group }) => group);
    if (!isEnough((group) => groups.get(group)?.length ?? 0)) return [];
    return [...groups.values()].flatMap((group) => spread(shuffled(group, random)).slice(0, most));
  });
}

/** One build of each task, then the others. */
function spread(builds: readonly GroupedBuild[]): readonly GroupedBuild[] {
  const ones = new Set(unique(builds, ({ worker }) => worker));
  return partition(builds, (build) => ones.has(build)).flat();
}

/** By Fisher and Yates. */
function shuffled<T>(items: readonly T[], random: Random): readonly T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.whole(0, left.length - 1), 1));
}

/** Seconds of the init of builds, by build id. Builds without timings are missing. */
export async function readInits(
  { http, pace, tell }: Reader,
  builds: readonly GroupedBuild[],
): Promise<ReadonlyMap<string, number>> {
  tell(`reading the timings of ${some(builds.length, 'build')}${timeFor(builds.length, pace)}`);
  const found = await readEach(builds, pace, ({ id }) =>
    orRefuse({ what: 'reading the timings of a build' }, () => unlessHidden(() => readInitSeconds(http, id))),
  );
  return new Map(
    builds.flatMap(({ id }, index) => {
      const seconds = found[index];
      return seconds === undefined ? [] : [[id, seconds] as const];
    }),
  );
}

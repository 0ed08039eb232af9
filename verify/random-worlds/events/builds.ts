/** Plans the builds of a random world: bursts of builds that take seconds to hours. */
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import type { Random } from '../../../simulator/base/random.ts';
import type { Range } from '../../../simulator/ecs/parts/latencies.ts';
import type { World } from '../../../simulator/world.ts';
import type { PlannedPool } from '../world/plan.ts';
import { untilNextMs, type WorldContext } from '../world/world-context.ts';

/**
 * The longest build: the lease protects builds of up to 17 h (docs/internals/architecture.md, "The
 * lease").
 */
const LONGEST_MS = 17 * HOUR_MS;

/** The durations of ten builds that do not take hours; one is picked at random. */
const DURATIONS: readonly Range[] = [
  ...Array<Range>(5).fill([2 * SECOND_MS, 90 * SECOND_MS]),
  ...Array<Range>(4).fill([MINUTE_MS, 6 * MINUTE_MS]),
  [5 * MINUTE_MS, 40 * MINUTE_MS],
];

type BuildsContext = Pick<WorldContext, 'world' | 'plan' | 'random'>;

/** Plans all builds of a world on its timeline. The returned `end` stops them. */
export function planBuilds({ world, plan, random }: BuildsContext): { readonly end: () => void } {
  let isOver = false;
  const next = (pool: PlannedPool): void => {
    world.timeline.after(untilNextMs(random, plan.builds.bursts), () => {
      if (isOver) return;
      submitBurst({ world, plan, random }, pool);
      next(pool);
    });
  };
  for (const pool of plan.pools) next(pool);
  return {
    end: () => {
      isOver = true;
    },
  };
}

function submitBurst(context: BuildsContext, pool: PlannedPool): void {
  const { random, world } = context;
  const size = random.next() < 0.3 ? 1 : random.whole(1, Math.ceil(pool.max * 1.3));
  const spreadMs = random.pick([0, 10 * SECOND_MS, 5 * MINUTE_MS]) ?? 0;
  for (let index = 0; index < size; index++)
    world.timeline.after(random.whole(0, spreadMs), () => submit(context, pool));
}

function submit({ world, plan, random }: BuildsContext, { organization, tags }: PlannedPool): void {
  const job = world.coderd.submitJob({
    organization,
    tags: someOf(tags, random),
    durationMs: drawDuration(random, plan.builds.longShare),
    initiator: random.next() < 0.2 ? 'prebuilds' : 'user',
    willFail: random.next() < 0.1,
  });
  if (random.next() > 0.03) return;
  world.timeline.after(random.whole(0, 5 * MINUTE_MS), () => cancel(world, job));
}

/**
 * Usually all tags of the pool. Sometimes fewer: then another pool may fit the job too, or none
 * does.
 */
function someOf(tags: Tags, random: Random): Tags {
  return random.next() < 0.8
    ? tags
    : Object.fromEntries(Object.entries(tags).filter(() => random.next() < 0.5));
}

function drawDuration(random: Random, longShare: number): number {
  if (random.next() < longShare) return random.whole(HOUR_MS, LONGEST_MS);
  return random.whole(...(random.pick(DURATIONS) ?? [MINUTE_MS, MINUTE_MS]));
}

function cancel(world: World, id: Parameters<World['coderd']['cancelJob']>[0]): void {
  const job = world.coderd.jobs().findLast((it) => it.id === id);
  if (job?.completedAt === undefined && job?.canceledAt === undefined) world.coderd.cancelJob(id);
}

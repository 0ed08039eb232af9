/**
 * Two policies that size each pool by its jobs alone, and let idle tasks exit by themselves: Buildkite's agent
 * scaler as the Elastic CI Stack runs it, without its cooldown, and one that keeps no idle task.
 */
import type { Policy, PolicyContext } from './policy.ts';

type QueueSettings = {
  /** `ScaleInIdlePeriod`, in seconds: a task that is idle for as long exits, and is not replaced. */
  readonly idleS: number;
};

/** The shortest interval between two runs of the scaler, and between two pings of an agent. */
const LOOK_MS = 10_000;
const PING_MS = 10_000;

export const AGENT_SCALER: Policy<QueueSettings> = {
  id: 'agent-scaler',
  title: () => "Buildkite's agent scaler",
  source: {
    title: 'buildkite-agent-scaler and the Elastic CI Stack for AWS',
    url: 'https://github.com/buildkite/buildkite-agent-scaler',
  },
  // the stack's default is 600 s
  grid: [600, 120, 300, 1800, 3600].map((idleS) => ({ idleS })),
  start: followQueue,
};

export const FROM_ZERO: Policy<QueueSettings> = {
  id: 'from-zero',
  title: () => 'from zero',
  // coderd may give a new daemon its untagged job half a minute late
  grid: [{ idleS: 60 }],
  start: followQueue,
};

function followQueue(context: PolicyContext, { idleS }: QueueSettings): void {
  const { timeline } = context.world;
  for (const { name } of context.config.pools) {
    timeline.every(LOOK_MS, () => launch(context, name), 0);
    timeline.every(PING_MS, () => endIdle(context, name, idleS));
  }
}

/** One task for each pending or running job. Nothing launches while coderd is down. */
function launch({ isCoderdDown, demandOf, setDesired, world }: PolicyContext, pool: string): void {
  if (isCoderdDown()) return;
  const { pending, running } = demandOf(pool);
  const jobs = pending + running;
  if (jobs > world.service(pool).state.desiredCount) setDesired(pool, jobs, `${jobs} jobs`);
}

function endIdle({ setDesired, world }: PolicyContext, pool: string, idleS: number): void {
  const service = world.service(pool);
  const now = world.timeline.now();
  for (const { idleSince, identity } of [...service.tasks]) {
    const { desiredCount } = service.state;
    if (idleSince === undefined || now - idleSince < idleS * 1000 || desiredCount === 0) continue;
    setDesired(pool, desiredCount - 1, `a task was idle for ${idleS} s and exited`);
    world.ecs.endTask(identity.id);
  }
}

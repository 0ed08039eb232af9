/**
 * The delay until the next look, from the decisions of this one. It is short while a task moves or
 * a transition is about to be due, else one invocation.
 */
import type { Assignment } from './assignment/assignment.ts';
import { stayMs } from './forecast/choose-pools-to-wake.ts';
import type { WakeDemands } from './forecast/wake-demand.ts';
import type { EpochMs } from './model/brands.ts';
import { sum } from './model/collections.ts';
import type { Config } from './model/config.ts';
import type { PoolDecision } from './pool/pool-decision.ts';

/** The scheduler invokes the function once a minute. */
export const NEXT_INVOCATION_MS = 60_000;
/**
 * A look a minute later is too late for transitions within this time: one invocation, plus the time
 * that coderd takes to see a daemon.
 */
const SLACK_MS = NEXT_INVOCATION_MS + 15_000;

/** The mean time that looks every 10 s save over looks every minute. */
const MEAN_SAVED_MS = 25_000;
/**
 * The cost of frequent looks in micro-dollars an hour: 512 MB of a function that waits between its
 * looks, at $0.0000133 a GB-second (aws.amazon.com/lambda/pricing).
 */
const FREQUENT_LOOKS_COST = 24_000;

/** Computes the milliseconds from this look to the next. */
export function lookAgainAfter(
  pools: readonly PoolDecision[],
  { demands }: Pick<WakeDemands, 'demands'>,
  { config, now, placed }: { readonly config: Config; readonly now: EpochMs; readonly placed: Assignment },
): number {
  if (savedByLooks(placed) > FREQUENT_LOOKS_COST) return config.looks.everyMs;
  const isSoon = demands.some(({ ahead, pools: woken, wakeFor }) => {
    const withinMs = Math.max(0, ...woken.map((view) => stayMs(view, wakeFor))) + SLACK_MS;
    return wakeFor === 'autostart' && ahead.some(({ at }) => at > now - SLACK_MS && at <= now + withinMs);
  });
  return isSoon || pools.some((pool) => isMoving(pool, now)) ? config.looks.everyMs : NEXT_INVOCATION_MS;
}

/**
 * The savings of a look every few seconds in micro-dollars an hour. Builds that find no free daemon
 * wait for the next look.
 */
function savedByLooks({ assigned }: Assignment): number {
  const byGroup = Map.groupBy(assigned, ({ group }) => group);
  return sum([...byGroup], ([group, rows]) => {
    if (group.for !== 'stock') return 0;
    const short = sum(
      group.values.slice(
        sum(rows, ({ jobs }) => jobs),
        group.jobs,
      ),
      (value) => value,
    );
    return short * (MEAN_SAVED_MS / group.replaceMs);
  });
}

/**
 * Whether a job waits for something that the pool can do, something is due, or a task starts or
 * stops.
 */
function isMoving({ plan, actions, leaving, need }: PoolDecision, now: EpochMs): boolean {
  const { pending, due, daemons } = plan;
  const drainsAfter = now - need.view.pool.idleTimeoutMs + NEXT_INVOCATION_MS;
  const { starting, leaving: draining, left, unguarded } = daemons;
  return (
    pending + due + starting + draining + left + unguarded > 0 ||
    actions.length > 0 ||
    leaving.some(({ why, task }) => why === 'idle-too-briefly' && (task.idleSince ?? now) <= drainsAfter)
  );
}

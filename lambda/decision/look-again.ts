/** When to look again: soon while something moves or is about to be due, else with the next invocation. */
import type { Assignment } from './assignment/assignment.ts';
import { stayMs } from './forecast/choose-pools-to-wake.ts';
import type { WakeDemands } from './forecast/wake-demand.ts';
import type { EpochMs } from './model/brands.ts';
import { sum } from './model/collections.ts';
import type { Config } from './model/config.ts';
import type { Action } from './model/plan.ts';
import type { PoolDecision } from './pool/pool-decision.ts';

/** An invocation a minute. */
export const NEXT_INVOCATION_MS = 60_000;
/** What a look comes too late for that is a minute later, and the time that coderd takes to see a daemon. */
const SLACK_MS = NEXT_INVOCATION_MS + 15_000;

/** On average, of looks every 10 s instead of every minute. */
const SOONER_MS = 25_000;
/** Micro-dollars an hour: 512 MB of a function that waits between its looks, at $0.0000133 a GB-second (aws.amazon.com/lambda/pricing). */
const LOOKS_PER_HOUR = 24_000;

/** Milliseconds from this look to the next. */
export function lookAgainAfter(
  pools: readonly PoolDecision[],
  { calls }: Pick<WakeDemands, 'calls'>,
  { config, now, placed }: { readonly config: Config; readonly now: EpochMs; readonly placed: Assignment },
): number {
  if (savedByLooks(placed) > LOOKS_PER_HOUR) return config.looks.everyMs;
  const isSoon = calls.some(({ ahead, pools: woken, wakeFor }) => {
    const withinMs = Math.max(0, ...woken.map((view) => stayMs(view, wakeFor))) + SLACK_MS;
    return wakeFor === 'autostart' && ahead.some(({ at }) => at > now - SLACK_MS && at <= now + withinMs);
  });
  return isSoon || pools.some((pool) => isMoving(pool, now)) ? config.looks.everyMs : NEXT_INVOCATION_MS;
}

/** What a look every few seconds saves that nothing else does, in micro-dollars an hour: builds that find no free daemon wait for it. */
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
    return short * (SOONER_MS / group.replaceMs);
  });
}

/** A job waits for something that the pool could do, something is due, or a task comes or goes. */
function isMoving({ plan, actions, leaving, need }: PoolDecision, now: EpochMs): boolean {
  const { pending, due, daemons } = plan;
  const drainsAfter = now - need.view.pool.idleTimeoutMs + NEXT_INVOCATION_MS;
  const { starting, leaving: draining, left, unguarded } = daemons;
  return (
    pending + due + starting + draining + left + unguarded > 0 ||
    (actions satisfies readonly Action[]).length > 0 ||
    leaving.some(({ why, task }) => why === 'idle-too-briefly' && (task.idleSince ?? now) <= drainsAfter)
  );
}

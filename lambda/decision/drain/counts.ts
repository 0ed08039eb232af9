/**
 * The desired count of a service, from its tasks and the count that the pool needs
 * (docs/internals/architecture.md, "The lease"). The count is a number, never a difference, so
 * setting it twice does no harm. It is never lowered below the number of tasks that have not left,
 * and only for a launch above `max`.
 */
import type { Reason } from '../model/plan.ts';
import {
  type Capacity,
  isDeploying,
  mayGiveUp,
  type RoomToLaunch,
  roomToLaunch,
} from '../supply/capacity.ts';

export type CountDecision = { readonly to: number; readonly why: readonly Reason[] };

/** Any doubt holds the count. */
export type CountInput = RoomToLaunch & {
  /** Working, starting and unguarded tasks that the pool needs, after all limits. */
  readonly wanted: number;
};

/** Decides the desired count of one service, by the first rule that applies. */
export function decideCount(input: CountInput): CountDecision {
  const counts = countsOf(input);
  const rule = RULES.find(({ applies }) => applies(counts));
  const { to, why } = rule === undefined ? lower(counts) : rule.decide(counts);
  return { to: Math.max(0, to - input.capacity.uncounted), why };
}

/** In tasks. Those of an earlier deployment count too, even if not in ECS's count. */
type Counts = {
  /** The desired count now. */
  readonly from: number;
  readonly wanted: number;
  /** Tasks that stay. */
  readonly total: number;
  /** Tasks that stay, and tasks that are leaving. */
  readonly notLeft: number;
  readonly left: number;
  /** The tasks among them that have drained, or that never had a daemon although starts succeed. */
  readonly drained: number;
  /** Tasks in ECS's count that drain or have left. */
  readonly draining: number;
  /** The lowest count that launches what the pool needs. */
  readonly lowest: number;
  /** The highest count without a launch. */
  readonly most: number;
  /** What holds every lower count. */
  readonly holds: readonly Reason[];
  /** Tasks without a lease: ECS could stop one of them in place of a task that has left. */
  readonly unprotected: readonly Reason[];
  /** Whether ECS keeps failing to start tasks, and one that runs could still be stopped. */
  readonly isExposed: boolean;
  /** Whether tasks that ECS cannot start are given up. */
  readonly mayGiveUp: boolean;
};

type Rule = {
  readonly applies: (counts: Counts) => boolean;
  readonly decide: (counts: Counts) => CountDecision;
};

/** In order: the first rule that applies decides. If none applies, see `lower`. */
const RULES: readonly Rule[] = [
  // Launch. A count above the tasks makes ECS try to start one; it is given up when that keeps
  // failing
  {
    applies: ({ wanted, total, lowest, from }) => wanted > total && lowest >= from,
    decide: ({ lowest, from, draining }) => ({
      to: lowest,
      why: draining > 0 && lowest > from ? [{ code: 'includes-leaving', tasks: draining }] : [],
    }),
  },
  // Raise a count that is below the tasks, up to max: ECS may count fewer of them, and start others
  {
    applies: ({ from, notLeft }) => from < notLeft,
    decide: ({ from, notLeft, most }) => {
      const to = Math.min(notLeft, most);
      return { to, why: [{ code: 'count-below-tasks', desired: from, tasks: notLeft, to }] };
    },
  },
  // Keep a count that equals the tasks
  {
    applies: ({ from, notLeft }) => from === notLeft,
    decide: ({ from }) => ({ to: from, why: [] }),
  },
  // Hold while a task runs without a lease: ECS may start a missing task before the count is
  // lowered, and then stop the running one
  {
    applies: ({ isExposed }) => isExposed,
    decide: ({ from, unprotected }) => ({ to: from, why: unprotected }),
  },
  // Give up tasks that ECS cannot start
  {
    applies: ({ mayGiveUp, lowest, from }) => mayGiveUp && lowest < from,
    decide: (counts) => (counts.holds.length === 0 ? lower(counts) : { to: counts.lowest, why: [] }),
  },
  // Hold for a deployment or a doubt
  {
    applies: ({ holds }) => holds.length > 0,
    decide: ({ from, holds }) => ({ to: from, why: holds }),
  },
];

/** Lowers the count to the tasks that have not left, or to what the pool needs. */
function lower({ from, wanted, total, notLeft, drained, lowest, unprotected }: Counts): CountDecision {
  const to = wanted > total || unprotected.length > 0 ? Math.min(from, lowest) : notLeft;
  if (to === from) return { to, why: unprotected };
  return { to, why: to === notLeft && drained > 0 ? [{ code: 'tasks-left', tasks: drained }] : [] };
}

function countsOf(input: CountInput): Counts {
  const { service, capacity, doubts } = input;
  const from = service.desiredCount + capacity.uncounted;
  const { total, leaving, replacing, left, justLeft } = capacity;
  const wanted = Math.min(input.wanted, total + roomToLaunch(input));
  return {
    ...{ from, wanted, total, notLeft: total + leaving, left },
    drained: capacity.isFailing ? left - capacity.vacant : left,
    lowest: Math.max(wanted, total) + leaving + left,
    most: Math.max(from, input.max),
    draining: leaving - replacing + left + justLeft - capacity.uncounted,
    holds: holdsOf(input),
    unprotected: unprotectedTasks(capacity),
    isExposed: capacity.isHeldBack && capacity.exposed > 0,
    mayGiveUp: mayGiveUp(capacity, doubts),
  };
}

/** What holds every lower count. */
function holdsOf({ doubts, ...rollout }: CountInput): readonly Reason[] {
  const reasons: Reason[] = [];
  if (isDeploying(rollout)) reasons.push({ code: 'holding-for-deployment' });
  if (doubts.length > 0) reasons.push({ code: 'holding-for-doubt', doubts });
  return reasons;
}

/** Tasks without a lease among which ECS could choose in place of those that have left. */
function unprotectedTasks({ starting, unguarded, isFailing }: Capacity): readonly Reason[] {
  const reasons: Reason[] = [];
  // where starts keep failing, this hold would let ECS start the failed tasks again and again
  if (starting > 0 && !isFailing) reasons.push({ code: 'holding-for-starting', tasks: starting });
  if (unguarded > 0) reasons.push({ code: 'holding-for-unguarded', tasks: unguarded });
  return reasons;
}

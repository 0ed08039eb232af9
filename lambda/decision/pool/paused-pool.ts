/**
 * A pool that a person has paused: nothing is launched or drained, but tasks without a guard are
 * protected.
 */

import type { Override } from '../model/plan.ts';
import { heldBackReasons, jobReasons, overrideNote } from '../report/reasons.ts';
import { decideConfirming, protectUnguarded } from '../scale-in/confirm-rung.ts';
import { protectActions } from './actions.ts';
import { type PoolDecision, type PoolInput, withoutAction } from './pool-decision.ts';

/** Decides about a paused pool. A pause must stop no build, so protections are still renewed. */
export function decidePausedPool(input: PoolInput, pause: Override): PoolDecision {
  const { need, service, doubts, snapshot } = input;
  const { view, capacity } = need;
  const count = { to: service.desiredCount, why: [] };
  const { protect, why } =
    view.pool.scaleIn === 'lease'
      ? protectUnguarded(view)
      : decideConfirming({ view, service, capacity, leaving: [], count, doubts });
  const waiting = [...jobReasons(need), ...heldBackReasons(need, snapshot.takenAt)];
  return {
    ...withoutAction(need, doubts, [{ code: 'paused', ...overrideNote(pause) }, ...waiting, ...why]),
    actions: protectActions(need, protect),
  };
}

/** Decides about one pool: picks the mode that its state and its `scaleIn` setting ask for. */

import type { PoolNeed } from '../assignment/needs.ts';
import type { Config } from '../model/config.ts';
import type { Doubt, Reason } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { OLDEST_SERVER } from '../model/version.ts';
import { jobReasons } from '../report/reasons.ts';
import { decideGuardlessPool } from './guardless-pool.ts';
import { decideLeasePool } from './lease-pool.ts';
import { decidePausedPool } from './paused-pool.ts';
import { type PoolDecision, withoutAction } from './pool-decision.ts';

type Context = { readonly snapshot: Snapshot; readonly config: Config };

/** Decides about one pool. Never throws: there is a decision for every state. */
export function decidePool(
  need: PoolNeed,
  doubts: readonly Doubt[],
  { snapshot, config }: Context,
): PoolDecision {
  const { service, overrides, pool } = need.view;
  if (service === undefined)
    return withoutAction(need, doubts, [...jobReasons(need), missingService(doubts, snapshot)]);
  if (doubts.includes('server-too-old')) {
    const version = snapshot.coder.buildInfo?.version ?? 'unknown';
    return withoutAction(need, doubts, [{ code: 'server-too-old', version, oldest: OLDEST_SERVER }]);
  }
  const input = { need, service, doubts, snapshot, config };
  const pause = overrides.find(({ kind }) => kind === 'pause');
  if (pause !== undefined) return decidePausedPool(input, pause);
  return pool.scaleIn === 'lease' ? decideLeasePool(input) : decideGuardlessPool(input);
}

/** A service is missing only if the list of services is known. */
function missingService(doubts: readonly Doubt[], { ecs }: Snapshot): Reason {
  return ecs.services.status === 'ok' ? { code: 'no-service' } : { code: 'holding-for-doubt', doubts };
}

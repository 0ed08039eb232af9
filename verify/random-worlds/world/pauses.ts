/** What a look must not do to a pool that a person has stopped: read from the tags themselves, not from the plan. */

import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Action } from '../../../lambda/decision/model/plan.ts';
import { PAUSE_TAG } from '../../../lambda/decision/model/service-tags.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { EcsService, ServiceState } from '../../../simulator/ecs/service.ts';
import type { World } from '../../../simulator/world.ts';

/** Pauses that were there whenever the look, which began at `from` and has just ended, read the tags, and that it did not heed. */
export function brokenPauses(
  world: World,
  { plan }: Pick<LookResult, 'plan'>,
  { from, readLagMs }: { readonly from: EpochMs; readonly readLagMs: number },
): readonly string[] {
  return plan.actions.flatMap((action) => {
    const isBroken = (['all', 'scale-in'] as const).some(
      (pause) =>
        FORBIDDEN[pause](action) && isPaused(world, action.pool, { pause, from: plusMs(from, -readLagMs) }),
    );
    return isBroken ? [`a pause of pool "${action.pool}" was not heeded: ${JSON.stringify(action)}`] : [];
  });
}

const FORBIDDEN: Readonly<Record<'all' | 'scale-in', (action: Action) => boolean>> = {
  all: ({ kind }) => kind !== 'protect',
  'scale-in': (action) =>
    action.kind === 'ask-to-leave' || (action.kind === 'set-desired' && action.to < action.from),
};

type Pause = { readonly pause: 'all' | 'scale-in'; readonly from: EpochMs };

/** Throughout, from then until now. */
function isPaused(world: World, pool: string, { pause, from }: Pause): boolean {
  const now = world.timeline.now();
  const states = statesSince(world.service(pool), from);
  return states.every(
    ({ tags }) => tags[PAUSE_TAG] === pause && Date.parse(tags[`${PAUSE_TAG}-until`] ?? '') > now,
  );
}

function statesSince({ states }: EcsService, from: EpochMs): readonly ServiceState[] {
  const first = states.entries.findLastIndex(({ at }) => at <= from);
  return states.entries.slice(Math.max(0, first)).map(({ value }) => value);
}

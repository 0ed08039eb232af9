/** Finds what a look must not do: actions that a pause tag forbids, drains for an unchanged secret. */
import { type EpochMs, lastPart, plusMs, poolOfPart } from '../../../../lambda/decision/model/brands.ts';
import { ownValue } from '../../../../lambda/decision/model/collections.ts';
import type { Action } from '../../../../lambda/decision/model/plan.ts';
import { SPREADS_WITHIN_MS } from '../../../../lambda/decision/model/secrets.ts';
import { PAUSE_TAG } from '../../../../lambda/decision/model/service-tags.ts';
import type { LookResult } from '../../../../lambda/look/look.ts';
import type { EcsService, ServiceState } from '../../../world/ecs/service.ts';
import type { World } from '../../../world/world.ts';

/** One text each. Only pauses count that the look must have seen: set since `from` less the read lag. */
export function pauseViolations(
  world: World,
  { plan }: Pick<LookResult, 'plan'>,
  { from, readLagMs }: { readonly from: EpochMs; readonly readLagMs: number },
): readonly string[] {
  return plan.actions.flatMap((action) => {
    const isViolated = (['all', 'scale-in'] as const).some(
      (pause) =>
        FORBIDDEN[pause](action) && isPaused(world, action.pool, { pause, from: plusMs(from, -readLagMs) }),
    );
    return isViolated
      ? [`pool "${action.pool}" is paused, but a look planned ${JSON.stringify(action)}`]
      : [];
  });
}

const FORBIDDEN: Readonly<Record<'all' | 'scale-in', (action: Action) => boolean>> = {
  all: ({ kind }) => kind !== 'protect',
  'scale-in': (action) =>
    action.kind === 'ask-to-leave' || (action.kind === 'set-desired' && action.to < action.from),
};

type Pause = { readonly pause: 'all' | 'scale-in'; readonly from: EpochMs };

/** Whether the pool was paused the whole time from `from` until now. */
function isPaused(world: World, pool: string, { pause, from }: Pause): boolean {
  const now = world.timeline.now();
  const states = statesSince(world.service(poolOfPart(pool)), from);
  return states.every(
    ({ tags }) => tags[PAUSE_TAG] === pause && Date.parse(ownValue(tags, `${PAUSE_TAG}-until`) ?? '') > now,
  );
}

function statesSince({ states }: EcsService, from: EpochMs): readonly ServiceState[] {
  const first = states.entries.findLastIndex(({ at }) => at <= from);
  return states.entries.slice(Math.max(0, first)).map(({ value }) => value);
}

/** Whether the task surely has the present value: created after it had spread, or there was no other. */
export function isFalseRoll(world: World, action: Action): boolean {
  if (action.kind !== 'ask-to-leave' || action.why !== 'old-secret') return false;
  const secret = world.secrets.find(`coder/keys/${poolOfPart(action.pool)}`);
  const task = world.ecs.tasks().find(({ identity }) => identity.id === lastPart(action.task));
  if (secret === undefined || task === undefined) return false;
  const [latest, earlier] = secret.versions.toReversed();
  const newFrom = earlier === undefined ? secret.createdAt : (latest?.createdAt ?? 0) + SPREADS_WITHIN_MS;
  return task.state.createdAt >= newFrom;
}

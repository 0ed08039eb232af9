/** Judges drain requests because of a changed secret, from what the world knows of the secret. */
import { lastPart } from '../../../lambda/decision/model/brands.ts';
import type { Action } from '../../../lambda/decision/model/plan.ts';
import { SPREADS_WITHIN_MS } from '../../../lambda/decision/model/secrets.ts';
import type { World } from '../../../simulator/world.ts';

/**
 * Whether the task surely has the present value: it was created after the value had spread, or the
 * secret never had another one. Here each new value becomes the current one at once.
 */
export function isFalseRoll(world: World, action: Action): boolean {
  if (action.kind !== 'ask-to-leave' || action.why !== 'old-secret') return false;
  const secret = world.secrets.find(`coder/keys/${action.pool}`);
  const task = world.ecs.tasks().find(({ identity }) => identity.id === lastPart(action.task));
  if (secret === undefined || task === undefined) return false;
  const [latest, earlier] = secret.versions.toReversed();
  const newFrom = earlier === undefined ? secret.createdAt : (latest?.createdAt ?? 0) + SPREADS_WITHIN_MS;
  return task.state.createdAt >= newFrom;
}

/**
 * Draws workspaces that people create for one task. If the template has prebuilt workspaces, most
 * people claim one, and coderd builds the next.
 */
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import { drawSeconds } from './draws.ts';
import type { GeneratorContext } from './generator-context.ts';
import { replacePrebuild } from './prebuilds.ts';
import type { Template } from './scenario.ts';
import type { WorkInterval } from './work-interval.ts';

/**
 * Assumption. The others need parameters that no preset has, or find no prebuilt workspace ready.
 */
const CLAIMS = 0.9;
/** Assumption. The others forget the workspace, and coderd stops it. */
const DELETED_BY_HAND = 0.7;

/**
 * Adds the builds of a workspace that a person creates at work and deletes or forgets some hours
 * later.
 */
export function addTaskWorkspace(
  template: Template,
  intervals: readonly WorkInterval[],
  context: GeneratorContext,
): void {
  const { random, submit } = context;
  const interval = random.pick(intervals);
  if (interval === undefined) return;
  const at = random.between(interval.from, interval.to);
  const { prebuilds } = template;
  const claims = prebuilds !== undefined && random.next() < CLAIMS;
  const workspace = context.nameWorkspace();
  const seconds = drawSeconds(random, claims ? prebuilds.claim : template.start);
  submit('user', template, at, seconds, { workspace, transition: 'start' });
  if (claims) replacePrebuild(template, prebuilds, at, context);
  const ready = at + seconds * 1000;
  const stopSeconds = drawSeconds(random, template.stop);
  if (random.next() < DELETED_BY_HAND)
    submit('user', template, ready + random.between(1, 6) * HOUR_MS, stopSeconds, {
      workspace,
      transition: 'delete',
    });
  else
    submit('autostop', template, ready + template.ttlHours * HOUR_MS, stopSeconds, {
      workspace,
      transition: 'stop',
    });
}

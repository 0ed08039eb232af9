/** New versions of templates: imports, of which the last one becomes active. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { drawSeconds, poisson } from './draws.ts';
import type { LocalDay } from './local-day.ts';
import { rebuildPrebuilds } from './prebuilds.ts';
import type { Template } from './scenario.ts';
import type { Scene } from './scene.ts';

/** A version became active. */
export type Push = { readonly template: Template; readonly at: EpochMs };

const MINUTE_MS = 60_000;
const WORKDAYS = 5;
/** Minutes since midnight between which somebody pushes. */
const PUSHING = { from: 570, to: 1020 } as const;
/** Whoever pushes finds a mistake in so many versions, and tries again some minutes later: assumptions. */
const MISTAKES = 0.3;
const TRIES_AGAIN_AFTER = [3, 15] as const;

/** Adds the imports of a template's day, and what they make of its prebuilt workspaces. */
export function pushDay(template: Template, day: LocalDay, scene: Scene): readonly Push[] {
  if (day.weekday === 0 || day.weekday === 6) return [];
  const { random } = scene;
  return Array.from({ length: poisson(random, template.pushesPerWeek / WORKDAYS) }, () => {
    const at = importUntilGood(template, day.at(random.between(PUSHING.from, PUSHING.to)), scene);
    rebuildPrebuilds(template, at, day, scene);
    return { template, at };
  });
}

/** When the version is there that has no mistake. */
function importUntilGood(template: Template, first: EpochMs, { random, submit }: Scene): EpochMs {
  let at: number = first;
  for (;;) {
    const seconds = drawSeconds(random, template.import);
    submit('import', template, at, seconds);
    at += seconds * 1000;
    if (random.next() >= MISTAKES) return at as EpochMs;
    at += random.between(...TRIES_AGAIN_AFTER) * MINUTE_MS;
  }
}

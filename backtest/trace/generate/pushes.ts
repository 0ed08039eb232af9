/** Draws new template versions: one or more imports, of which the last one becomes active. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { drawSeconds, poisson } from './draws.ts';
import type { GeneratorContext } from './generator-context.ts';
import { isWorkday, type LocalDay } from './local-day.ts';
import { rebuildPrebuilds } from './prebuilds.ts';
import type { Template } from './scenario.ts';

export type Push = { readonly template: Template; readonly at: EpochMs };

const WORKDAYS = 5;
/** Minutes since midnight between which people push new versions. */
const PUSHING = { from: 570, to: 1020 } as const;
/** Assumptions: the share of versions with a mistake, and the minutes until the next attempt. */
const MISTAKES = 0.3;
const TRIES_AGAIN_AFTER = [3, 15] as const;

/** Adds the imports of a template on one day, and the jobs of its prebuilt workspaces that follow. */
export function addPushes(template: Template, day: LocalDay, context: GeneratorContext): readonly Push[] {
  if (!isWorkday(day)) return [];
  const { random } = context;
  return Array.from({ length: poisson(random, template.pushesPerWeek / WORKDAYS) }, () => {
    const at = importUntilGood(template, day.at(random.between(PUSHING.from, PUSHING.to)), context);
    rebuildPrebuilds(template, at, day, context);
    return { template, at };
  });
}

/** Returns the time at which the version without a mistake is imported. */
function importUntilGood(template: Template, first: EpochMs, { random, submit }: GeneratorContext): EpochMs {
  let at: number = first;
  for (;;) {
    const seconds = drawSeconds(random, template.import);
    submit('import', template, at, seconds);
    at += seconds * 1000;
    if (random.next() >= MISTAKES) return at as EpochMs;
    at += random.between(...TRIES_AGAIN_AFTER) * MINUTE_MS;
  }
}
